"""What captured programs move is moved by all methods, and what cannot be moved so is said."""

import json
import re
import sys

import pytest
from capturing import bench, play, preloads, verified
from conftest import WITHOUT_PNETCDF, needs_pnetcdf
from test_slablog_layouts import h5py_of_the_connector

pytestmark = pytest.mark.long


@pytest.mark.fast
def test_a_captured_program_is_played_without_a_word_of_hdf5(run, captured, tmp_path):
    """The pattern file is closed before MPI ends, and HDF5 with it."""
    captured("scattered", [tmp_path / "own.h5", 10, 4, 2], launch=True)
    assert verified(bench(run, tmp_path / "0.pattern", ["hdf5-union", "posix"])) == ["hdf5-union", "posix"]


KINDS = """
import sys
import h5py, numpy

path, reads = sys.argv[1:]
point = numpy.dtype([("id", "i4"), ("x", ">f8", (3,)), ("kind", "S3")], align=True)
kinds = {"compound": point, "nested": numpy.dtype([("p", point), ("ok", "?")]), "complex": "c16", "bool": "?",
         "enum": h5py.enum_dtype({"red": 3, "green": 7}, basetype="u2"), "big": ">i4", "big_real": ">f4", "half": "f2",
         "opaque": "V5", "text": "S6", "letter": "S1"}
with h5py.File(path, "r" if reads else "w") as file:
    for name, kind in kinds.items():
        if reads:
            file[name][1:7, 2:5], file[name][0, ::2], file[name + "_grown"][1], file[name + "_one"][()]
            continue
        fixed = file.create_dataset(name, (9, 6), kind)
        fixed[1:7, 2:5] = numpy.zeros((6, 3), fixed.dtype)
        fixed[0, ::2] = numpy.zeros(3, fixed.dtype)
        grown = file.create_dataset(name + "_grown", (0, 6), kind, maxshape=(None, 6), chunks=(2, 4), compression=1)
        for step in range(3):
            grown.resize(step + 1, 0)
            grown[step, :] = numpy.zeros(6, grown.dtype)
        file.create_dataset(name + "_one", (), kind)[()] = numpy.zeros((), fixed.dtype)
    if not reads:  # 12 of 16 bits
        few = h5py.h5t.STD_I16LE.copy()
        few.set_precision(12)
        h5py.h5d.create(file.id, b"few_bits", few, h5py.h5s.create_simple((8,))).write(
            h5py.h5s.ALL, h5py.h5s.ALL, numpy.zeros(8, "i2"))
"""


@preloads
def test_elements_of_any_fixed_type_are_played_by_the_program_s_own_calls_and_others(run, captured, tmp_path):
    """The program's own calls make the program's types; what others write, and what is read, has a dimension of bytes."""
    h5py = pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(KINDS)
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own.h5", ""])
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own.h5", "reads"])
    [played] = play(run, tmp_path, "hdf5", 1)
    with h5py.File(played) as made, h5py.File(tmp_path / "own.h5") as own:
        assert {name: made[name].id.get_type() for name in made} == {name: own[name].id.get_type() for name in own}
    methods = ["hdf5-union", "hdf5-rearranged"]
    for pattern, more in (("0.pattern", []), ("1.pattern", ["--read"])):
        printed = bench(run, tmp_path / pattern, ["as-captured", *methods], *more)
        assert verified(printed) == ["as-captured-hdf5", *methods], printed


MOVED_AGAIN = """
import sys
import h5py, numpy

path, reads = sys.argv[1:]
point = numpy.dtype([("id", "i4"), ("x", "f8")])
with h5py.File(path, "r" if reads else "w") as file:
    def move(name, shape, kind, *selections):
        dataset = file[name] if reads else file.create_dataset(name, shape, kind)
        for selection in selections:
            if reads:
                dataset[selection]
            else:
                dataset[selection] = numpy.zeros(1, dataset.dtype)[0]
    move("whole_and_part", (9, 6), "f4", numpy.s_[...], numpy.s_[2:4, ::3])
    move("backwards", (9, 6), "f4", numpy.s_[5:9, 1:4], numpy.s_[2:7, 2:6], numpy.s_[0, ::2])
    move("one", (), "i4", (), ())
    move("points", (20,), point, numpy.s_[12:18], numpy.s_[3:14])
    if not reads:
        file["points"][3:7, "x"] = numpy.ones(4)
"""


