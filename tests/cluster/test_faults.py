"""What happens to a run when nodes, links and file systems fail: it ends, one sentence says why, and nothing that is
wrong is called verified. What Open MPI itself makes impossible is in docs/dev/cluster.md."""

import pathlib
import re
import subprocess
import threading
import time

import pytest
from conftest import programs
from nodes import PATIENCE, call

DEADLINE = PATIENCE / 10  # seconds that a phase may take
ALL = ["pnetcdf-rearranged", "hdf5-rearranged", "mpiio-rearranged", "blob"]


def written(folder):
    return [path for path in folder.iterdir() if path.suffix in (".nc", ".h5", ".raw", ".blob")]


def meanwhile(reached, action):
    """For Cluster.run: what happens once `reached()` holds, unless the program has ended before."""

    def watch(process):
        while not reached():
            if process.poll() is not None:
                return
            time.sleep(0.01)
        action()

    return lambda process: threading.Thread(target=watch, args=(process,), daemon=True).start()


# Calls by which a rank has come to a phase, and what it calls before, if that must be told.
PHASES = {
    "create": ("MPI_Bcast", ""),
    "prepare": ("MPI_File_open", ""),
    "flush, its messages": ("MPI_Isend", "MPI_File_open"),
    "flush, its writes": ("MPI_File_write_at", ""),
    "close": ("MPI_File_close", ""),
    "verification": ("MPI_Allreduce", "MPI_File_close"),
}


