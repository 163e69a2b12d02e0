"""What happens to a run when nodes, links and file systems fail: it ends, one sentence says why, and nothing that is
wrong is called verified. What Open MPI itself makes impossible is in docs/cluster.md."""

import re
import subprocess
import threading
import time

import pytest
from conftest import programs

DEADLINE = 15  # seconds that a phase may take
SLACK = 60     # for the launcher to notice, on a machine with other work


def once_writing(folder, seconds, action):
    """For Cluster.run: what happens so long after the program's first file is there."""

    def watch(process):
        while process.poll() is None and not [path for path in folder.iterdir() if path.suffix in (".nc", ".h5", ".raw", ".blob")]:
            time.sleep(0.01)
        time.sleep(seconds)
        if process.poll() is None:
            action()

    def begin(process):
        threading.Thread(target=watch, args=(process,), daemon=True).start()

    return begin


def sentences(done):
    return [line for line in done.stderr.splitlines() if re.match(r"slabmark-bench: error: ", line)]


# Whatever phase that is in: a trial takes about as long as these differ.
@pytest.mark.parametrize("seconds", [0, 0.1, 0.2, 0.5, 1, 2])
def test_a_node_that_dies_ends_the_job_and_nothing_is_called_verified(cluster, bench, folder, seconds):
    node = cluster.nodes[2]
    try:
        done, records = bench(6, ["pnetcdf-rearranged", "hdf5-rearranged"], "--trials", "1000", "--deadline", DEADLINE,
                              nodes=cluster.nodes[:3], timeout=DEADLINE + SLACK, during=once_writing(folder, seconds, node.die))
    finally:
        node.revive()
    # mpirun says that it ends the job, and now and then does not: its status is None then.
    assert done.returncode != 0, done.stderr
    assert "lost communication with a remote daemon" in done.stderr or sentences(done), done.stderr
    assert records == []


def test_a_link_that_is_down_for_two_seconds_costs_time_only(cluster, bench, folder):
    node = cluster.nodes[1]

    def cut():
        node.link("down")
        time.sleep(2)
        node.link("up")

    done, records = bench(6, ["pnetcdf-rearranged"], "--trials", "30", "--deadline", "60", nodes=cluster.nodes[:3],
                          during=once_writing(folder, 0.2, cut), timeout=180)
    assert done.returncode == 0, done.stderr
    assert records[0]["verified"]["state"] == "yes"


# mpirun itself goes on waiting for the daemon that it cannot reach, so it is the caller's time limit that ends it.
def test_a_link_that_stays_down_ends_in_a_sentence_by_the_deadline(cluster, bench, folder):
    node = cluster.nodes[1]
    try:
        done, records = bench(6, ["pnetcdf-rearranged"], "--trials", "1000", "--deadline", DEADLINE,
                              nodes=cluster.nodes[:3], during=once_writing(folder, 1, lambda: node.link("down")),
                              timeout=DEADLINE + SLACK)
    finally:
        node.link("up")
    assert records == []
    assert len(sentences(done)) >= 1, done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("method", ["pnetcdf-rearranged", "hdf5-rearranged", "mpiio-rearranged", "blob"])
def test_a_file_system_that_becomes_full_is_one_sentence_and_status_1(cluster, bench, method):
    ballast = cluster.small / "ballast"

    def fill():
        with open(ballast, "wb") as file:
            with pytest.raises(OSError):
                while True:
                    file.write(bytes(1 << 16))

    try:
        done, records = bench(6, [method], "--trials", "1000", "--deadline", DEADLINE, output=cluster.small,
                              nodes=cluster.nodes[:3], during=once_writing(cluster.small, 1, fill), timeout=DEADLINE + SLACK)
    finally:
        ballast.unlink(missing_ok=True)
    assert done.returncode == 1, done.stderr
    assert records == []
    assert len(sentences(done)) == 1, done.stderr
    assert list(cluster.small.iterdir()) == []


@pytest.mark.parametrize("method", ["pnetcdf-rearranged", "hdf5-rearranged", "mpiio-rearranged"])
def test_a_node_without_the_file_system_is_named_in_one_sentence(cluster, bench, folder, method):
    node = cluster.nodes[2]
    node.call("mount", "-t", "tmpfs", "none", folder)
    try:
        done, records = bench(6, [method], "--trials", "1", "--deadline", DEADLINE, nodes=cluster.nodes[:3],
                              timeout=DEADLINE + SLACK)
    finally:
        node.call("umount", folder)
    assert done.returncode in (1, 2), done.stderr
    assert records == []
    assert len(sentences(done)) == 1, done.stderr
    assert node.name in done.stderr


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


def test_the_second_of_two_jobs_on_one_file_is_refused_and_the_first_goes_on(cluster, bench, folder, map_file):
    second = []

    def begin():
        second.append(cluster.run(3, programs / "slabmark-bench", "e3sm", "--case", "f-h0", "--map", map_file, "--method",
                                  "pnetcdf-rearranged", "--trials", "1", "-o", folder, "--no-bound", "-q",
                                  nodes=cluster.nodes[:3]))

    def wait_for_file(process):
        while process.poll() is None and not list(folder.glob("*.nc")):
            time.sleep(0.01)
        begin()

    done, records = bench(6, ["pnetcdf-rearranged"], "--trials", "200", "--no-warm-up", nodes=cluster.nodes[:3],
                          during=wait_for_file, timeout=300)
    assert done.returncode == 0, done.stderr
    assert records[0]["verified"]["state"] == "yes"
    assert second[0].returncode == 2
    assert len(sentences(second[0])) == 1, second[0].stderr
