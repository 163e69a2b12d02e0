"""A real Slurm over the nodes of a cluster: slurmctld beside them, a slurmd on each, one munge for all of them."""

import os
import pathlib
import shutil
import subprocess
import time

from nodes import PATIENCE

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol")

CONFIGURATION = """
ClusterName=slabmark
SlurmctldHost=head(198.18.0.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
ReturnToService=2
SlurmdParameters=config_overrides
{nodes}
PartitionName=test Nodes=ALL Default=YES State=UP MaxTime=INFINITE
"""


def missing():
    """Why there can be none here; empty: it can."""
    for program in PROGRAMS:
        if not shutil.which(program):
            return f"there is no '{program}' (setup/prepare cluster)"
    return ""


class Slurm:
    """Nodes of `cores` each; their names must be short, for Slurm makes names of sockets of them. Daemons end with the
    namespaces that they live in."""

    def __init__(self, cluster, members, cores=4):
        self.folder = cluster.base / "slurm"
        (self.folder / "state").mkdir(parents=True)
        nodes = "".join(f"NodeName={node.name} NodeAddr={node.address} CPUs={cores} State=UNKNOWN\n" for node in members)
        configuration = self.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(folder=self.folder, nodes=nodes))
        self.environment = os.environ | {"SLURM_CONF": str(configuration)}
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        files = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munge.pid", "log-file": "munge.log",
                 "seed-file": "munge.seed"}
        self._start("munged", "--foreground", "--force", *(f"--{name}={self.folder}/{file}" for name, file in files.items()))
        self.wait_until(lambda: (self.folder / "munge.socket").exists())
        self._start("slurmctld", "-D")
        for node in members:
            (self.folder / f"spool.{node.name}").mkdir()
            self._start(*node.inside("slurmd", "-D", "-N", node.name))
        self.wait_until(lambda: self.run("sinfo", "-h", "-N", "-t", "idle").stdout.count("\n") == len(members))

    def _start(self, *words):
        with open(self.folder / "output.log", "ab") as log:
            subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def run(self, *command):
        return subprocess.run([str(word) for word in command], env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=2 * PATIENCE)

    def wait_until(self, there):
        deadline = time.monotonic() + PATIENCE / 5
        while not there():
            if time.monotonic() > deadline:
                logs = (f"{path.name}:\n{path.read_text(errors='replace')[-2000:]}" for path in self.folder.glob("*.log"))
                raise RuntimeError("Slurm did not come to it:\n" + "\n".join(logs))
            time.sleep(0.2)


def logs_of(folder):
    """What jobs and launches said, for a message."""
    return "\n".join(path.read_text(errors="replace")[-3000:] for path in sorted(pathlib.Path(folder).rglob("*.log")))
