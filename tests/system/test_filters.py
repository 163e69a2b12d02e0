"""Chunks that go through filters on all ranks: slabmark bench --method hdf5-rearranged."""

import importlib.util
import json
import pathlib

import pytest
from conftest import long

h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.long

ZSTD, BITSHUFFLE, BLOSC2, ZFP = 32015, 32008, 32026, 32013


@pytest.fixture(scope="module")
def map_file(tmp_path_factory, run):
    path = tmp_path_factory.mktemp("maps") / "f.dat"  # which every build reads
    run("slabmark decomp", ["generate", "f", "--ne", "2", "--ranks", "16", "--map-index", "3", "--map-format", "dat", "-o", path]).check_returncode()
    return path


@pytest.fixture
def bench(run, map_file, tmp_path):
    """bench(method, *options, ranks=4, args=()) writes two records of 72 x 218 floats, kept as the path that it returns."""

    def write(method, *options, ranks=4, args=("--content", "smooth"), code=0, **more):
        settings = [word for option in options for word in ("--set", option)]
        done = run("slabmark bench", ["decomp", "--map", map_file, "--steps", "2", "--type", "float32",
                                      "--method", method, "-d", tmp_path, "--trials", "1", "--no-bound", "--overwrite",
                                      "--keep", *args, *settings], ranks=ranks, **more)
        assert done.returncode == code, done.stderr
        return tmp_path / f"slabmark-{method}.h5", done

    return write


@pytest.fixture
def plugins(tmp_path_factory, monkeypatch):
    """The filters of the Python package, for HDF5 to load."""
    package = importlib.util.find_spec("hdf5plugin")
    if package is None:
        pytest.skip("there is no Python package hdf5plugin, whose filters HDF5 could load")
    folder = pathlib.Path(package.origin).parent / "plugins"
    # Others of them need libraries that this machine may lack.
    chosen = tmp_path_factory.mktemp("filters")
    for name in ("zstd", "bshuf", "blosc2", "zfp"):
        (chosen / f"libh5{name}.so").symlink_to(folder / f"libh5{name}.so")
    monkeypatch.setenv("HDF5_PLUGIN_PATH", str(chosen))


def chunks(dataset):
    infos = [dataset.id.get_chunk_info(i) for i in range(dataset.id.get_num_chunks())]
    return sorted((info.chunk_offset, info.filter_mask, info.size) for info in infos)


def only_dataset(file):
    (name,) = file
    return file[name]


@pytest.mark.fast
@pytest.mark.parametrize(("ranks", "libver"), [long(1, "v110"), (4, "earliest"), long(7, "v110")])
def test_the_file_is_what_a_serial_program_leaves(bench, ranks, libver):
    options = ("hdf5.chunk=7x50", "hdf5.deflate=1", "hdf5.shuffle=on", "hdf5.fletcher32=on", f"hdf5.libver={libver}")
    serial, _ = bench("hdf5-union", *options, ranks=1)
    ours, done = bench("hdf5-rearranged", *options, ranks=ranks)
    assert " yes" in done.stdout
    with h5py.File(serial) as wanted, h5py.File(ours) as found:
        wanted, found = only_dataset(wanted), only_dataset(found)
        assert found.chunks == (1, 7, 50) and found.maxshape[0] is None
        assert chunks(found) == chunks(wanted) and len(chunks(found)) == 2 * 11 * 5
        assert (found[:] == wanted[:]).all()
    assert ours.stat().st_size <= 1.01 * serial.stat().st_size


def test_what_is_read_by_plan_is_what_other_ranks_wrote(bench):
    for options in (("hdf5.deflate=1",), ("hdf5.shuffle=on", "hdf5.aggregators=2", "hdf5.node_ranks=2")):
        _, done = bench("hdf5-rearranged", "hdf5.chunk=7x50", *options, args=("--read", "--content", "smooth"))
        assert " yes" in done.stdout


def test_filters_of_plugins_run_on_all_ranks_and_are_read_back_by_plan(bench, plugins):
    for number, values in ((ZSTD, "3"), (BITSHUFFLE, "0,2"), (BLOSC2, ""), (ZFP, "5,0,0,0")):
        option = f"hdf5.filter={number}" + (f":{values}" if values else "")
        path, done = bench("hdf5-rearranged", "hdf5.chunk=16x109", option, args=("--read", "--content", "smooth"))
        assert " yes" in done.stdout
        with h5py.File(path) as file:
            dataset = only_dataset(file)
            assert str(number) in dataset._filters
            assert dataset[1, 71, 217] > 200
            assert dataset.id.get_storage_size() < 0.95 * dataset.nbytes


def test_the_record_says_how_well_contents_compress(bench, tmp_path):
    ratios = {}
    for content in ("smooth", "random"):
        records = tmp_path / f"{content}.jsonl"
        bench("hdf5-rearranged", "hdf5.chunk=72x218", "hdf5.deflate=1", "hdf5.shuffle=on",
              args=("--content", content, "--json", records))
        record = json.loads(records.read_text())
        assert record["pattern"]["settings"]["content"] == content
        filters = record["effective"]["filters"]
        assert filters["chunks"] == 2 and filters["raw_bytes"] == 2 * 72 * 218 * 4
        assert filters["seconds"] > 0 and filters["raw_bytes_per_second"] > 0
        ratios[content] = filters["ratio"]
    assert 1.3 < ratios["smooth"] < 1.75, "as single-precision fields of climate models"
    assert 0.95 < ratios["random"] < 1.1


def test_chunks_without_filters_lie_where_hdf5_has_put_them(bench):
    path, done = bench("hdf5-rearranged", "hdf5.chunk=7x50")
    assert " yes" in done.stdout
    serial, _ = bench("hdf5-union", "hdf5.chunk=7x50", ranks=1)
    with h5py.File(serial) as wanted, h5py.File(path) as found:
        assert (only_dataset(found)[:] == only_dataset(wanted)[:]).all()
        assert len(chunks(only_dataset(found))) == 2 * 11 * 5


def test_a_filter_that_is_not_there_is_the_reason_in_the_table(bench, refused):
    _, done = bench("hdf5-rearranged", "hdf5.chunk=7x50", "hdf5.filter=999", ranks=1)
    assert "HDF5 finds no filter 999" in done.stdout
    for wrong in ("hdf5.filter=zstd", "hdf5.filter=32015:-1", "hdf5.filter=32015:", "hdf5.deflate=10"):
        _, done = bench("hdf5-rearranged", wrong, ranks=1, code=2)
        assert wrong.split("=")[0] in refused(done, "slabmark bench")


def test_a_file_that_grows_too_large_fails_on_all_ranks_with_a_sentence(bench, file_size_limit, sentence):
    # Shared windows of more than the limit would not be had.
    _, done = bench("hdf5-rearranged", "hdf5.chunk=72x218", "hdf5.deflate=1", "hdf5.window=256K", code=1,
                    args=("--content", "random", "--variables", "100"), preexec_fn=file_size_limit)
    assert "MPI_File_write_at" in sentence(done, "slabmark bench") or "H5" in sentence(done, "slabmark bench")
    assert "MiB/s" not in done.stdout
