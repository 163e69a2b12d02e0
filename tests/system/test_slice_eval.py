"""slice_eval: what its files hold, against NumPy slicing; its report; and what it says to wrong input."""

import json
import math
import os
import random
import re

import h5py
import netCDF4
import numpy as np
import pytest
from conftest import as_vtk_reads, long

pytestmark = pytest.mark.long

LIBRARY = "append,append-one,append-ranks,append-async,files,files-one,files-ranks,files-async"


def evaluate(run, folder, *args, ranks=4, outputs=3, **more):
    return run("slice_eval", ["-o", folder, "--sweep", "0", "--outputs", outputs, *args], ranks=ranks, **more)


def field(points, number, time):
    """The whole field f<number> at a time, as docs/reference/slice_eval.md defines it; axes z, y, x."""
    z, y, x = np.meshgrid(*(np.arange(n, dtype="f8") for n in reversed(points)), indexing="ij")
    return number * 1e12 + z * 1e8 + y * 1e4 + x + time


def factors(ranks, points):
    """A random grid of processes."""
    while True:
        p = [random.randint(1, ranks), random.randint(1, ranks), random.randint(1, ranks)]
        if p[0] * p[1] * p[2] == ranks and all(a <= b for a, b in zip(p, points)):
            return p


@pytest.mark.fast
@pytest.mark.parametrize("seed", [0, *map(long, range(1, 8))])
def test_files_hold_what_numpy_slices(run, tmp_path, seed):
    random.seed(seed)
    points = [random.randint(4, 40) for _ in range(3)]
    ranks = random.choice([1, 2, 3, 4])
    processes = factors(ranks, points)
    axis = random.randrange(3)
    position = random.randrange(points[axis])
    stride = [random.randint(1, n) for n in points]
    kind = random.choice(["float32", "float64"])
    done = evaluate(run, tmp_path, "--grid", ",".join(map(str, points)), "--stride", ",".join(map(str, stride)),
                    "--processes", ",".join(map(str, processes)), "--halo", random.randint(0, 3), "--type", kind,
                    "--plane", f"{'xyz'[axis]}={position}", "--fields", "2", "--compute-between", "--keep",
                    "-m", LIBRARY, ranks=ranks)
    assert done.returncode == 0, done.stderr
    cut = [slice(None, None, s) for s in stride]
    cut[axis] = slice(position, position + 1)
    files = 0
    for path in tmp_path.glob("*_strided_*.vtkhdf"):
        with h5py.File(path) as file:
            for number in range(2):
                data = file[f"VTKHDF/PointData/f{number}"]
                assert data.dtype == kind.replace("float", "<f").replace("32", "4").replace("64", "8")
                times = file["time"][:]
                for i, time in enumerate(times):
                    expected = field(points, number, time)[tuple(reversed(cut))].squeeze().astype(data.dtype)
                    found = data[i] if "append" in path.name else data[()]
                    np.testing.assert_array_equal(found, expected)
        files += 1
    assert files == 4 + 4 * 4, "four appended, and four times an output each with the warm-up"


@pytest.fixture(scope="module")
def kept(run, tmp_path_factory):
    """Files of a plane of 23 x 14 x 12 points, z=6, stride 5,2, of three outputs and a warm-up."""
    folder = tmp_path_factory.mktemp("kept")
    done = evaluate(run, folder, "--grid", "23,14,12", "--stride", "5,2,1", "--plane", "z=6", "--compute-between",
                    "--keep", "-m", "append,files", ranks=2)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_steps_that_are_kept_have_times_of_their_own_whether_it_computes_or_not(run, tmp_path):
    done = evaluate(run, tmp_path, "--grid", "24,20,12", "--keep", "-m", "append,files", ranks=2, outputs=4)
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "slice_eval_append_plain_z6.vtkhdf") as file:
        assert list(file["time"][:]) == [0, 1, 2, 3, 4]
    with h5py.File(tmp_path / "slice_eval_files_plain_z6_000003.vtkhdf") as file:
        assert file["time"][()] == 3 and file["VTKHDF/PointData/f0"][1, 1] == 6e8 + 1e4 + 1


