"""The log-layout connector as any HDF5 program loads it, its files in stock tools, and its utilities."""

import os
import shutil
import subprocess

import pytest
from conftest import long

pytestmark = pytest.mark.long


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), long(2), 4, long(7)])
@pytest.mark.parametrize("view", ["vds", "materialise"])
def test_a_program_that_knows_nothing_of_the_connector_writes_what_h5py_reads(write_log, tmp_path, ranks, view):
    h5py = pytest.importorskip("h5py")
    write_log(tmp_path / "a.h5", ranks, SLABLOG_VIEW=view).check_returncode()
    with h5py.File(tmp_path / "a.h5") as file:
        assert "_slablog" in file
        assert list(file["d"][...]) == list(range(100 * ranks))


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), long(2), 4])
@pytest.mark.parametrize("environment", [{}, {"SLABLOG_BUFFER": "50"}], ids=["in-memory", "spilled"])
def test_in_the_canonical_layout_a_program_writes_the_file_that_it_writes_without(write_log, tmp_path, ranks, environment):
    h5py = pytest.importorskip("h5py")
    files = []
    for name, more in [("native.h5", {"HDF5_VOL_CONNECTOR": ""}), ("canonical.h5", {"SLABLOG_LAYOUT": "canonical", **environment})]:
        path = tmp_path / name
        write_log(path, ranks, **more).check_returncode()
        with h5py.File(path) as file:  # the header of an object holds the second in which it was made
            files.append((list(file), file["d"].id.get_offset(), list(file["d"]), path.stat().st_size))
    assert files[1] == files[0] and files[0][2] == list(range(100 * ranks))
    assert len(list(tmp_path.iterdir())) == 2
    assert dumped(tmp_path / "canonical.h5") == files[0][2]


def test_in_the_canonical_layout_what_was_flushed_before_a_kill_is_there(write_log, tmp_path):
    h5py = pytest.importorskip("h5py")
    assert write_log(tmp_path / "a.h5", 2, "kill", SLABLOG_LAYOUT="canonical").returncode != 0
    with h5py.File(tmp_path / "a.h5") as file:
        assert list(file) == ["d"] and list(file["d"]) == list(range(200))


@pytest.fixture(scope="module", params=[1, 2, 4, 7])
def closed(request, write_log, tmp_path_factory):
    """A log file closed as it is by default, which the tests only read, and its number of elements."""
    path = tmp_path_factory.mktemp("closed") / "a.h5"
    write_log(path, request.param).check_returncode()
    return path, 100 * request.param


def stock(tool, *arguments):
    """Runs a tool of the system, with the HDF5 that it was built with and no plugin."""
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed")
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=True).stdout


def dumped(path):
    data = stock("h5dump", "-d", "/d", "-y", "-w", "1", path).split("DATA {")[1].split("}")[0]
    return [int(word) for word in data.replace(",", " ").split()]


def test_stock_h5dump_reads_it_without_a_plugin(closed):
    path, elements = closed
    assert dumped(path) == list(range(elements))


def test_stock_h5repack_makes_a_contiguous_dataset_of_it(closed, tmp_path):
    path, elements = closed
    stock("h5repack", "-l", "/d:CONTI", path, tmp_path / "b.h5")
    assert "CONTIGUOUS" in stock("h5dump", "-p", "-H", "-d", "/d", tmp_path / "b.h5")
    assert dumped(tmp_path / "b.h5") == list(range(elements))


def test_stock_h5dump_reads_the_canonical_file(closed, run, tmp_path):
    path, elements = closed
    run("slabmark log canonical", [path, tmp_path / "b.h5"], ranks=2).check_returncode()
    assert dumped(tmp_path / "b.h5") == list(range(elements))


@pytest.mark.fast
def test_netcdf4_reads_it(closed):
    netcdf = pytest.importorskip("netCDF4")
    path, elements = closed
    with netcdf.Dataset(path) as file:
        assert list(file["d"][:]) == list(range(elements))


