"""Ranks of several nodes on file systems that are not as coherent as one machine's, and on disks of one machine."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import threading
import time

import distributed
import pytest
from conftest import programs
from nodes import PATIENCE, call

REARRANGED = ["pnetcdf-rearranged", "hdf5-rearranged", "mpiio-rearranged"]


def connector(**environment):
    return {"HDF5_PLUGIN_PATH": programs.parent / "plugins", "HDF5_VOL_CONNECTOR": "slablog under_vol=0;under_info={}",
            **environment}


def sentences(done):
    return [line for line in done.stderr.splitlines() if re.match(r"slabmark bench: error: ", line)]


@pytest.fixture(params=distributed.KINDS)
def file_system(cluster, request):
    """A distributed one, which each node mounts and has a part of."""
    if why := distributed.missing(request.param):
        pytest.skip(why)
    return distributed.of(cluster, request.param)


@pytest.fixture(scope="session")
def caching(cluster):
    """(a folder of which each node keeps what it has seen, whatever others write: caching_fs.c; where it really is)"""
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], capture_output=True, text=True).stdout
    if not flags:
        pytest.skip("there is no libfuse3-dev (setup/prepare cluster)")
    program = cluster.base / "caching_fs"
    call("cc", "-O1", "-o", program, pathlib.Path(__file__).with_name("caching_fs.c"), *shlex.split(flags))
    shown, real = cluster.base / "caching", cluster.shared / "behind-caches"
    for folder in (shown, real):
        folder.mkdir()
    for node in cluster.nodes:
        node.call(program, real, shown)
    return shown, real


@pytest.mark.parametrize("method", [*REARRANGED, "blob"])
def test_files_on_a_distributed_file_system_are_right(bench, cluster, file_system, method):
    done, records = bench(6, [method], "--trials", "1", nodes=cluster.nodes[:3], output=file_system.folder)
    assert done.returncode == 0, done.stderr
    assert records[0]["verified"]["state"] == "yes"


@pytest.mark.parametrize("layout", ["log", "canonical"])
def test_the_connector_writes_on_a_distributed_file_system(cluster, file_system, layout):
    path = file_system.folder / f"{layout}.h5"
    done = cluster.run(3, programs / "log_writer", path, nodes=cluster.nodes[:3], environment=connector(SLABLOG_LAYOUT=layout))
    assert done.returncode == 0, done.stderr
    done = cluster.run(1, programs / "log_writer", path, "read", environment=connector())
    assert done.stdout.split() == [str(value) for value in range(300)], done.stderr


def test_a_server_that_dies_and_returns_during_a_write_costs_time_or_ends_in_a_sentence(bench, cluster, file_system):
    node = cluster.nodes[1]
    during_the_run = []
    watching = []

    def begin(process):
        def fail_once_there_is_a_file():
            while process.poll() is None and not list(file_system.folder.glob("slabmark-*.nc")):
                time.sleep(0.01)
            file_system.kill_server(node)
            during_the_run.append(process.poll() is None)
            time.sleep(3)
            file_system.start_server(node)

        watching.append(threading.Thread(target=fail_once_there_is_a_file, daemon=True))
        watching[0].start()

    done, records = bench(6, ["pnetcdf-rearranged"], "--trials", "30", "--deadline", PATIENCE / 3, nodes=cluster.nodes[:3],
                          output=file_system.folder, during=begin, timeout=2 * PATIENCE)
    watching[0].join()
    assert during_the_run == [True]
    if done.returncode == 0:
        assert records[0]["verified"]["state"] == "yes"
    else:
        assert done.returncode == 1 and len(sentences(done)) >= 1, done.stderr
        assert records == []


def test_a_log_is_refused_where_nodes_overwrite_what_others_append(cluster, caching):
    shown, real = caching
    done = cluster.run(3, programs / "log_writer", shown / "a.h5", nodes=cluster.nodes[:3], environment=connector())
    assert done.returncode != 0
    assert "cannot have a log of ranks on 3 nodes" in done.stderr and "layout=canonical" in done.stderr, done.stderr
    assert list(real.glob("a.h5*")) == []
    alone = cluster.run(2, programs / "log_writer", shown / "a.h5", nodes=cluster.nodes[:1], environment=connector())
    assert alone.returncode == 0, "one node is coherent with itself: " + alone.stderr


@pytest.mark.parametrize("method", [*REARRANGED, "blob", "mpiio-collective"])
def test_nothing_wrong_is_called_verified_where_nodes_keep_old_pages(bench, cluster, caching, folder, method):
    shown, real = caching
    options = ["--trials", "1", "--no-warm-up", "--keep", "--deadline", PATIENCE / 5]
    coherent, _ = bench(3, [method], *options, nodes=cluster.nodes[:3])
    assert coherent.returncode == 0, coherent.stderr
    done, records = bench(3, [method], *options, nodes=cluster.nodes[:3], output=shown)
    if done.returncode != 0:
        assert len(sentences(done)) == 1 and records == [], done.stderr
        return
    assert records[0]["verified"]["state"] == "yes"
    if method == "hdf5-rearranged":
        return  # files of HDF5 hold times
    [path] = [path for path in folder.iterdir() if path.name.startswith("slabmark-")]
    assert (real / path.name).read_bytes() == path.read_bytes()


@pytest.fixture(params=["ext4", "xfs"])
def disk(request, cluster):
    """(a folder on a disk of its own, with a file system of that kind; how many bytes the disk has read and written)"""
    if not shutil.which(f"mkfs.{request.param}"):
        pytest.skip(f"there is no mkfs.{request.param} (setup/prepare cluster)")
    image, folder = cluster.base / f"{request.param}.image", cluster.base / request.param
    call("truncate", "-s", "400M", image)
    call(f"mkfs.{request.param}", "-q", image)
    folder.mkdir(exist_ok=True)  # of the test before
    node = cluster.nodes[0]  # which sees no mounts that are made outside
    node.call("mount", "-o", "loop", image, folder)
    device = pathlib.Path("/sys/dev/block", "{}:{}".format(*map(int, node.call("mountpoint", "-d", folder).split(":"))))
    sectors = lambda: [512 * int((device / "stat").read_text().split()[i]) for i in (2, 6)]
    yield folder, sectors
    node.call("umount", folder)
    image.unlink()


def test_direct_io_asks_the_disk_without_sync(cluster, map_file, disk):
    """The limit's bytes, but for what each rank's piece begins and ends with."""
    folder, sectors = disk
    before = sectors()
    records = cluster.shared / "direct.jsonl"
    done = cluster.run(2, programs / "slabmark", "bench", "e3sm", "--case", "f-h0", "--map", map_file, "--method", "null", "--trials", "1",
                       "--set", "posix.direct=on", "-d", folder, "--json", records, "-q", nodes=cluster.nodes[:1])
    assert done.returncode == 0, done.stderr
    limits = {record["method"]: record for record in map(json.loads, records.read_text().splitlines())}
    limit = limits["posix"]
    records.unlink()
    assert limit["verified"]["state"] == "yes"
    assert limit["settings"]["options"] == {"posix.direct": "on"}
    assert limit["effective"]["direct_bytes"] > 0.4 * limit["pattern"]["bytes"]
    assert sectors()[1] - before[1] >= limit["pattern"]["bytes"] - 2 * 8192


def test_direct_io_is_refused_in_a_sentence_where_the_file_system_has_none(bench, cluster, caching):
    shown, real = caching
    done, records = bench(2, ["posix"], "--set", "posix.direct=on", "--trials", "1", nodes=cluster.nodes[:1], output=shown)
    assert done.returncode == 2 and records == [], done.stderr
    assert len(sentences(done)) == 1 and "has no direct I/O (O_DIRECT)" in done.stderr, done.stderr
    assert list(real.glob("slabmark-posix*")) == []
    cached, _ = bench(2, ["posix"], "--trials", "1", nodes=cluster.nodes[:1], output=shown)
    assert cached.returncode == 0, cached.stderr


# Whatever the page cache holds: a disk was asked for all bytes.
def test_what_is_synced_is_on_the_disk_and_what_is_read_cold_comes_from_it(bench, cluster, disk):
    folder, sectors = disk
    before = sectors()
    done, records = bench(1, ["pnetcdf-rearranged", "posix"], "--trials", "2", "--sync", nodes=cluster.nodes[:1], output=folder)
    assert done.returncode == 0, done.stderr
    files = sum(len(record["trials"]) for record in records)
    assert sectors()[1] - before[1] >= files * records[0]["pattern"]["bytes"]
    before = sectors()
    done, records = bench(1, ["pnetcdf-rearranged", "posix"], "--trials", "2", "--read", nodes=cluster.nodes[:1], output=folder)
    assert done.returncode == 0, done.stderr
    assert [record["cache"] for record in records] == ["cold"] * 2
    files = sum(len(record["trials"]) for record in records)
    assert sectors()[0] - before[0] >= files * records[0]["pattern"]["bytes"]
