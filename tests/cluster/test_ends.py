"""Nothing of a cluster outlives what made it, however that ends."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from nodes import PATIENCE

here = pathlib.Path(__file__).resolve().parent

# A cluster in this one, with a job on its nodes.
JOB = f"""
import sys
sys.path.insert(0, "{here}")
from nodes import Cluster
Cluster(["a", "b"]).run(2, "sleep", "3600", timeout=3600)
"""


def processes(mark):
    """The command line of each that has it in its environment, by its folder in /proc."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if mark in (entry / "environ").read_bytes():
                found[entry] = (entry / "cmdline").read_bytes()
    return found


def wait_until(reached, what):
    deadline = time.monotonic() + PATIENCE / 5
    while not reached():
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)


@pytest.mark.parametrize("whom, how", [("enter", signal.SIGKILL), ("enter", signal.SIGTERM), ("all", signal.SIGINT)],
                         ids=["killed", "terminated", "interrupted"])
def test_a_cluster_with_a_job_leaves_no_process_and_no_file(cluster, whom, how):
    place = cluster.local / f"ends-{how}"
    place.mkdir()
    mark = f"SLABMARK_TEST_MARK={place}".encode()
    entered = subprocess.Popen([here / "enter", sys.executable, "-c", JOB], stdin=subprocess.DEVNULL, start_new_session=True,
                               env={**os.environ, "TMPDIR": str(place), "SLABMARK_TEST_MARK": str(place)},
                               # A shell has what it starts in the background ignore it, and so would all of these.
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        wait_until(lambda: list(processes(mark).values()).count(b"sleep\x003600\x00") == 2, lambda: "the job does not run")
        (os.killpg if whom == "all" else os.kill)(entered.pid, how)
        entered.wait(PATIENCE / 5)
        wait_until(lambda: not processes(mark), lambda: processes(mark))
        wait_until(lambda: not list(place.iterdir()), lambda: list(place.iterdir()))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(entered.pid, signal.SIGKILL)
