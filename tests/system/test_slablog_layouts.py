"""The canonical layout: an unchanged program's file is the one that it writes without the connector.

slab_output.c is that program.
"""

import os
import pathlib
import sys

import pytest
from test_slablog import stock
from test_slablog_lives import BIN, CANONICAL, CONNECTOR, LEAKS_ALLOWED

pytestmark = pytest.mark.long

SCRIPT = """
import sys
import h5py, numpy
parallel = {"driver": "mpio", "comm": __import__("mpi4py.MPI").MPI.COMM_WORLD} if h5py.get_config().mpi else {}
rank, ranks = (parallel["comm"].rank, parallel["comm"].size) if parallel else (0, 1)
with h5py.File(sys.argv[1], "w", **parallel) as file:
    file.attrs["title"] = "slabs"
    plain = file.create_dataset("plain", (40, 60), "f4")
    packed = file.create_dataset("group/packed", (40, 60), "f4", chunks=(16, 25), compression="gzip", shuffle=True)
    pairs = file.create_dataset("pairs", (40,), [("a", "i4"), ("b", "f8")], chunks=(7,), compression="gzip")
    words = file.create_dataset("words", (40,), "S5", chunks=(16,), compression="gzip", fillvalue=b"none")
    values = numpy.arange(2400, dtype="f4").reshape(40, 60)
    for dataset in plain, packed:
        for column in range(rank, 60, ranks):
            if parallel:
                with dataset.collective:
                    dataset[:, column] = values[:, column]
            else:
                dataset[:, column] = values[:, column]
    for row in range(rank, 40, ranks):
        for dataset, value in (pairs, numpy.array((row, row / 4), dtype=pairs.dtype)), (words, b"row" if row < 20 else b""):
            if parallel:
                with dataset.collective:
                    dataset[row] = value
            else:
                dataset[row] = value
"""

# Files of one kind of dataset each.
SIZES = """
import sys
import h5py, numpy
parallel = {"driver": "mpio", "comm": __import__("mpi4py.MPI").MPI.COMM_WORLD} if sys.argv[2:] else {}
rank, ranks = (parallel["comm"].rank, parallel["comm"].size) if parallel else (0, 1)
values = (280 + 20 * numpy.sin(numpy.arange(512 * 600) / 4000)).astype("f4").round(2).reshape(512, 600)
chunks = {"chunks": (64, 100)}
kinds = {"contiguous": {}, "chunked": chunks, "deflate": {**chunks, "compression": 1, "shuffle": True},
         "zstd": {**chunks, "compression": 32015, "compression_opts": (3,), "shuffle": True},
         "extendible": {**chunks, "maxshape": (None, 600)},
         "extendible-deflate": {**chunks, "maxshape": (None, 600), "compression": 1}}
def write(dataset, values):
    mine = slice(rank * values.shape[-1] // ranks, (rank + 1) * values.shape[-1] // ranks)
    if parallel:
        with dataset.collective:
            dataset[..., mine] = values[..., mine]
    else:
        dataset[..., mine] = values[..., mine]
for kind, options in kinds.items():
    with h5py.File(f"{sys.argv[1]}/{kind}.h5", "w", **parallel) as file:
        for i in range(3):
            dataset = file.create_dataset(f"v{i}", (256 if "maxshape" in options else 512, 600), "f4", **options)
            if "maxshape" in options:
                dataset.resize((512, 600))
            write(dataset, values)
with h5py.File(f"{sys.argv[1]}/small.h5", "w", **parallel) as file:
    for i in range(400):
        dataset = file.create_dataset(f"v{i}", (40,), "f4")
        for a in range(4):
            dataset.attrs[f"attribute{a}"] = f"value {a} of {i}"
        write(dataset, numpy.arange(40, dtype="f4"))
"""


python_may_load_it = pytest.mark.skipif(bool(os.environ.get("SLABMARK_SANITIZERS")),
                                        reason="Python is not built with the sanitizers that the connector has")


def described(path):
    """All that h5py says of a file's datasets: elements, places, chunks and filters."""
    h5py = pytest.importorskip("h5py")
    found = {}

    def visit(name, item):
        found[name] = dict(item.attrs)
        if isinstance(item, h5py.Dataset):
            found[name] = (item[...].tolist(), str(item.dtype), item.maxshape, item.chunks, item.compression, item.shuffle,
                           item.fletcher32, item.fillvalue, item.id.get_offset() is not None,
                           item.id.get_num_chunks() if item.chunks else 0, item.id.get_storage_size(), dict(item.attrs))

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


@pytest.fixture
def slab_output(run, tmp_path):
    """slab_output(*words, ranks=1, **environment): runs the program without the connector and with; returns both files."""

    def run_both(*words, ranks=1, **environment):
        paths = [tmp_path / "native.h5", tmp_path / "canonical.h5"]
        for path, connector in zip(paths, [{}, {**CANONICAL, **environment}]):
            done = run("slab_output", [path, *words], ranks=ranks, launch="serial" not in words, env={**os.environ, **connector})
            assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == ["canonical.h5", "native.h5"]
        return paths

    return run_both


