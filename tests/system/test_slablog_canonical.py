"""slabmark log canonical: what a log file holds, as an ordinary file."""

import os
import shutil

import pytest

h5py = pytest.importorskip("h5py")
import numpy  # noqa: E402  (h5py brings it)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def log(write_log, tmp_path_factory):
    """A log file with the dataset /d of 300 int32, which count from 0, and around it all that HDF5 knows."""
    path = tmp_path_factory.mktemp("log") / "a.h5"
    write_log(path, 3).check_returncode()
    with h5py.File(path, "r+", libver=("earliest", "v110")) as file:
        d = file["d"]
        file.attrs["title"] = "räume"
        d.attrs["units"] = numpy.float32(2.5)
        group = file.create_group("ocean", track_order=True)
        group.attrs["words"] = ["one", "two"]
        for name in ("z", "a", "m"):
            group[name] = numpy.arange(4)
        group["a"].attrs["target"] = d.ref
        file["packed"] = numpy.zeros((64, 64))
        del file["packed"]
        file.create_dataset("packed", data=numpy.arange(4096.0), chunks=(256,), compression="gzip", maxshape=(None,))
        file["words"] = ["log", "layout"]
        file["kind"] = numpy.dtype([("x", "<i4"), ("y", "<f8")])
        file.create_dataset("typed", (3,), dtype=file["kind"])
        d.attrs.create("typed", numpy.array((1, 2.0), dtype=file["kind"].dtype), dtype=file["kind"])
        file["same"] = d
        file["ocean/deep"] = file["ocean"]
        file["soft"] = h5py.SoftLink("/ocean/z")
        file["hanging"] = h5py.SoftLink("/nowhere")
        file["outside"] = h5py.ExternalLink("other.h5", "/there")
        file["ocean/x"] = numpy.arange(300)
        file["ocean/x"].make_scale("x")
        d.dims[0].attach_scale(file["ocean/x"])
        references = file.create_dataset("references", (3,), dtype=h5py.ref_dtype)
        references[0], references[1] = d.ref, file["ocean"].ref
        regions = file.create_dataset("regions", (1,), dtype=h5py.regionref_dtype)
        regions[0] = d.regionref[5:8]
        file["nothing"] = h5py.Empty("f4")
        file["ocean"].attrs["empty"] = h5py.Empty("i2")
    return path


@pytest.fixture(params=[1, 2, 4, 7])
def converted(request, run, log, tmp_path):
    done = run("slabmark log canonical", [log, tmp_path / "b.h5"], ranks=request.param)
    assert done.returncode == 0, done.stderr
    assert "1 datasets, 1200 bytes" in done.stdout
    with h5py.File(tmp_path / "b.h5") as file:
        yield file


def paths_of(file):
    found = {}

    def visit(group, prefix, seen):
        for name in group:
            link = group.get(name, getlink=True)
            path = prefix + name
            if path == "_slablog":
                continue
            found[path] = (type(link).__name__, getattr(link, "path", None), getattr(link, "filename", None))
            if isinstance(link, h5py.HardLink) and isinstance(group[name], h5py.Group) and group[name].id not in seen:
                visit(group[name], path + "/", [*seen, group[name].id])

    visit(file, "", [file["/"].id])
    return found


def test_the_datasets_of_the_log_are_contiguous_and_hold_their_elements(converted):
    d = converted["d"]
    assert not d.is_virtual and d.chunks is None and d.dtype == "<i4"
    assert list(d[...]) == list(range(300))
    assert "_slablog" not in converted


def test_every_link_is_there_and_leads_where_it_led(converted, log):
    with h5py.File(log) as file:
        assert paths_of(converted) == paths_of(file)
    assert converted["same"] == converted["d"]
    assert converted["ocean/deep"] == converted["ocean"]
    assert list(converted["ocean"]) == ["z", "a", "m", "deep", "x"]  # in the order in which they were made


def test_other_datasets_and_attributes_are_as_they_were(converted, log):
    with h5py.File(log) as file:
        for path in ("ocean/z", "packed", "typed", "words"):
            assert converted[path].dtype == file[path].dtype
            assert (converted[path][...] == file[path][...]).all()
        assert converted["nothing"].shape is None
        assert dict(converted.attrs) == dict(file.attrs)
        assert list(converted["ocean"].attrs) == list(file["ocean"].attrs)
        assert list(converted["ocean"].attrs["words"]) == ["one", "two"]
        assert set(converted["d"].attrs) == set(file["d"].attrs)
    assert converted["packed"].compression == "gzip" and converted["packed"].maxshape == (None,)
    assert converted["d"].attrs["units"] == 2.5


def test_a_committed_type_is_still_shared(converted):
    assert converted["kind"].dtype.names == ("x", "y")
    assert converted["typed"].id.get_type().committed()
    assert h5py.h5o.get_info(converted["d"].attrs.get_id("typed").get_type()).addr == \
        h5py.h5o.get_info(converted["kind"].id).addr


@pytest.mark.fast
def test_references_lead_to_the_copies(converted):
    references = converted["references"]
    assert converted[references[0]] == converted["d"]
    assert converted[references[1]] == converted["ocean"]
    assert not references[2]
    region = converted["regions"][0]
    assert converted[region] == converted["d"]
    assert list(converted["d"][region]) == [5, 6, 7]
    assert converted[converted["ocean/a"].attrs["target"]] == converted["d"]
    assert converted["d"].dims[0][0] == converted["ocean/x"]  # a variable-length list of references
    assert converted[converted["ocean/x"].attrs["REFERENCE_LIST"][0]["dataset"]] == converted["d"]


def test_a_file_whose_writer_was_killed_is_converted_as_far_as_it_was_flushed(write_log, run, tmp_path):
    assert write_log(tmp_path / "a.h5", 2, "kill").returncode != 0
    done = run("slabmark log canonical", [tmp_path / "a.h5", tmp_path / "b.h5"], ranks=3)
    assert done.returncode == 0 and "was not closed by its writer" in done.stderr
    with h5py.File(tmp_path / "b.h5") as file:
        assert list(file["d"][...]) == list(range(200))


def test_an_output_that_is_there_is_refused_and_left_alone(run, refused, log, tmp_path):
    (tmp_path / "b.h5").write_text("mine")
    done = run("slabmark log canonical", [log, tmp_path / "b.h5"], ranks=2)
    assert "b.h5" in refused(done, "slabmark log canonical")
    assert (tmp_path / "b.h5").read_text() == "mine"


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_damaged_log_is_refused_and_leaves_no_output(run, sentence, log, tmp_path, ranks):
    shutil.copy(log, tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        index = file["_slablog/index0"]
        index[...] = 0xFF
    done = run("slabmark log canonical", [tmp_path / "a.h5", tmp_path / "b.h5"], ranks=ranks)
    assert done.returncode == 1 and "damaged" in sentence(done, "slabmark log canonical")
    assert os.listdir(tmp_path) == ["a.h5"]


def test_an_output_that_does_not_fit_leaves_nothing(write_log, run, sentence, file_size_limit, tmp_path):
    write_log(tmp_path / "a.h5", 1, "sparse").check_returncode()
    done = run("slabmark log canonical", [tmp_path / "a.h5", tmp_path / "b.h5"], preexec_fn=file_size_limit)
    assert done.returncode == 1 and "b.h5" in sentence(done, "slabmark log canonical")
    assert os.listdir(tmp_path) == ["a.h5"]
