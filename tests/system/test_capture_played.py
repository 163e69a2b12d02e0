"""The calls of captured programs, made again as they were (as-captured), leave the same files."""

import json
import os
import pathlib
import sys

import pytest
from capturing import BIN, LIBRARIES, bench, play, preloads, sanitized, structure, tampered, verified
from conftest import needs_pnetcdf

pytestmark = pytest.mark.long


@pytest.mark.parametrize("level", ["hdf5", "mpiio", "posix", "defined"])
def test_what_a_program_moves_beside_its_library_is_not_what_is_played(run, captured, tmp_path, level):
    """All are linked with HDF5 and write a log by POSIX; two look by MPI-IO at a file that was there, and at what they have made of it."""
    if sanitized and level in ("mpiio", "posix"):
        pytest.skip("the sanitizers must be the first library of a program")
    (tmp_path / "own").touch()
    captured("capture_beside", [level, tmp_path / "own", tmp_path / "log"], 2, launch=True)
    is_hdf5 = level in ("hdf5", "defined")
    played = play(run, tmp_path, "hdf5" if is_hdf5 else level, 2)
    if is_hdf5:
        assert [structure(file) for file in played] == [structure(tmp_path / "own")]
    else:  # without a library above it, the log is one of the program's files
        assert {file.stat().st_size for file in played} == ({1000, 1024} if level == "posix" else {1032})


def test_the_parts_of_a_coupled_program_are_played_on_as_many_ranks_as_opened_their_files(run, captured, tmp_path):
    captured("coupled", [tmp_path], 3, launch=True)
    for name, ranks in (("ocean.h5", 2), ("both.h5", 3)):
        choice = ["--library", "hdf5", "--only-file", tmp_path / name]
        bench(run, tmp_path / "0.pattern", ["as-captured"], *choice, "--json", tmp_path / "r.jsonl", ranks=ranks, launch=True)
    done = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [(one["unsupported"], one["verified"]["state"], one["pattern"]["ranks"], one["pattern"]["bytes"]) for one in done] == [
        (None, "yes", 2, 80), (None, "yes", 3, 120)
    ]


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_calls_of_hdf5_made_again_leave_the_same_file(run, captured, tmp_path, ranks):
    captured("scattered", [tmp_path / "own.h5", 10, 4, 3], ranks, launch=True)
    [played] = play(run, tmp_path, "hdf5", ranks)
    assert structure(played) == structure(tmp_path / "own.h5")


def lacks_hint(run, tmp_path, ranks):
    """What its own calls are said to lack of the captured program, and the versions that said so."""
    bench(run, tmp_path / "0.pattern", ["as-captured"], "--json", tmp_path / "r.jsonl", ranks=ranks, launch=True)
    [record] = map(json.loads, (tmp_path / "r.jsonl").read_text().splitlines())
    lacking = record["effective"].get("lacks_hint")
    assert lacking in (None, "romio_ds_write=disable")
    return lacking is not None, record["manifest"]


@pytest.mark.parametrize("ranks, idle, hint, lacks", [(3, "one", [], True), (3, "all", [], False), (2, "one", [], False),
                                                      (3, "one", ["romio_ds_write", "disable"], False),
                                                      (3, "one", ["romio_cb_write", "enable"], False),
                                                      (3, "one", ["romio_cb_write", "automatic"], True)])
def test_a_program_whose_files_romio_may_damage_is_named(run, captured, tmp_path, ranks, idle, hint, lacks):
    """A rank between others takes part in a collective write with nothing."""
    captured("idle_rank", [tmp_path / "own.h5", idle, *hint], ranks, launch=True)
    said, manifest = lacks_hint(run, tmp_path, ranks)
    unheard = ranks > 2 and idle == "one" and manifest["mpi"].startswith("Open MPI v5")
    assert said == (lacks or unheard)


@pytest.mark.parametrize("line, lacks", [("romio_ds_write disable", False), ("romio_cb_write automatic", True)])
def test_a_file_of_hints_keeps_romio_from_damage(run, captured, tmp_path, monkeypatch, line, lacks):
    captured("idle_rank", [tmp_path / "own.h5", "one"], 3, launch=True)
    (tmp_path / "hints").write_text(f"{line}\n")
    monkeypatch.setenv("ROMIO_HINTS", str(tmp_path / "hints"))
    assert lacks_hint(run, tmp_path, 3)[0] == lacks