@pytest.mark.fast
def test_files_say_where_their_points_lie(kept):
    for name in ("append_strided_z6", "files_strided_z6_000002"):
        with h5py.File(kept / f"slice_eval_{name}.vtkhdf") as file:
            notes = file.attrs
            assert list(notes["grid"]) == [23, 14, 12]
            assert list(notes["stride"]) == [5, 2, 1]
            assert list(notes["begin"]) == [0, 0, 6]
            assert notes["plane_normal"] == b"z" and notes["plane_position"] == 6
            assert notes["fields"] == b"f0"
            assert list(file["VTKHDF"].attrs["Spacing"]) == [5, 2, 1]
            assert list(file["VTKHDF"].attrs["Origin"]) == [0, 0, 6]


def test_appended_files_have_dimensions_with_coordinates_as_netcdf_and_xarray_read_them(kept):
    with netCDF4.Dataset(kept / "slice_eval_append_strided_z6.vtkhdf") as file:
        data = file["VTKHDF/PointData/f0"]
        assert data.dimensions == ("time", "y", "x")
        assert list(file["x"][:]) == [0, 5, 10, 15, 20]
        assert list(file["y"][:]) == [0, 2, 4, 6, 8, 10, 12]
        assert len(file["time"][:]) == 4


def test_xarray_opens_the_time_series_with_its_coordinates(kept):
    xarray = pytest.importorskip("xarray", reason="xarray is not there; `setup/python-env tests` brings it")
    path = kept / "slice_eval_append_strided_z6.vtkhdf"
    with h5py.File(path) as file:
        due, times = file["VTKHDF/PointData/f0"][()], file["time"][:]
    with xarray.open_datatree(path, engine="netcdf4") as tree:
        data = tree["VTKHDF/PointData/f0"]
        assert data.dims == ("time", "y", "x") and np.array_equal(data.values, due)
        assert list(data["time"]) == list(times) and list(data["x"]) == [0, 5, 10, 15, 20]
        assert np.array_equal(data.sel(time=times[2], x=10, y=4).values, due[2, 2, 2])
    with xarray.open_dataset(path, group="VTKHDF/PointData", engine="netcdf4") as group:
        assert group["f0"].dims == ("time", "y", "x")


@pytest.mark.parametrize("grid, plane, origin, points", [
    ("23,14,12", "x=6", (6, 0, 0), (1, 7, 12)), ("23,14,12", "y=6", (0, 6, 0), (5, 1, 12)),
    ("23,14,12", "z=6", (0, 0, 6), (5, 7, 1)), ("23,14,1", "z=0", (0, 0, 0), (5, 7, 1))])
def test_vtk_reads_planes_of_every_axis_and_of_a_flat_grid_and_their_times(run, tmp_path, grid, plane, origin, points):
    done = evaluate(run, tmp_path, "--grid", grid, "--stride", "5,2,1", "--plane", plane, "--compute-between", "--keep",
                    "-m", "append,files", ranks=2)
    assert done.returncode == 0, done.stderr
    name = plane.replace("=", "")
    spacing = tuple(stride if n > 1 else 1 for stride, n in zip((5, 2, 1), points))
    for kind in (f"append_strided_{name}", f"files_strided_{name}_000002"):
        path = tmp_path / f"slice_eval_{kind}.vtkhdf"
        with h5py.File(path) as file:
            due = file["VTKHDF/PointData/f0"][()].reshape(-1, math.prod(points))
            times = file["time"][:]
        images = as_vtk_reads(path, "f0")
        assert len(images) == len(times)
        for (image, time, values), due_time, due_values in zip(images, times, due):
            assert image.GetDimensions() == points
            assert image.GetSpacing() == spacing and image.GetOrigin() == origin
            assert list(values) == list(due_values)
            assert time == (due_time if len(times) > 1 else 0)


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_files_are_hardly_larger_than_their_data(run, tmp_path):
    done = evaluate(run, tmp_path, "--preset", "seed-180b", "-m", "append,append-ranks,files",
                    "--json", tmp_path / "records", ranks=2, outputs=14)
    assert done.returncode == 0, done.stderr
    for record in records(tmp_path / "records"):
        found = record["effective"]
        beyond = found["file_bytes"] - found["data_bytes"]
        if record["method"] == "files":
            assert beyond <= 8192 * found["outputs"], record
        else:
            assert beyond <= 0.02 * found["data_bytes"], record


