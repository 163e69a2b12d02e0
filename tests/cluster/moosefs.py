"""A distributed file system for the nodes of a cluster: MooseFS, its master beside the nodes, a client on each, and chunk
servers on the nodes too, or one beside them. Daemons of a node end with it."""

import shutil
import subprocess
import time

from nodes import PATIENCE, call


class MooseFS:
    """`servers_on_nodes`: a chunk server on each node, so that its link also carries what others write there."""

    PROGRAMS = ("mfsmaster", "mfschunkserver", "mfsmount", "mfssetgoal")

    def __init__(self, cluster, servers_on_nodes=True):
        self.cluster = cluster
        self.folder = cluster.base / "moosefs"  # where each node, and the head, sees it
        self._data = cluster.base / "moosefs-data"
        for folder in (self.folder, self._data):
            folder.mkdir()
        self._start_master()
        if servers_on_nodes:
            for node in cluster.nodes:
                self._make_chunk_server(node.name, node.address)
                self._run_chunk_server(node.name, node.inside())
        else:
            self._make_chunk_server("head", "198.18.0.254")
            self._run_chunk_server("head", [])
        self._mount([])
        for node in cluster.nodes:
            self._mount(node.inside())
        self._wait_for_chunk_servers(len(cluster.nodes) if servers_on_nodes else 1)

    def _start_master(self):
        data = self._data / "master"
        data.mkdir()
        shutil.copy("/var/lib/mfs/metadata.mfs.empty", data / "metadata.mfs")
        (data / "exports").write_text("198.18.0.0/24 / rw,alldirs,maproot=0\n198.18.0.0/24 . rw\n")
        (data / "master.cfg").write_text(
            f"WORKING_USER = root\nWORKING_GROUP = root\nDATA_PATH = {data}\nEXPORTS_FILENAME = {data}/exports\n")
        call("mfsmaster", "-c", data / "master.cfg", "start")

    def _make_chunk_server(self, name, address):
        data = self._data / name
        (data / "chunks").mkdir(parents=True)
        (data / "disks").write_text(f"{data}/chunks\n")
        (data / "server.cfg").write_text(
            f"WORKING_USER = root\nWORKING_GROUP = root\nDATA_PATH = {data}\nHDD_CONF_FILENAME = {data}/disks\n"
            f"HDD_LEAVE_SPACE_DEFAULT = 16MiB\nMASTER_HOST = 198.18.0.254\nCSSERV_LISTEN_HOST = {address}\n")

    def _run_chunk_server(self, name, inside):
        call(*inside, "mfschunkserver", "-c", self._data / name / "server.cfg", "start")

    def start_server(self, node):
        """That of a node, which has what it had."""
        self._run_chunk_server(node.name, node.inside())

    def kill_server(self, node):
        call(*node.inside("mfschunkserver", "-c", self._data / node.name / "server.cfg", "kill"))

    def _mount(self, inside):
        subprocess.run([*inside, "mfsmount", str(self.folder), "-H", "198.18.0.254"], check=True, capture_output=True)

    def _wait_for_chunk_servers(self, servers):
        """Until each client knows of all of them: what has no place yet is refused, and has no size. The disks of all of
        them are one."""
        # One copy of each chunk: what is asked is how data come there, not whether they survive.
        call("mfssetgoal", "-r", "1", self.folder)
        size = servers * 0.9 * shutil.disk_usage(self._data).total
        deadline = time.monotonic() + PATIENCE / 5
        for inside in ([], *(node.inside() for node in self.cluster.nodes)):
            while self._size_seen(inside) < size:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"MooseFS's clients do not see {servers} chunk servers")
                time.sleep(0.1)

    def _size_seen(self, inside):
        blocks, of = call(*inside, "stat", "-f", "-c", "%b %S", self.folder).split()
        return int(blocks) * int(of)
