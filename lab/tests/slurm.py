"""A Slurm of one node, with a munge of its own, for the time of one test. Needs root and Debian's slurm-wlm and munge."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

SETTINGS = """
ClusterName=slabmark
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
PartitionName=test Nodes=ALL Default=YES State=UP MaxTime=INFINITE
"""


def prepared(folder, nodes, *lines):
    """Puts into the folder what daemons of these nodes need, with further lines of configuration. Returns the environment of all
    commands, and the command that is to run first: munge."""
    for name in ("state", *(f"spool.{node}" for node in nodes)):
        (folder / name).mkdir(parents=True)
    (folder / "slurm.conf").write_text("\n".join([SETTINGS.format(folder=folder), *lines, ""]))
    (folder / "munge.key").write_bytes(os.urandom(64))
    (folder / "munge.key").chmod(0o400)
    files = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munge.pid", "log-file": "munge.log"}
    files |= {"seed-file": "munge.seed"}
    munged = ["munged", "--foreground", "--force", *(f"--{name}={folder}/{file}" for name, file in files.items())]
    return os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}, munged


@contextlib.contextmanager
def running():
    """Yields run(*command), which runs a Slurm command against it."""
    # A short place: names of sockets may have 107 characters.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))
    daemons = []
    try:
        host = socket.gethostname().split(".")[0]
        environment, munged = prepared(
            folder,
            [host],
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={_free_port()}",
            f"SlurmdPort={_free_port()}",
            f"NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN",
        )
        with open(folder / "output.log", "wb") as log:
            for command in (munged, ["slurmctld", "-D"], ["slurmd", "-D"]):
                daemons.append(
                    subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                )
                time.sleep(0.5)

        def run(*command):
            return subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=120)

        last = time.monotonic() + 30
        while "idle" not in run("sinfo", "-h", "-o", "%T").stdout:
            if time.monotonic() > last:
                logs = "\n".join(path.read_text(errors="replace")[-2000:] for path in folder.glob("*.log"))
                raise RuntimeError(f"Slurm did not start:\n{logs}")
            time.sleep(0.3)
        yield run
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]