@pytest.mark.parametrize("plane", ["x", "y", "z"])
def test_each_rank_issues_at_most_one_write_an_output(run, tmp_path, plane):
    """Counted by the kernel (/proc/self/io), MPI's own writes among them."""
    done = evaluate(run, tmp_path, "--preset", "seed-180b", "--plane", plane, "--fields", "3",
                    "-m", "append,append-ranks,files", "--json", tmp_path / "records", ranks=2, outputs=9)
    assert done.returncode == 0, done.stderr
    found = records(tmp_path / "records")
    assert len(found) == 6
    for record in found:
        # Waking another process may cost MPI a write now and then; a row a request would be 85 and more.
        assert record["effective"]["write_calls_busiest_rank"] < 2, record


def test_a_record_a_row_tells_every_output_and_its_parts(run, tmp_path):
    path = tmp_path / "records"
    done = evaluate(run, tmp_path, "--grid", "24,20,12", "--stride", "2,2,1", "--regular", "2", "--compute-between",
                    "-m", "append,copy-plane,gatherv,hdf5-union", "--json", path, ranks=2, outputs=6)
    assert done.returncode == 0, done.stderr
    found = records(path)
    strides = {(r["method"], r["pattern"]["settings"]["stride"]) for r in found if r["pattern"]["name"] == "slice output"}
    assert {r["pattern"]["settings"].get("files") for r in found} == {"appended", None}
    assert strides == {("append", "1,1,1"), ("append", "2,2,1"), ("copy-plane", "2,2,1"), ("gatherv", "1,1,1"),
                       ("gatherv", "2,2,1"), ("hdf5-union", "1,1,1"), ("hdf5-union", "2,2,1")}
    regular = [r for r in found if r["pattern"]["name"] == "slice"]
    assert len(regular) == 1 and regular[0]["pattern"]["bytes"] == 8 * 24 * 20 * 12
    for record in found:
        assert record["manifest"]["program"]["name"] == "slice_eval" and record["manifest"]["ended"]
        if record["method"] != "gatherv":
            assert record["verified"]["state"] == "yes"
        if record in regular:
            continue
        assert [trial["warm_up"] for trial in record["trials"]] == [True] + [False] * 6
        for trial in record["trials"]:
            assert set(trial["phases"]) == {"post", "flush"}
            assert trial["open_to_close"] >= trial["phases"]["post"]["seconds"] > 0
            if record["method"] != "hdf5-union":
                assert set(trial["spans"]) == {f"post.{part}" for part in ("gather", "exchange", "write", "agree", "grow")}
        assert set(record["once"]["phases"]) == {"create", "define", "prepare", "close"}
        assert record["pattern"]["settings"]["planes"] == "z=6"
        assert record["settings"]["options"]["slice_eval.computations"] == "1"
        [limit] = record["bounds"] or [None]
        assert (limit is None) == (record["method"] == "gatherv")
        assert not limit or limit["bytes"] == record["pattern"]["bytes"]


def test_regular_output_has_the_outer_halos_if_asked(run, tmp_path):
    path = tmp_path / "records"
    done = evaluate(run, tmp_path, "--grid", "24,20,12", "--halo", "3", "--regular", "1", "--with-halos", "-m", "append",
                    "--json", path, ranks=4)
    assert done.returncode == 0, done.stderr
    regular = records(path)[0]
    assert regular["pattern"]["bytes"] == 8 * 30 * 26 * 18
    assert regular["verified"] == regular["verified"] | {"state": "yes", "elements": 30 * 26 * 18}
    assert re.search(r"^regular +\+halos ", done.stdout, re.M)