@pytest.mark.parametrize("ranks, words, environment", [
    (1, ["serial", "deflate", "shuffle"], {}),
    (1, ["deflate"], {}),
    (2, [], {}),
    (2, ["fill"], {"SLABLOG_BUFFER": "1000"}),
    (4, ["deflate", "shuffle"], {}),
    (4, ["fill", "deflate", "fletcher32"], {"SLABLOG_BUFFER": "1000"}),
])
def test_an_unchanged_program_writes_the_file_that_it_writes_without(slab_output, ranks, words, environment):
    native, canonical = slab_output(*words, ranks=ranks, **environment)
    assert described(canonical) == described(native)
    assert described(canonical)["t"][0][2][29][0] == 1e6 + 2e5 + 2900
    assert described(canonical)["time"][0] == [0.5, 1.5, 2.5]


def test_stock_tools_read_the_file(slab_output, tmp_path):
    native, canonical = slab_output("fill", "deflate", "shuffle", ranks=2)
    assert stock("h5dump", canonical).replace("canonical", "native") == stock("h5dump", native)
    stock("h5repack", "-f", "GZIP=9", canonical, tmp_path / "packed.h5")
    packed, wanted = described(tmp_path / "packed.h5"), described(native)
    assert all(packed[name][:3] == wanted[name][:3] for name in wanted)
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(canonical, engine="netcdf4", decode_times=False, mask_and_scale=False) as file:
        assert {name: file[name].values.tolist() for name in file} == {name: wanted[name][0] for name in wanted}


@pytest.mark.fast
def test_the_log_still_refuses_filters(run, tmp_path):
    done = run("slab_output", [tmp_path / "a.h5", "serial", "deflate"], env={**os.environ, **CONNECTOR})
    assert done.returncode == 1 and "H5Dcreate failed" in done.stderr


# Four ranks that run filters have shared windows of more than the limit, which MPI then waits for.
# OMPIO does not tell all ranks that a file cannot be made as long as HDF5 wants it.
@pytest.mark.parametrize("ranks, words", [(1, []), (1, ["deflate"]), (2, []), (2, ["deflate"]), (4, [])])
def test_a_flush_without_space_fails_on_all_ranks_and_nobody_waits(run, file_size_limit, tmp_path, ranks, words):
    environment = {**os.environ, **CANONICAL, **LEAKS_ALLOWED, "OMPI_MCA_io": "^ompio"}
    done = run("slab_output", [tmp_path / "a.h5", "large", *words], ranks=ranks, launch=True, env=environment, preexec_fn=file_size_limit)
    assert done.returncode == 0, done.stderr
    said = ["H5Dwrite works", "H5Fclose fails", "H5Fcreate works", "H5Fflush fails"]
    assert sorted(done.stdout.splitlines()) == sorted(ranks * said)
    assert done.stderr.count("has lost what was written since its last flush") == ranks
    assert "File too large; raise the file size limit" in done.stderr


def h5py_of_the_connector():
    python = pathlib.Path(os.environ.get("SLABMARK_H5PY") or BIN / ".." / "h5py" / "python")
    if not python.exists():
        pytest.skip("h5py could not be built against the connector's HDF5; wheels of h5py bring their own")
    return python


@python_may_load_it
def test_an_unchanged_h5py_script_writes_the_file_that_it_writes_without(run, tmp_path):
    """Where h5py works with the HDF5 of the connector: setup/h5py-env builds it, or SLABMARK_H5PY names a Python that has it."""
    python = h5py_of_the_connector()
    (tmp_path / "script.py").write_text(SCRIPT)
    for name, environment in [("native.h5", {}), ("canonical.h5", CANONICAL)]:
        done = run(python, [tmp_path / "script.py", tmp_path / name], ranks=4, env={**os.environ, **environment})
        assert done.returncode == 0, done.stderr
    assert described(tmp_path / "canonical.h5") == described(tmp_path / "native.h5")


@python_may_load_it
def test_files_are_no_larger_than_those_of_one_process_without(run, tmp_path):
    python = h5py_of_the_connector()
    plugins = pytest.importorskip("hdf5plugin").PLUGIN_PATH
    (tmp_path / "script.py").write_text(SIZES)
    sizes = {}
    both = {**CANONICAL, "HDF5_PLUGIN_PATH": f"{CANONICAL['HDF5_PLUGIN_PATH']}:{plugins}"}
    for name, ranks, words, environment in [("alone", 1, [], {"HDF5_PLUGIN_PATH": plugins}),
                                            ("canonical", 4, ["parallel"], both)]:
        (tmp_path / name).mkdir()
        done = run(python, [tmp_path / "script.py", tmp_path / name, *words], ranks=ranks, env={**os.environ, **environment})
        assert done.returncode == 0, done.stderr
        sizes[name] = {path.stem: path.stat().st_size for path in (tmp_path / name).iterdir()}
    print(sizes)
    assert len(sizes["alone"]) == 7 and sizes["alone"].keys() == sizes["canonical"].keys()
    assert all(size <= 1.01 * sizes["alone"][kind] for kind, size in sizes["canonical"].items())


@python_may_load_it
def test_a_program_with_another_hdf5_is_told_so(run, tmp_path):
    pytest.importorskip("h5py")
    script = "import h5py; h5py.File('a.h5', 'w')"
    done = run(sys.executable, ["-c", script], cwd=tmp_path, env={**os.environ, **CANONICAL})
    if done.returncode == 0:
        pytest.skip("this h5py uses the HDF5 of the connector")
    assert "build the program, or the package that brings its HDF5, with that one" in done.stderr
    assert done.returncode != 0 and not (tmp_path / "a.h5").exists()
