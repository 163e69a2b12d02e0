"""slabmark bench slice: planes and boxes of a field through any method."""

import json
import re

import h5py
import pytest
from conftest import long

pytestmark = pytest.mark.long

FIELD = ["--grid", "13,11,9", "--halo", "2"]


def bench(run, tmp_path, *args, ranks=4, **more):
    return run("slabmark bench", ["slice", "-d", tmp_path, "--no-bound", "--trials", "1", *args], ranks=ranks, **more)


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), 4])
@pytest.mark.parametrize("direction", [[], ["--read"]])
def test_strided_planes_of_each_orientation_through_many_methods(run, tmp_path, ranks, direction, has_vard):
    methods = ["posix", "mpiio-independent", "mpiio-collective", "hdf5-slab", "hdf5-union"] + ["pnetcdf-vard"] * has_vard
    done = bench(run, tmp_path, *FIELD, "--plane", "x=12", "--plane", "y=0", "--plane", "z=4", "--stride", "3,2,2",
                 "--variables", "2", "--steps", "2", "--method", ",".join(methods), *direction, ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes") == len(methods)


@pytest.mark.parametrize("ranks", [1, 4])
def test_the_slice_library_runs_as_methods_beside_the_others(run, tmp_path, ranks):
    methods = ["append", "append-async", "files", "files-ranks", "hdf5-union"]
    done = bench(run, tmp_path, *FIELD, "--plane", "x=12", "--plane", "z=4", "--stride", "3,2,2", "--variables", "2", "--steps",
                 "3", "--method", ",".join([*methods, "gatherv"]), "--keep", ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes") == len(methods)
    kept = {path.name for path in tmp_path.iterdir()}
    assert {"slabmark-append_x12.vtkhdf", "slabmark-append_z4.vtkhdf", "slabmark-files_z4_000002.vtkhdf"} <= kept
    done = bench(run, tmp_path, *FIELD, "--plane", "z=4", "--method", "append", ranks=ranks)
    assert done.returncode == 2 and "exists already" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_processes_are_along_axes_that_have_points_for_them(run, tmp_path):
    done = bench(run, tmp_path, "--grid", "1,1,50", "--method", "posix")
    assert done.returncode == 0 and done.stdout.count(" yes") == 1, done.stderr


def test_the_file_has_the_points_that_the_stride_keeps(run, tmp_path):
    done = bench(run, tmp_path, *FIELD, "--plane", "z=4", "--stride", "5,5,1", "--range", "x=1:12", "--method",
                 "hdf5-union", "--keep")
    assert done.returncode == 0, done.stderr
    [path] = tmp_path.glob("*.h5")
    with h5py.File(path) as file:
        assert list(file) == ["f0_z4"]
        assert file["f0_z4"].shape == (3, 3)


@pytest.mark.parametrize("ranks", [1, 4])
def test_the_halos_at_the_outer_faces_are_written_if_asked(run, tmp_path, ranks):
    path = tmp_path / "records.jsonl"
    done = bench(run, tmp_path, *FIELD, "--with-halos", "--stride", "2,1,1", "--method", "mpiio-collective,hdf5-union",
                 "--json", path, ranks=ranks)
    assert done.returncode == 0, done.stderr
    for record in map(json.loads, path.read_text().splitlines()):
        assert record["verified"]["elements"] == 9 * 15 * 13  # of 17 x 15 x 13
        assert record["pattern"]["settings"]["halos_kept"] == "outer"


@pytest.mark.fast
def test_the_record_says_what_was_sliced(run, tmp_path):
    path = tmp_path / "records.jsonl"
    done = bench(run, tmp_path, *FIELD, "--plane", "z=4", "--stride", "5,5,1", "--grid-of-ranks", "2,2,1", "--method",
                 "posix", "--json", path)
    assert done.returncode == 0, done.stderr
    pattern = json.loads(path.read_text())["pattern"]
    assert pattern["bytes"] == 8 * 3 * 3
    assert pattern["settings"]["processes"] == "2,2,1"
    assert pattern["settings"]["planes"] == "z=4"


def test_wrong_input_is_one_sentence_and_status_2(run, refused, tmp_path):
    """tests/programs has the sentences of other mistakes."""
    done = bench(run, tmp_path, *FIELD, "--method", "posix", "--grid-of-ranks", "3,1,1", ranks=4)
    assert "3 x 1 x 1" in refused(done, "slabmark bench")
    assert re.search(r"\d MiB/s", done.stdout) is None
    assert list(tmp_path.iterdir()) == []