def test_compares_all_ways_and_says_which_are_left_out(run, tmp_path):
    done = evaluate(run, tmp_path, "--grid", "24,20,12", "--stride", "2,2,1", "--threads", "2", "--regular", "1",
                    "-m", "append,copy-plane,copy-field,gatherv,hdf5-union", "--set", "hdf5.collective=off", ranks=2)
    assert done.returncode == 0, done.stderr
    for method in ("regular", "append", "copy-plane", "copy-field", "gatherv", "hdf5-union"):
        assert re.search(rf"^{method} ", done.stdout, re.M), method
    assert done.stdout.count("verified") == 2 + 1 + 1 + 2
    assert list(tmp_path.iterdir()) == [], "the files are removed"
    done = evaluate(run, tmp_path, "--grid", "16,20,12", "--stride", "3,2,1", "-m", "copy-plane", ranks=4)
    assert "left out: the stride does not leave equal blocks" in done.stdout


@pytest.mark.fast
def test_the_limits_of_gathering_read_as_many_lines_and_write_nothing(run, tmp_path):
    path = tmp_path / "records"
    done = evaluate(run, tmp_path, "--grid", "16,8,4", "--halo", "0", "--stride", "2,2,1", "--keep",
                    "-m", "append-one,touch,read", "--json", path, ranks=1)
    assert done.returncode == 0, done.stderr
    moved = {(r["method"], r["pattern"]["settings"]["stride"]): r["effective"]["bytes_touched"] for r in records(path)}
    for stride, of_field, of_buffer in (("1,1,1", 8 * 128, 8 * 128), ("2,2,1", 4 * 128, 4 * 64)):
        assert moved["append-one", stride] == of_field
        # Each has a buffer of its own, which may begin within a line.
        for method in ("touch", "read"):
            assert moved[method, stride] in (of_field + of_buffer, of_field + of_buffer + 64), method
    assert {file.name for file in tmp_path.iterdir()} == {"records", "slice_eval_append-one_plain_z2.vtkhdf",
                                                          "slice_eval_append-one_strided_z2.vtkhdf"}


@pytest.mark.parametrize("name, text", [("seed-180", "180 x 190 x 150"), ("seed-180b", "180 x 170 x 150")])
def test_presets_are_the_grids_of_the_study(run, tmp_path, name, text):
    done = evaluate(run, tmp_path, "--preset", name, "-m", "append", "--every", "2", ranks=2)
    assert done.returncode == 0, done.stderr
    assert text in done.stdout and "stride 2 x 2 x 1" in done.stdout


# Found before MPI starts, and by all ranks afterwards. tests/programs has the other sentences.
@pytest.mark.parametrize("args, culprit, ranks", [(["--plane", "w"], "--plane", 1), (["--plane", "w"], "--plane", 4),
                                                  (["--stride", "1,12,1"], "along y", 4)])
def test_wrong_input_is_one_sentence_and_status_2(run, refused, tmp_path, args, culprit, ranks):
    done = run("slice_eval", ["-o", tmp_path, "--grid", "13,11,9", *args], ranks=ranks)
    assert culprit in refused(done, "slice_eval")
    assert not done.stdout and list(tmp_path.iterdir()) == []


@pytest.mark.fast
def test_a_gpu_that_is_not_there_is_one_sentence_and_status_2(run, refused, tmp_path):
    done = evaluate(run, tmp_path, "--grid", "13,11,9", "--device", "cuda", "-m", "append", ranks=2)
    if done.returncode == 0:
        assert "from the GPU" in done.stdout
        return
    assert "keep the fields in host memory" in refused(done, "slice_eval")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ranks", [1, 4])
def test_an_existing_file_stays_as_it_is(run, refused, tmp_path, ranks):
    path = tmp_path / "slice_eval_append_plain_z4.vtkhdf"
    path.write_text("mine")
    done = evaluate(run, tmp_path, "--grid", "13,11,9", "-m", "append", ranks=ranks)
    assert "exists already" in refused(done, "slice_eval")
    assert path.read_text() == "mine" and os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("method", ["append", "append-async", "files-async"])
def test_a_full_disk_ends_the_run_without_figures(run, sentence, tmp_path, file_size_limit, method):
    done = run("slice_eval", ["-o", tmp_path, "--sweep", "0", "--grid", "1100,1000,3", "--stride", "1,1,1", "-m", method,
                              "--no-verify", "--waiting", "2"], ranks=2, preexec_fn=file_size_limit)
    assert done.returncode == 1, done.stdout
    assert "ulimit -f" in sentence(done, "slice_eval")
    assert "median" not in done.stdout
    assert list(tmp_path.iterdir()) == []