@pytest.fixture(scope="session")
def pause_at(cluster):
    """pause_at(phase, node, folder, once) -> (what comes before the command, whether a rank waits there, what lets it go on): the
    first rank of that node that comes to the phase, once there is such a file in the folder, waits (pause_at.c)."""
    library = cluster.shared / "pause_at.so"
    call("mpicc", "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).with_name("pause_at.c"))

    def prepare(phase, node, folder, once="*.nc"):
        wanted, earlier = PHASES[phase]
        after = f"SLABMARK_PAUSE_AFTER={earlier}" if earlier else ""
        file = folder / "paused"
        wrapper = folder / "pause"
        wrapper.write_text(f'''#!/bin/sh
[ "$(cat /proc/sys/kernel/hostname)" = {node.name} ] || exec "$@"
LD_PRELOAD={library} SLABMARK_PAUSE_AT={wanted} {after} SLABMARK_PAUSE_ONCE='{folder}/{once}' SLABMARK_PAUSE_FILE={file} exec "$@"
''')
        wrapper.chmod(0o755)
        return [wrapper], file.exists, lambda: pathlib.Path(f"{file}.on").touch()

    return prepare


def sentences(done):
    return [line for line in done.stderr.splitlines() if re.match(r"slabmark bench: error: ", line)]


# Whichever comes first: mpirun misses the node's daemon, or a rank a peer.
LOST = ("lost communication with a remote daemon", "peer process has unexpectedly disconnected", "failed to TCP connect to a peer")


@pytest.mark.parametrize("phase", PHASES)
def test_a_node_that_dies_ends_the_job_and_nothing_is_called_verified(cluster, bench, folder, pause_at, phase):
    node = cluster.nodes[2]
    before, reached, _ = pause_at(phase, node, folder)
    died = []

    def die():
        node.die()
        died.append(phase)

    try:
        done, records = bench(6, ["pnetcdf-rearranged"], "--trials", "1", "--deadline", DEADLINE, before=before,
                              nodes=cluster.nodes[:3], timeout=DEADLINE + PATIENCE / 5, during=meanwhile(reached, die))
    finally:
        node.revive()
        cluster.end_ranks()
    assert died, f"no rank came to {phase}"
    # mpirun says that it ends the job, and now and then does not: its status is None then.
    assert done.returncode != 0, done.stderr
    assert any(words in done.stderr for words in LOST) or sentences(done), done.stderr
    assert records == []


@pytest.mark.parametrize("phase", ["flush, its messages", "close"])
def test_a_link_that_is_down_for_two_seconds_costs_time_only(cluster, bench, folder, pause_at, phase):
    node = cluster.nodes[1]
    before, reached, go_on = pause_at(phase, node, folder)

    def cut():
        node.link("down")
        go_on()
        time.sleep(2)
        node.link("up")

    done, records = bench(6, ["pnetcdf-rearranged"], "--trials", "2", "--deadline", PATIENCE, nodes=cluster.nodes[:3],
                          before=before, during=meanwhile(reached, cut))
    assert done.returncode == 0, done.stderr
    assert records[0]["verified"]["state"] == "yes"


# mpirun itself goes on waiting for the daemon that it cannot reach.
@pytest.mark.parametrize("phase", ["the map", "flush, its messages", "close"])
def test_a_link_that_stays_down_ends_in_a_sentence_by_the_deadline(cluster, bench, folder, pause_at, phase):
    node = cluster.nodes[1]
    once = "pause" if phase == "the map" else "*.nc"  # the wrapper is there from the beginning
    before, reached, go_on = pause_at("close" if phase == "the map" else phase, node, folder, once)
    cuts, alone = [], []

    def cut():
        node.link("down")
        go_on()
        cuts.append(phase)

    def ranks_have_ended():
        """And what they said is with mpirun."""
        if cuts and not cluster.ranks():
            alone.append(time.monotonic())
        return alone and alone[-1] - alone[0] > PATIENCE / 60

    try:
        done, records = bench(6, ["pnetcdf-rearranged"], "--trials", "1", "--deadline", DEADLINE, before=before,
                              nodes=cluster.nodes[:3], timeout=DEADLINE + PATIENCE / 5, during=meanwhile(reached, cut),
                              until=ranks_have_ended)
    finally:
        node.link("up")
        cluster.end_ranks()
    assert cuts, f"no rank came to {phase}"
    assert alone, "ranks have not ended by themselves"
    assert records == []
    assert len(sentences(done)) >= 1, done.stderr
    assert done.returncode != 0


def test_what_a_log_has_flushed_is_there_when_a_node_dies(cluster, folder, pause_at):
    """It dies when its ranks have flushed the first stages of log_sessions.c, and close the file; another node repairs it."""
    path = folder / "a.h5"
    node = cluster.nodes[2]
    connector = {"HDF5_PLUGIN_PATH": programs.parent / "plugins", "HDF5_VOL_CONNECTOR": "slablog under_vol=0;under_info={}"}
    before, reached, _ = pause_at("close", node, folder, "*.h5")
    try:
        done = cluster.run(6, programs / "log_sessions", "write", path, environment=connector, before=before,
                           nodes=cluster.nodes[:3], timeout=PATIENCE / 3, during=meanwhile(reached, node.die))
    finally:
        node.revive()
        cluster.end_ranks()
    assert reached() and done.returncode != 0
    repaired = cluster.run(1, programs / "slabmark", "log", "repair", path)
    assert repaired.returncode == 0, repaired.stderr
    checked = cluster.run(1, programs / "log_sessions", "check", path, environment=connector)
    assert checked.returncode == 0 and int(checked.stdout.split()[-1]) >= 1, checked.stdout + checked.stderr


@pytest.mark.parametrize("method", [*ALL, "mpiio-collective", "pnetcdf-varn", "hdf5-log"])
def test_a_file_system_that_becomes_full_is_one_sentence_and_status_1(cluster, bench, method):
    ballast = cluster.small / "ballast"

    def fill():
        with open(ballast, "wb", buffering=0) as file:
            with pytest.raises(OSError):
                while True:
                    file.write(bytes(1 << 16))

    try:
        done, records = bench(6, [method], "--trials", "1000", "--deadline", DEADLINE, output=cluster.small,
                              nodes=cluster.nodes[:3], during=meanwhile(lambda: written(cluster.small), fill),
                              timeout=DEADLINE + PATIENCE / 5)
    finally:
        ballast.unlink(missing_ok=True)
    assert done.returncode == 1, done.stderr
    assert records == []
    assert len(sentences(done)) == 1 and "taken to hang" not in done.stderr, done.stderr
    assert list(cluster.small.iterdir()) == []


@pytest.mark.parametrize("which", [0, 2])
@pytest.mark.parametrize("method", ["pnetcdf-rearranged", "hdf5-rearranged", "mpiio-rearranged", "hdf5-log"])
def test_a_node_without_the_file_system_is_named_in_one_sentence(cluster, bench, folder, method, which):
    """Without that of rank 0 it is the others that lack it, as they see it."""
    node = cluster.nodes[which]
    node.call("mount", "-t", "tmpfs", "none", folder)
    try:
        done, records = bench(6, [method], "--trials", "1", "--deadline", DEADLINE, nodes=cluster.nodes[:3],
                              timeout=DEADLINE + PATIENCE / 5)
    finally:
        node.call("umount", folder)
    assert done.returncode in (1, 2), done.stderr
    assert records == []
    assert len(sentences(done)) == 1, done.stderr
    assert f"on host {cluster.nodes[which or 1].name}: " in sentences(done)[0]
    assert list(folder.iterdir()) == []


def test_clocks_that_differ_by_an_hour_change_nothing(cluster, bench, folder):
    library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
    if subprocess.run(["test", "-e", library]).returncode != 0:
        pytest.skip("the package libfaketime is not installed")
    wrapper = folder / "an-hour-late"
    wrapper.write_text(f'''#!/bin/sh
[ "$(cat /proc/sys/kernel/hostname)" = node2 ] || exec "$@"
LD_PRELOAD={library} FAKETIME=-1h FAKETIME_DONT_FAKE_MONOTONIC=1 exec "$@"
''')
    wrapper.chmod(0o755)
    done, records = bench(3, ["pnetcdf-rearranged", "hdf5-rearranged"], "--trials", "2", nodes=cluster.nodes[:3],
                          before=[wrapper])
    assert done.returncode == 0, done.stderr
    for record in records:
        assert record["verified"]["state"] == "yes"
        for trial in record["trials"]:
            assert 0 < trial["open_to_close"] < 600


def test_the_second_of_two_jobs_on_one_file_is_refused_and_the_first_goes_on(cluster, bench, folder, map_file, pause_at):
    second = []

    def begin():
        second.append(cluster.run(3, programs / "slabmark", "bench", "e3sm", "--case", "f-h0", "--map", map_file, "--method",
                                  "pnetcdf-rearranged", "--trials", "1", "-d", folder, "--no-bound", "-q",
                                  nodes=cluster.nodes[:3]))
        go_on()

    before, reached, go_on = pause_at("flush, its writes", cluster.nodes[1], folder)
    done, records = bench(6, ["pnetcdf-rearranged"], "--trials", "1", nodes=cluster.nodes[:3], before=before,
                          during=meanwhile(reached, begin))
    assert second[0].returncode == 2
    assert len(sentences(second[0])) == 1, second[0].stderr
    assert done.returncode == 0, done.stderr
    assert records[0]["verified"]["state"] == "yes"
