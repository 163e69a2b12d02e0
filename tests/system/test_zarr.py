"""Zarr stores of the methods, as zarr-python reads them."""

import json
import pathlib
import shutil

import pytest

METHODS = "hdf5-rearranged,zarr-rearranged,zarr-slab"
BLOCKS = ["transfer", "--2d", "--bytes", "24", "--block", "6", "--buffer", "12", "--variables", "2", "--chunked"]


def write(run, folder, *options, pattern=BLOCKS, methods=METHODS):
    """{method: the path of what it left}; hdf5-rearranged writes the same elements."""
    done = run("slabmark bench", [*pattern, "--method", methods, "--no-bound", "--trials", "1", "--keep", "-d", folder, *options],
               ranks=3)
    assert done.returncode == 0, done.stderr
    return {path.stem.removeprefix("slabmark-"): path for path in pathlib.Path(folder).iterdir()}


@pytest.mark.long
@pytest.mark.parametrize("options", [
    (), ("zarr.shard=20x30",), ("zarr.shard=none",), ("zarr.compress=gzip",), ("zarr.compress=zstd:3", "zarr.shard=100")],
    ids=" ".join)
def test_zarr_python_reads_each_element(run, tmp_path, options):
    zarr = pytest.importorskip("zarr", "3", reason="zarr 3 is not there; `setup/python-env tests` brings it")
    h5py = pytest.importorskip("h5py")
    settings = [word for option in options for word in ("--set", option)]
    left = write(run, tmp_path, *settings)
    with h5py.File(left["hdf5-rearranged"]) as file:
        expected = {name: dataset[...] for name, dataset in file.items()}
    for method in ("zarr-rearranged", "zarr-slab"):
        group = zarr.open_consolidated(left[method])
        assert sorted(name for name, _ in group.arrays()) == sorted(expected)
        for name, elements in expected.items():
            assert (group[name][...] == elements).all(), (method, name)
            assert group[name].metadata.dimension_names == ("row", "column")


@pytest.mark.long
def test_zarr_python_reads_time_steps_and_elements_that_nobody_wrote(run, make_map, tmp_path):
    zarr = pytest.importorskip("zarr", "3", reason="zarr 3 is not there; `setup/python-env tests` brings it")
    h5py = pytest.importorskip("h5py")
    map_file = make_map(tmp_path, ne=2, ranks=8, map_index=3)
    pattern = ["decomp", "--map", map_file, "--steps", "3", "--variables", "4", "--type", "int32"]
    folder = tmp_path / "out"
    folder.mkdir()
    left = write(run, folder, "--set", "zarr.shard=2000", pattern=pattern)
    with h5py.File(left["hdf5-rearranged"]) as file:
        for method in ("zarr-rearranged", "zarr-slab"):
            group = zarr.open_group(left[method], mode="r")
            for name, dataset in file.items():
                found = group[name]
                assert found.shape == dataset.shape and found.shape[0] == 3
                assert found.metadata.dimension_names[0] == "time"
                written = found[...] != 0  # others have the fill value
                assert written.any() and (found[...][written] == dataset[...][written]).all()


@pytest.mark.fast
def test_the_metadata_of_all_arrays_is_in_that_of_the_root(run, tmp_path):
    store = write(run, tmp_path, methods="zarr-rearranged")["zarr-rearranged"]
    described = json.loads((store / "Dataset_1/zarr.json").read_text())
    assert described["codecs"][0]["name"] == "sharding_indexed" and described["fill_value"] == 0
    assert json.loads((store / "zarr.json").read_text())["consolidated_metadata"]["metadata"]["Dataset_1"] == described


@pytest.mark.fast
def test_a_store_that_is_there_is_kept(run, tmp_path):
    store = write(run, tmp_path, methods="zarr-slab")["zarr-slab"]
    before = sorted(path.stat().st_mtime_ns for path in store.rglob("*"))
    done = run("slabmark bench", [*BLOCKS, "--method", "zarr-slab", "--trials", "1", "--overwrite", "-d", tmp_path])
    assert done.returncode == 2 and "is not a regular file" in done.stderr
    assert sorted(path.stat().st_mtime_ns for path in store.rglob("*")) == before
    shutil.rmtree(store)
    done = run("slabmark bench", [*BLOCKS, "--method", "zarr-slab", "--trials", "1", "--no-bound", "-d", tmp_path])
    assert done.returncode == 0 and not store.exists(), done.stderr
