"""The log-layout connector as any HDF5 program loads it, its files in stock tools, and its utilities."""

import shutil
import subprocess

import pytest


@pytest.mark.parametrize("ranks", [1, 2, 4, 7])
@pytest.mark.parametrize("view", ["vds", "materialise"])
def test_a_program_that_knows_nothing_of_the_connector_writes_what_h5py_reads(write_log, tmp_path, ranks, view):
    h5py = pytest.importorskip("h5py")
    write_log(tmp_path / "a.h5", ranks, SLABLOG_VIEW=view).check_returncode()
    with h5py.File(tmp_path / "a.h5") as file:
        assert "_slablog" in file
        assert list(file["d"][...]) == list(range(100 * ranks))


def test_stock_h5dump_and_h5repack_read_it_without_a_plugin(write_log, tmp_path):
    if not shutil.which("h5dump"):
        pytest.skip("h5dump is not installed")
    write_log(tmp_path / "a.h5", 2).check_returncode()
    dumped = subprocess.run(["h5dump", "-d", "/d", "-y", "-w", "1", tmp_path / "a.h5"], capture_output=True, text=True,
                            check=True).stdout
    data = dumped.split("DATA {")[1].split("}")[0]
    assert [int(word) for word in data.replace(",", " ").split()] == list(range(200))


def test_what_was_flushed_before_a_kill_is_there_after_repair(write_log, run, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    assert write_log(path, 2, "kill").returncode != 0
    assert "not closed by its writer" in run("slablog-info", [path]).stdout
    repaired = run("slablog-repair", [path])
    assert repaired.returncode == 0 and "1 views written" in repaired.stdout, repaired.stderr
    with h5py.File(path) as file:
        assert list(file["d"][...]) == list(range(200))
    assert "any HDF5 program reads it" in run("slablog-info", [path]).stdout


def test_a_log_closed_without_a_view_says_so_and_is_repaired_by_materialising(write_log, run, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    write_log(path, 2, SLABLOG_VIEW="none").check_returncode()
    info = run("slablog-info", [path]).stdout
    assert "closed without a view" in info and "/d: 200, 200 hyperslabs, 200 of 200 elements written" in info
    run("slablog-repair", ["--materialise", path]).check_returncode()
    with h5py.File(path) as file:
        assert list(file["d"][...]) == list(range(200)) and not file["/_slablog/d0.view"].is_virtual


@pytest.mark.parametrize("program", ["slablog-canonical", "slablog-info", "slablog-repair"])
def test_a_file_without_a_log_is_refused_and_left_alone(run, sentence, tmp_path, program):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["d"] = 1
    before = path.read_bytes()
    done = run(program, [path, *([tmp_path / "b.h5"] if program == "slablog-canonical" else [])])
    assert done.returncode == 2 and "no log" in sentence(done, program)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1
