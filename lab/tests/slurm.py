"""A Slurm of one node, with a munge of its own, for the time of one test. Needs root and Debian's slurm-wlm and munge."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

CONFIGURATION = """
ClusterName=slabmark
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={controller}
SlurmdPort={daemon}
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
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES State=UP MaxTime=INFINITE
"""


@contextlib.contextmanager
def running():
    """Yields run(*command), which runs a Slurm command against it."""
    # A short place: names of sockets may have 107 characters.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))
    daemons = []
    try:
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=socket.gethostname().split(".")[0], folder=folder, controller=_free_port(), daemon=_free_port()
            )
        )
        (folder / "munge.key").write_bytes(os.urandom(64))
        (folder / "munge.key").chmod(0o400)
        environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        with open(folder / "output.log", "wb") as log:
            munge = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munge.pid"}
            munge |= {"log-file": "munge.log", "seed-file": "munge.seed"}
            munged = ["munged", "--foreground", "--force", *(f"--{name}={folder}/{file}" for name, file in munge.items())]
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