# In the newest form HDF5 itself marks an open file.
@pytest.mark.parametrize("ranks, form", [(1, "earliest"), (2, "latest"), (4, "earliest"), (7, "latest")])
def test_what_was_flushed_before_a_kill_is_there_after_repair(write_log, run, tmp_path, ranks, form):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    assert write_log(path, ranks, "kill", form).returncode != 0
    assert "not closed by its writer" in run("slabmark log info", [path]).stdout
    repaired = run("slabmark log repair", [path])
    assert repaired.returncode == 0 and "1 views written" in repaired.stdout, repaired.stderr
    with h5py.File(path) as file:
        assert list(file["d"][...]) == list(range(100 * ranks))
    assert "any HDF5 program reads it" in run("slabmark log info", [path]).stdout


def test_the_connector_says_that_a_file_was_not_closed_and_reads_what_was_flushed(write_log, tmp_path):
    assert write_log(tmp_path / "a.h5", 2, "kill").returncode != 0
    done = write_log(tmp_path / "a.h5", 3, "read")
    assert done.returncode == 0 and done.stdout.split() == [str(i) for i in range(200)]
    assert done.stderr.count("slablog: warning:") == 1 and "was not closed by its writer" in done.stderr


def test_a_log_closed_without_a_view_says_so_and_is_repaired_by_materialising(write_log, run, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    write_log(path, 2, SLABLOG_VIEW="none").check_returncode()
    info = run("slabmark log info", [path]).stdout
    assert "closed without a view" in info and "/d: 200, 200 hyperslabs, 200 of 200 elements written" in info
    assert "was closed without a view" in write_log(path, 2, "read").stderr
    run("slabmark log repair", ["--materialise", path]).check_returncode()
    with h5py.File(path) as file:
        assert list(file["d"][...]) == list(range(200)) and not file["/_slablog/d0.view"].is_virtual


@pytest.mark.fast
@pytest.mark.parametrize("program", ["slabmark log canonical", "slabmark log info", "slabmark log repair"])
def test_a_file_without_a_log_is_refused_and_left_alone(run, refused, tmp_path, program):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["d"] = 1
    before = path.read_bytes()
    done = run(program, [path, *([tmp_path / "b.h5"] if program == "slabmark log canonical" else [])])
    assert "no log" in refused(done, program)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("program", ["slabmark log canonical", "slabmark log info", "slabmark log repair"])
def test_a_file_that_is_no_hdf5_file_is_bad_input_and_left_alone(run, refused, tmp_path, program):
    path = tmp_path / "a.txt"
    path.write_text("no HDF5")
    done = run(program, [path, *([tmp_path / "b.h5"] if program == "slabmark log canonical" else [])])
    assert "is no HDF5 file" in refused(done, program)
    assert path.read_text() == "no HDF5" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize("program", ["slabmark log info", "slabmark log repair", "slabmark log canonical"])
def test_a_pipe_or_a_folder_is_bad_input(run, refused, tmp_path, program, kind):
    path = tmp_path / "a.h5"
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    done = run(program, [path, *([tmp_path / "b.h5"] if program == "slabmark log canonical" else [])])
    assert str(path) in refused(done, program) and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("program", ["slabmark log canonical", "slabmark log info", "slabmark log repair"])
def test_a_file_that_is_not_there_is_bad_input(run, refused, tmp_path, program, ranks):
    more = ["out.h5"] if program == "slabmark log canonical" else []
    done = run(program, ["absent.h5", *more], ranks=ranks, cwd=tmp_path)
    assert "absent.h5" in refused(done, program)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("program", ["slabmark log canonical", "slabmark log info", "slabmark log repair"])
def test_a_damaged_index_is_named_in_one_sentence_and_nothing_is_written(write_log, run, tmp_path, program):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    write_log(path, 2, SLABLOG_VIEW="none").check_returncode()
    with h5py.File(path) as file:
        where = file["/_slablog/index0"].id.get_offset()
    damaged = bytearray(path.read_bytes())
    damaged[where + 7] ^= 1
    path.write_bytes(damaged)
    done = run(program, [path, tmp_path / "b.h5"] if program == "slabmark log canonical" else [path])
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and f"The index /_slablog/index0 of '{path}' is damaged" in done.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["a.h5"] and path.read_bytes() == damaged
