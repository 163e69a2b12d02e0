"""A distributed file system for the nodes of a cluster: GlusterFS as its own commands set it up, a daemon, a brick and a
client on each node, a client beside them. Each file is on one brick, which its name says. Daemons of a node end with it."""

import os
import signal
import time

from nodes import PATIENCE, call


class GlusterFS:
    PROGRAMS = ("glusterd", "glusterfs", "gluster")

    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = cluster.base / "glusterfs"  # where each node, and the head, sees it
        self._data = cluster.base / "glusterfs-data"
        for folder in (self.folder, self._data):
            folder.mkdir()
        for node in cluster.nodes:
            self._start_daemon(node)
        self._join()
        self._command("volume", "create", "shared", *(f"{node.name}:{self._data}/{node.name}/brick" for node in cluster.nodes), "force")
        self._command("volume", "start", "shared")
        self._mount([], "head")
        for node in cluster.nodes:
            self._mount(node.inside(), node.name)

    def _start_daemon(self, node):
        """With places of its own for what all daemons of a machine keep under the same names."""
        own = self._data / node.name
        (own / "brick").mkdir(parents=True)
        for place in ("/run", "/var/lib/glusterd", "/var/log/glusterfs"):
            name = place.replace("/", "-")
            (own / name).mkdir()
            node.call("mount", "--bind", own / name, place)
        node.call("glusterd")

    def _command(self, *words, node=None):
        return (node or self.cluster.nodes[0]).call("gluster", "--mode=script", *words)

    def _join(self):
        """Each of them, with each: what one is asked it has all do, and those ask each other."""
        others = self.cluster.nodes[1:]
        for node in others:
            self._command("peer", "probe", node.name)
        deadline = time.monotonic() + PATIENCE / 5
        for node in self.cluster.nodes:
            while (status := self._command("peer", "status", node=node)).count("Peer in Cluster (Connected)") < len(others):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"GlusterFS's daemons do not find each other:\n{node.name}: {status}")
                time.sleep(0.2)

    def _mount(self, inside, name):
        """A client that has not seen all bricks yet lets whoever asks for the folder wait."""
        call(*inside, "glusterfs", "--volfile-server", self.cluster.nodes[0].address, "--volfile-id", "shared",
             "-l", self._data / f"{name}.log", self.folder)
        call(*inside, "mountpoint", "-q", self.folder)

    def kill_server(self, node):
        for entry in node.processes():
            if (entry / "comm").read_text() == "glusterfsd\n":
                os.kill(int(entry.name), signal.SIGKILL)

    def start_server(self, node):
        """That of a node, which has what it had. One command starts all that do not run."""
        self._command("volume", "start", "shared", "force")