@preloads
def test_contents_tell_whether_the_order_of_calls_was_kept(run, captured, tmp_path):
    captured("rewritten", [tmp_path / "own", "next"], 2, launch=True)
    words = ["captured", "--pattern", tmp_path / "0.pattern", "--trials", "1", "--no-bound", "-d", tmp_path / "played"]
    (tmp_path / "played").mkdir()
    # OMPIO writes such blocks without a word between ranks, so a collective call may overtake the one before it; ROMIO exchanges
    # offsets first, which keeps the order.
    done = run("slabmark bench", [*words, "--method", "as-captured,mpiio-independent"], ranks=2,
               env=os.environ | {"OMPI_MCA_io": "^ompio"})
    assert verified(done.stdout) == ["as-captured-mpiio", "mpiio-independent"], done.stdout + done.stderr
    assert "Different ranks write 80 of the elements in different calls" in done.stdout
    lost = run("slabmark bench", [*words, "--method", "as-captured"], ranks=2, env=tampered(TAMPER="skip"))
    assert lost.returncode == 1 and "An earlier call wrote what it holds, so the order of calls was lost." in lost.stderr
    read = run("slabmark bench", [*words, "--method", "as-captured,mpiio-independent", "--read"], ranks=2)
    assert verified(read.stdout) == ["mpiio-independent"], read.stdout + read.stderr
    assert "as-captured-mpiio: not run: the program read nothing" in read.stdout
    crashed = run("slabmark bench", [*words, "--method", "as-captured"], ranks=2, env=tampered(TAMPER="crash"))
    assert crashed.returncode != 0 and "Method as-captured-mpiio (" in crashed.stderr and "was ended by SIGBUS" in crashed.stderr
    assert list((tmp_path / "played").iterdir()) == []


@preloads
@pytest.mark.parametrize("io", ["ompio", "^ompio"])
def test_elements_that_ranks_share_reach_no_mpi_io_that_fails_on_them(run, captured, tmp_path, io):
    captured("rewritten", [tmp_path / "own", "same"], 2, launch=True, OMPI_MCA_io="^ompio")
    printed = bench(run, tmp_path / "0.pattern", ["as-captured", "mpiio-collective", "posix"], "--json", tmp_path / "r.jsonl",
                    ranks=2, launch=True, env=os.environ | {"OMPI_MCA_io": io})
    fails = "collective-overlaps" in json.loads((tmp_path / "r.jsonl").read_text().splitlines()[0])["manifest"]["mpi_io_faults"]
    assert verified(printed) == (["posix"] if fails else ["as-captured-mpiio", "mpiio-collective", "posix"])
    assert printed.count("not run: ranks move the same elements in one collective call, in which OMPIO") == (2 if fails else 0)


@preloads
@needs_pnetcdf
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_wait_in_which_a_rank_has_no_request_is_such_a_write(run, captured, tmp_path, ranks):
    """PnetCDF before 1.15 has it write under a lock, too."""
    library = BIN.parent / "lib/libslabcapture_pnetcdf.so"
    captured("idle_waiter", [tmp_path / "own.nc"], ranks, launch=True, LD_PRELOAD=str(library))
    said, manifest = lacks_hint(run, tmp_path, ranks)
    major, minor = map(int, manifest["libraries"]["pnetcdf"].split(".")[:2])
    assert said == (ranks > 2 and (major, minor) >= (1, 15))


@pytest.mark.parametrize("seed", [2, 3])
def test_random_calls_of_hdf5_made_again_write_the_same_elements(run, captured, tmp_path, seed):
    """Not verified: where an element is written twice, the bench expects what the pattern wrote last."""
    captured("capture_hdf5", [tmp_path / "own.h5", seed, 30, "serial"])
    [played] = play(run, tmp_path, "hdf5", 1, "--no-verify")
    assert structure(played) == structure(tmp_path / "own.h5")


