"""A cluster on one machine: nodes that are namespaces, joined by a bridge.

Only within `enter`, which makes the namespace that everything here lives in and ends with. A node has a host name, a
network, shared memory, processes and mounts of its own; addresses are of 198.18.0.0/24, the range for benchmarks. The
process that makes the nodes is beside them, as a login node is.
"""

import contextlib
import os
import pathlib
import shlex
import signal
import subprocess
import tempfile
import textwrap
import time

import launchers

# Seconds that a launch may take before it counts as one that hangs, on a machine with much other work; all deadlines of the
# tests are made of it.
PATIENCE = float(os.environ.get("SLABMARK_PATIENCE", 300))

HEAD = "198.18.0.254"

def hardware_address(number):
    """Of the node's interface; 254 is the head."""
    return f"02:00:00:00:00:{number:02x}"


def call(*words, **options):
    """Runs it, or says what it said."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr or done.stdout}")
    return done.stdout


class Node:
    """One node, by the process that all others of it descend from."""

    def __init__(self, cluster, number, name):
        self.cluster = cluster
        self.number = number
        self.name = name
        self.address = f"198.18.0.{number}"
        self.port = f"port{number}"  # of the bridge
        self.holder = None
        self.pid = None

    def start(self):
        # Its first process takes in what others leave, as init does: with it all of the node end.
        self.holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child=KILL", "--mount-proc",
             "bash", "-c", "sleep infinity & wait"],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self._first_process()
        call("ip", "link", "add", self.port, "type", "veth", "peer", "name", "eth0", "address", hardware_address(self.number),
             "netns", self.pid)
        call("ip", "link", "set", self.port, "master", "br0", "up")
        local = self.cluster.local
        self.call("sh", "-ec", textwrap.dedent(f"""
            ip link set lo up
            ip address add {self.address}/24 dev eth0
            ip link set eth0 up
            {self.cluster.neighbours("eth0")}
            printf %s {self.name} >/proc/sys/kernel/hostname
            mount -t tmpfs none {local}
            mount -t tmpfs -o mode=1777 none /dev/shm
            """))
        (self.cluster.pids / self.name).write_text(f"{self.pid}\n")

    def _first_process(self):
        deadline = time.monotonic() + PATIENCE / 5
        while time.monotonic() < deadline:
            for entry in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    if int(fields[1]) == self.holder.pid and (entry / "comm").read_text().strip() == "bash":
                        return int(entry.name)
                except (FileNotFoundError, ProcessLookupError):
                    continue
            time.sleep(0.01)
        raise RuntimeError(f"{self.name} did not start")

    def inside(self, *words):
        """The command that runs `words` on the node."""
        return ["nsenter", "-t", str(self.pid), "--net", "--mount", "--pid", "--uts", "--ipc", *map(str, words)]

    def call(self, *words, **options):
        return call(*self.inside(*words), **options)

    def limit(self, megabits):
        """What it sends, and what it gets, at most."""
        shape = ["root", "tbf", "rate", f"{megabits}mbit", "burst", "256k", "latency", "50ms"]
        self.call("tc", "qdisc", "replace", "dev", "eth0", *shape)
        call("tc", "qdisc", "replace", "dev", self.port, *shape)

    def unlimit(self):
        self.call("tc", "qdisc", "delete", "dev", "eth0", "root")
        call("tc", "qdisc", "delete", "dev", self.port, "root")

    def link(self, state):
        """'up' or 'down'."""
        call("ip", "link", "set", self.port, state)

    def die(self):
        """All its processes at once, and its network with them."""
        os.kill(self.pid, signal.SIGKILL)
        self.holder.wait()

    def processes(self):
        """The folder in /proc of each."""
        space = os.readlink(f"/proc/{self.pid}/ns/pid")
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended
                if os.readlink(entry / "ns/pid") == space:
                    yield entry

    def launched(self, daemons=True):
        """The folder in /proc of each process that a launcher has started here: ranks, and its daemons. Those of file systems and
        schedulers are none."""
        if self.holder.poll() is not None:
            return  # they died with it
        launcher = self.cluster.launcher
        for entry in self.processes():
            with contextlib.suppress(OSError):  # it has ended
                is_daemon = (entry / "comm").read_text() == launcher.daemon + "\n"
                if daemons if is_daemon else launcher.is_rank((entry / "environ").read_bytes()):
                    yield entry

    def end_ranks(self):
        """With what else a launcher has started here."""
        for entry in self.launched():
            with contextlib.suppress(OSError):
                os.kill(int(entry.name), signal.SIGKILL)

    def sent(self):
        """Bytes that have left it so far, with the headers of all layers."""
        for line in self.call("cat", "/proc/net/dev").splitlines():
            device, _, numbers = line.partition(":")
            if device.strip() == "eth0":
                return int(numbers.split()[8])
        raise RuntimeError(f"{self.name} has no eth0")

    def revive(self):
        """After die(): a node like it, with nothing of what it had."""
        subprocess.run(["ip", "link", "delete", self.port], capture_output=True)
        self.start()


class Cluster:
    """Nodes, and a file system that all of them see."""

    def __init__(self, names, megabits=None):
        self.base = pathlib.Path(os.environ["SLABMARK_CLUSTER"])
        self.local = self.base / "local"
        self.shared = self.base / "shared"
        self.pids = self.base / "pids"
        for folder in (self.local, self.shared, self.pids):
            folder.mkdir(exist_ok=True)
        # One file system of the machine: as coherent as can be.
        call("mount", "-t", "tmpfs", "-o", "mode=1777", "none", self.shared)
        # Another one, which is soon full.
        self.small = self.base / "small"
        self.small.mkdir()
        call("mount", "-t", "tmpfs", "-o", "size=48M,mode=1777", "none", self.small)
        self.nodes = [Node(self, i, name) for i, name in enumerate(names, 1)]
        call("ip", "link", "set", "lo", "up")
        call("ip", "link", "add", "name", "br0", "address", hardware_address(254), "type", "bridge")
        call("ip", "address", "add", f"{HEAD}/24", "dev", "br0")
        call("ip", "link", "set", "br0", "up")
        call("sh", "-ec", self.neighbours("br0"))
        hosts = self.base / "hosts"
        hosts.write_text("".join(["127.0.0.1 localhost\n", f"{HEAD} head\n",
                                  *(f"{node.address} {node.name}\n" for node in self.nodes)]))
        call("mount", "--bind", hosts, "/etc/hosts")
        pathlib.Path("/proc/sys/kernel/hostname").write_text("head")
        self._write_agent()
        self.launcher = launchers.launcher(os.environ.get("SLABMARK_MPIEXEC", "mpirun").split()[0])
        for node in self.nodes:
            node.start()
            if megabits:
                node.limit(megabits)

    def neighbours(self, device):
        """Commands that tell it where all addresses are. Looking them up would fail for a moment where a link was down or a node is
        another than before; orted ends then, without a word, and mpirun waits for it for ever."""
        all_of_them = [(HEAD, 254), *((node.address, node.number) for node in self.nodes)]
        return "; ".join(f"ip neighbour replace {address} lladdr {hardware_address(number)} dev {device} nud permanent"
                         for address, number in all_of_them)

    def _write_agent(self):
        self.agent = self.base / "agent"
        self.agent.write_text(textwrap.dedent(f"""\
            #!/bin/sh
            # agent NODE COMMAND...: what launchers take for ssh. Each launch has a TMPDIR of its own (setup/own-tmpdir says why).
            node=$1
            shift
            exec nsenter -t "$(cat "{self.pids}/$node")" --net --mount --pid --uts --ipc sh -c \\
              "TMPDIR=\\$(mktemp -d {self.local}/launch.XXXXXX) && export TMPDIR && $*"
            """))
        self.agent.chmod(0o755)

    def launch(self, ranks_per_node=16, nodes=None, by="node", hosts=True):
        """The words of the launcher before -n N (launchers.py)."""
        return self.launcher.words(self.agent, (nodes or self.nodes) if hosts else None, ranks_per_node, by)

    def write_launcher(self, path, **options):
        """A script that takes -n N COMMAND..., for what has a launcher of its own to name."""
        path.write_text(f"#!/bin/sh\nexec {shlex.join(self.launch(**options))} \"$@\"\n")
        path.chmod(0o755)
        return path

    def run(self, ranks, *command, timeout=PATIENCE, environment=None, during=None, until=None, before=(), **options):
        """Runs it on ranks, behind the words `before`; `during(process)` is called meanwhile. `environment` is that of the
        ranks. What outlives the timeout, or the moment when `until()` holds, is killed; its returncode is None then."""
        words = [*self.launch(**options), *self.launcher.exported(environment or {}), "-n", str(ranks),
                 *map(str, [*before, *command])]
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="launch.", dir=self.local) as own:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, start_new_session=True, cwd=self.shared, env={**os.environ, "TMPDIR": own})
            if during:
                during(process)
            done = subprocess.CompletedProcess(words, *self._ended(process, start + timeout, until))
        done.seconds = time.monotonic() - start
        return done

    def _ended(self, process, deadline, until):
        """(its status, what it has written)"""
        while time.monotonic() < deadline and not (until and until()):
            with contextlib.suppress(subprocess.TimeoutExpired):
                output = process.communicate(timeout=1)
                return process.returncode, *output
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()
        self.end_ranks()
        return None, *output

    def ranks(self):
        """Those on the nodes."""
        return [rank for node in self.nodes for rank in node.launched(daemons=False)]

    def end_ranks(self):
        """Ends what a launcher that was killed, or lost a node, has left on the nodes."""
        for node in self.nodes:
            node.end_ranks()