@preloads
def test_elements_that_are_moved_again_in_a_round_are_moved_once_by_other_methods(run, captured, tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(MOVED_AGAIN)
    methods = ["hdf5-union", "hdf5-slab", "hdf5-rearranged", "mpiio-independent", "mpiio-rearranged", "posix"]
    for pattern, more in (("0.pattern", []), ("1.pattern", ["--read"])):
        captured(sys.executable, [tmp_path / "script.py", tmp_path / "own.h5", "reads" if more else ""])
        printed = bench(run, tmp_path / pattern, ["as-captured", *methods], *more)
        assert verified(printed) == ["as-captured-hdf5", *methods], printed
        assert "some elements more than once in a round" in printed
        elements = 54 * 4 + (12 + 20 - 4 + 3) * 4 + 4 + 15 * 12
        assert f"{elements} B per trial" in printed, printed


MOVED_BY_ALL = """
import sys
import h5py, numpy
from mpi4py import MPI

rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
with h5py.File(sys.argv[1], "w", driver="mpio", comm=MPI.COMM_WORLD) as file:
    file["time"] = 3.5
    file["levels"] = numpy.arange(30.0)
    rows = slice(4 * rank, 4 * rank + 6)  # two of them are of the next rank, too
    file.create_dataset("halo", (4 * ranks + 2, 6), "f4")[rows] = 1
    packed = file.create_dataset("packed", (4 * ranks + 2, 6), "f4", chunks=(3, 6), compression="gzip")
    with packed.collective:
        packed[rows] = numpy.ones((6, 6), "f4")
"""


@preloads
def test_elements_that_several_ranks_write_are_written_by_all_methods(run, captured, tmp_path, monkeypatch):
    """Through ROMIO: OMPIO is not given them in the versions that fail there (test_capture_played.py)."""
    monkeypatch.setenv("OMPI_MCA_io", "^ompio")
    (tmp_path / "script.py").write_text(MOVED_BY_ALL)
    captured(h5py_of_the_connector(), [tmp_path / "script.py", tmp_path / "own.h5"], 3)
    methods = ["hdf5-union", "hdf5-log", "hdf5-rearranged", "mpiio-independent", "mpiio-rearranged", "posix"]
    if not WITHOUT_PNETCDF:
        methods.append("pnetcdf-rearranged")
    for ranks in (2, 3, 4):
        own = ["as-captured"] if ranks == 3 else []
        printed = bench(run, tmp_path / "0.pattern", own + methods, ranks=ranks, launch=True)
        assert verified(printed) == [f"{name}-hdf5" for name in own] + methods, printed


EACH_FOR_ITSELF = """
import os, sys, time
import h5py

rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"])
path = sys.argv[1]
deadline = time.monotonic() + 50
if rank == 0:
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (20,), "i4")[:10] = 1
    os.mkdir(path + ".made")
else:
    while not os.path.exists(path + ".made") and time.monotonic() < deadline:
        time.sleep(0.02)
    with h5py.File(path, "r+") as file:
        file["x"][10:] = 1
"""


@preloads
def test_a_file_that_one_rank_makes_for_another_by_itself_is_a_row_of_the_table(run, captured, tmp_path):
    """The program has its own way of saying when it is there, which a pattern does not have."""
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(EACH_FOR_ITSELF)
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own.h5"], ranks=2)
    printed = bench(run, tmp_path / "0.pattern", ["as-captured", "hdf5-union"], ranks=2)
    assert "own.h5' by itself, which another one had made" in printed and verified(printed) == ["hdf5-union"], printed


LINKED = """
import sys
import h5py

with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("x", (10,), "i4")[...] = 1
    if sys.argv[2] == "anew":
        del file["x"]
        file.create_dataset("x", (12,), "i4")[...] = 1
    elif sys.argv[2] == "lengths":
        file.create_dataset("v", (2,), h5py.vlen_dtype("i4"))[0] = [1, 2, 3]
    elif sys.argv[2] == "texts":
        file.create_dataset("v", (2,), [("n", "i4"), ("text", h5py.string_dtype())])[0] = (1, "a")
    elif sys.argv[2] == "cut":
        cut = file.create_dataset("c", (10,), "i4", maxshape=(None,), chunks=(5,))
        cut[2:9] = 1
        cut.resize((8,))
    else:
        file["l"] = h5py.SoftLink("/x")
        file["l"][...] = 2
"""


@preloads
@pytest.mark.parametrize("way, words", [("anew", "dataset 'x' was made anew, with another shape or type"),
                                        ("lengths", "the elements of dataset '/v' are of variable length"),
                                        ("texts", "the elements of dataset '/v' are of variable length"),
                                        ("cut", "wrote elements of dataset '/c' and cut them off afterwards"),
                                        ("linked", "opened dataset '/l', which it did not make under that name")])
def test_datasets_that_cannot_be_made_again_are_a_row_of_the_table_beside_others(run, captured, tmp_path, way, words):
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(LINKED)
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5", way])
    printed = bench(run, tmp_path / "0.pattern", ["as-captured", "hdf5-union"])
    assert words in printed and verified(printed) == ["hdf5-union"], printed
    assert ("The elements of 'v' hold addresses" in printed) == (way in ("lengths", "texts"))


WITH_NOTHING = """
import sys
import h5py, numpy

with h5py.File(sys.argv[1], "w") as file:
    file["two\\nlines"] = numpy.arange(5)
    for name, space in ((b"empty", h5py.h5s.create_simple((0,))), (b"null", h5py.h5s.create(h5py.h5s.NULL))):
        h5py.h5d.create(file.id, name, h5py.h5t.NATIVE_INT32, space).write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.zeros(1, "i4"))
    points = file.create_dataset("points", (4, 6), "i4")
    space, memory = points.id.get_space(), h5py.h5s.create_simple((9,))
    space.select_elements([(3, 1), (0, 5), (2, 2)])
    memory.select_elements([(8,), (0,), (4,)])
    points.id.write(memory, space, numpy.arange(9, dtype="i4"))
    trimmed = file.create_dataset("trimmed", (10,), "i4", maxshape=(None,), chunks=(5,))
    trimmed[:7] = 1
    trimmed.resize((7,))
"""


@preloads
def test_points_in_any_order_datasets_without_elements_names_of_two_lines_and_trimmed_ends_are_played(run, captured, tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(WITH_NOTHING)
    _, [events] = captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5"])
    assert ["nothing"] == [event["selection"] for event in events if event.get("dataset") == "/null" and "selection" in event]
    assert [[3]] == [event["arguments"] for event in events if event.get("dataset") == "/points" and "writes" in event["flags"]]
    printed = bench(run, tmp_path / "0.pattern", ["as-captured", "hdf5-union", *([] if WITHOUT_PNETCDF else ["pnetcdf-varn"])])
    assert verified(printed) == ["as-captured-hdf5", "hdf5-union"], printed
    assert ("pnetcdf-varn: not run" in printed) == (not WITHOUT_PNETCDF)
    assert run("slabmark decomp", ["info", tmp_path / "0.pattern"]).returncode == 0


OWN_DATASETS = """
import os, sys
import h5py

rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"])
for step in range(2):
    with h5py.File(f"{sys.argv[1]}/part.{rank}.{step}.h5", "w") as own, h5py.File(f"{sys.argv[1]}/more.{rank}.{step}.h5", "w") as more:
        if rank == 1:
            own.create_dataset("y", (5,), "i4")[1:] = 1
            continue
        own.create_dataset("x", (12,), "i4")[rank:10] = 1
        more.create_dataset("x", (12,), "i4")[...] = 1
        own.create_dataset("g/x", (12,), "i4")[::2] = 1
"""


@preloads
def test_the_map_of_files_that_each_rank_has_for_itself_has_them_beside_each_other(run, captured, tmp_path):
    """What the first file of a rank holds is owned by that rank alone."""
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(OWN_DATASETS)
    captured(sys.executable, [tmp_path / "script.py", tmp_path], ranks=4)
    for ranks in (1, 2, 3):
        done = run("slabmark decomp", ["info", tmp_path / "0.pattern", "--json", "-"], ranks=ranks)
        assert done.returncode == 0, done.stderr
        described = json.loads(done.stdout)
        maps = dict(zip(re.findall(r"D\d is (/[^,)]*)", described["layout"]), described["maps"]))
        assert maps.keys() == {"/x of 3 files", "/g/x of 3 files", "/y"}, described["layout"]
        assert [(one["recorded_ranks"], one["owned_by_several"]) for one in maps.values()] == [(4, 0)] * 3
        first, second, third = (maps[name] for name in ("/x of 3 files", "/g/x of 3 files", "/y"))
        assert [(one["dims"], one["owned"]) for one in (first, second, third)] == [([3, 12], 10 + 8 + 7), ([3, 12], 18), ([5], 4)]
        assert first["elements_per_rank"]["max"] == 10


GROUPS = """
import sys
import h5py

with h5py.File(sys.argv[1], "w") as file:
    for n, name in enumerate(("g/x", "g.x", "g/h/x", "x", "g.h/x"), 1):
        file.create_dataset(name, (10 * n,), "i4")[n:] = 1
"""


@preloads
@needs_pnetcdf
def test_methods_of_pnetcdf_move_the_datasets_of_groups(run, captured, tmp_path):
    """NetCDF's classic formats have no groups, and none of two names becomes the other."""
    pytest.importorskip("h5py")
    netcdf = pytest.importorskip("netCDF4")
    (tmp_path / "script.py").write_text(GROUPS)
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own.h5"])
    methods = ["pnetcdf-varn", "pnetcdf-vara", "pnetcdf-rearranged"]
    for more in ("--read", "--keep"):
        printed = bench(run, tmp_path / "0.pattern", methods, more)
        assert verified(printed) == methods, printed
    for method in methods:
        with netcdf.Dataset(tmp_path / f"slabmark-{method}.nc") as file:
            lengths = {name: variable.shape for name, variable in file.variables.items()}
        assert lengths == {"g.x_": (10,), "g.x": (20,), "g.h.x": (30,), "x": (40,), "g.h.x_": (50,)}