AGAIN = """
import sys
import h5py, numpy

first, second = sys.argv[1:]
with h5py.File(first, "w") as a, h5py.File(second, "w") as b:
    x = a.create_dataset("x", (0, 6), "f8", maxshape=(None, 6), chunks=(1, 6))
    y = b.create_dataset("g/y", (8,), "i4")
    for owner in (b, b["g"], b.create_group("g/h")):
        owner.attrs["numbers"] = numpy.arange(len(owner.name))
    h5py.h5a.create(b.id, b"by_name", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((3,)), obj_name=b"g/h")
    for step in range(3):
        x.resize(step + 1, 0)
        x[step] = numpy.arange(6) + 1
        y[step * 2 : step * 2 + 2] = x[step, :2]
with h5py.File(first, "a") as a:
    a["x"].resize(5, 0)
    a["x"][3:5] = 1
    a.create_dataset("z", (4,), "u2")[1:3] = 7
    del a["z"]
    a.create_dataset("z", (4,), "u2")[1:4] = 7
with h5py.File(second, "r+") as b:
    b["g/y"][6:] = b["g/y"][:2] + 1
    b["g/y"].attrs["number"] = 5
    h5py.h5a.create(b.id, b"late", h5py.h5t.NATIVE_INT32, h5py.h5s.create(h5py.h5s.SCALAR), obj_name=b"g/y")
"""


@preloads
def test_files_of_hdf5_that_are_opened_again_are_made_again_each_as_it_was(run, captured, tmp_path):
    """Two that are open at once; datasets that grow, are read in between, replaced, and get attributes, as groups do."""
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(AGAIN)
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5", tmp_path / "b.h5"])
    played = sorted((structure(path) for path in play(run, tmp_path, "hdf5", 1)), key=str)
    assert played == sorted((structure(tmp_path / name) for name in ("a.h5", "b.h5")), key=str)


OUTSIDE = """
import sys
import h5py

with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("x", (10,), "f8", external=[(sys.argv[2], 0, 80)])[...] = 1
    file.attrs["a"] = 1
    del file.attrs["a"]
    h5py.h5t.STD_I8LE.copy().commit(file.id, b"type")
"""


