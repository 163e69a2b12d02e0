"""A real Slurm over the nodes of a cluster: slurmctld beside them, a slurmd on each, one munge for all of them."""

import pathlib
import shutil
import subprocess
import sys
import time

from nodes import PATIENCE

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "lab/tests"))

from slurm import prepared  # noqa: E402

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol")


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
        self.environment, munged = prepared(
            self.folder, [node.name for node in members], "SlurmctldHost=head(198.18.0.254)",
            *(f"NodeName={node.name} NodeAddr={node.address} CPUs={cores} State=UNKNOWN" for node in members))
        self._start(*munged)
        self.wait_until(lambda: (self.folder / "munge.socket").exists())
        self._start("slurmctld", "-D")
        for node in members:
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