@preloads
def test_elements_in_files_of_the_program_are_left_alone(run, captured, tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(OUTSIDE)
    _, [events] = captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5", tmp_path / "raw"])
    assert [event["uncaptured"] for event in events if "uncaptured" in event] == ["H5Adelete", "H5Tcommit"]
    before = (tmp_path / "raw").read_bytes()
    assert "lie in files that the program names" in bench(run, tmp_path / "0.pattern", ["as-captured"])
    assert (tmp_path / "raw").read_bytes() == before


RENAMED = """
import os, sys
import h5py

folder, library = sys.argv[1:]
for step in range(3):
    name = f"{folder}/restart.tmp"
    if library == "hdf5":
        with h5py.File(name, "w") as file:
            file.create_dataset("x", (10 - step,), "i4")[...] = 1
    else:
        with open(name, "wb", buffering=0) as file:
            file.write(b"x" * (2000 - step))
    os.rename(name, f"{folder}/restart.{step}")
"""


@preloads
@pytest.mark.parametrize("library", ["hdf5", "posix"])
def test_what_got_another_name_is_another_file_than_what_is_made_under_the_old_one(run, captured, tmp_path, library):
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(RENAMED)
    (tmp_path / "own").mkdir()
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own", library])
    played = play(run, tmp_path, library, 1)
    assert len(played) == 3
    if library == "posix":
        assert sorted(path.stat().st_size for path in played) == [1998, 1999, 2000]


@preloads
@pytest.mark.parametrize("level", ["hdf5", "mpiio"])
def test_what_one_rank_renames_is_another_file_for_all_that_open_it_together(run, refused, captured, tmp_path, level):
    (tmp_path / "own").mkdir()
    _, events = captured("capture_beside", [level, tmp_path / "own/f", tmp_path / "log", 3], 3)
    for of_rank in events:
        files = dict.fromkeys(pathlib.Path(event["file"]).name for event in of_rank if "writes" in event.get("flags", ()))
        assert list(files) == ["f.tmp", "f.tmp (2)", "f.tmp (3)"]
    [played] = play(run, tmp_path, level, 3)  # in a trial there is one of three like steps
    own = [tmp_path / "own/f.0", tmp_path / "own/f.2"]
    if level == "hdf5":
        assert [structure(path) for path in own] == [structure(played)] * 2
    else:
        assert [path.stat().st_size for path in own] == [played.stat().st_size] * 2
    done = run("slabmark bench", ["captured", "--pattern", tmp_path / "0.pattern", "--method", "null", "--trials", "5", "-d", tmp_path])
    assert "has 3 files, each of which is a trial" in refused(done, "slabmark bench")


@preloads
@needs_pnetcdf
def test_what_one_rank_renames_is_another_file_for_all_that_open_it_by_pnetcdf(run, captured, tmp_path):
    (tmp_path / "own").mkdir()
    preloaded = ":".join(map(str, [BIN.parent / "lib/libslabcapture_pnetcdf.so", *LIBRARIES]))
    _, events = captured("captured_steps", [tmp_path / "own/f", 3, "renamed"], 3, LD_PRELOAD=preloaded)
    for of_rank in events:
        files = dict.fromkeys(pathlib.Path(event["file"]).name for event in of_rank if "writes" in event.get("flags", ()))
        assert list(files) == ["f", "f (2)", "f (3)"]
    [played] = play(run, tmp_path, "pnetcdf", 3)
    assert [path.stat().st_size for path in (tmp_path / "own").iterdir()] == [played.stat().st_size] * 3


@preloads
def test_random_calls_of_mpi_io_made_again_are_verified(run, captured, tmp_path):
    captured("capture_mpiio", [tmp_path / "own", 1, 30], ranks=2)
    [played] = play(run, tmp_path, "mpiio", 2)
    assert played.stat().st_size == (tmp_path / "own").stat().st_size


@preloads
@pytest.mark.parametrize("seed", range(2))
def test_random_calls_of_the_c_library_made_again_are_verified(run, captured, tmp_path, seed):
    done, _ = captured("capture_posix", [tmp_path, seed])
    calls = [line.split() for line in done.stdout.splitlines()]
    stream = max(int(first) + int(size) for call, _, first, size in calls if call == "fwrite")  # fprintf is not made again
    played = sorted(path.stat().st_size for path in play(run, tmp_path, "posix", 1))
    assert played == sorted([(tmp_path / "fd").stat().st_size, stream])


OWN_FILES = """
import os, sys

rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"])
together = os.open(sys.argv[1] + "/together", os.O_CREAT | os.O_RDWR, 0o666)
for step in range(2):
    with open(f"{sys.argv[1]}/part.{rank}.{step}", "wb", buffering=0) as own:
        own.write(b"x" * (1000 + 100 * rank + step))
        own.seek(5000 + 10 * rank)
        own.write(b"x" * 10)
    os.pwrite(together, b"y" * 50, 100 * rank + 50 * step)
os.close(together)
"""


@preloads
def test_files_that_each_process_has_for_itself_are_made_again(run, captured, tmp_path):
    (tmp_path / "script.py").write_text(OWN_FILES)
    (tmp_path / "own").mkdir()
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own"], ranks=2)
    played = play(run, tmp_path, "posix", 2)
    sizes = [sorted(path.stat().st_size for path in files) for files in (played, (tmp_path / "own").iterdir())]
    assert sizes[0] == sizes[1]
    assert len(played) == 5


STREAMS = """
import ctypes, os, sys

libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
os.write(file, b"x" * 10)
stream = ctypes.c_void_p(libc.fdopen(file, b"r+"))
libc.fwrite(b"x" * 8, 1, 8, stream)
libc.fflush(stream)
os.write(file, b"x" * 7)
os.posix_fallocate(file, 0, 5000)
libc.fwrite(b"x" * 6, 1, 6, stream)
libc.fclose(stream)
"""


@pytest.mark.fast
@preloads
def test_a_stream_that_is_made_of_a_descriptor_is_played_with_it(run, captured, tmp_path):
    (tmp_path / "script.py").write_text(STREAMS)
    captured(sys.executable, ["-B", tmp_path / "script.py", tmp_path / "own"], SLABMARK_CAPTURE_POSIX="on")
    [played] = play(run, tmp_path, "posix", 1)
    assert played.stat().st_size == (tmp_path / "own").stat().st_size == 5000
