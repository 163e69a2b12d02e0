"""slabmark convert: what netCDF-C reads of the files that it makes, and what becomes of the output when something fails."""

import contextlib
import importlib.util
import math
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import OWN_TMPDIR, processes

netCDF4 = pytest.importorskip("netCDF4")
numpy = pytest.importorskip("numpy")

CLASSIC = {"cdf1": "NETCDF3_CLASSIC", "cdf2": "NETCDF3_64BIT_OFFSET", "cdf5": "NETCDF3_64BIT_DATA"}
without_pnetcdf = os.environ.get("SLABMARK_WITH_PNETCDF") == "0"
needs_pnetcdf = pytest.mark.skipif(without_pnetcdf, reason="this build has no PnetCDF, which reads classic files")


def make(path, kind):
    """Variables of all shapes: coordinates, scalar, records of several types, characters, one that is called like a dimension."""
    random = numpy.random.default_rng(7)
    with netCDF4.Dataset(path, "w", format=CLASSIC.get(kind, "NETCDF4")) as file:
        for name, length in {"lat": 19, "time": None, "lon": 36, "n": 5, "bnds": 2}.items():
            file.createDimension(name, length)
        # As an attribute of netCDF-4, text beyond ASCII is a string, which classic files have not.
        file.title, file.numbers, file.empty, file.one = "rooms" if kind == "packed" else "räume", numpy.array([1.5, 2.5]), "", numpy.int32(7)
        file.createVariable("lat", "f8", ("lat",))[:] = numpy.linspace(-90, 90, 19)
        file["lat"].units = "degrees_north"
        file.createVariable("scalar", "i4", ())[...] = 42
        file.createVariable("time", "f8", ("time",)).bounds = "time_bnds"
        file.createVariable("time_bnds", "f8", ("time", "bnds"))
        file.createVariable("T", "f4", ("time", "lat", "lon"), fill_value=1e20, zlib=kind == "packed").long_name = "temperature"
        file.createVariable("flags", "i1", ("time", "n"))
        file.createVariable("odd", "i2", ("lat", "lon"))[:] = random.integers(-100, 100, (19, 36))
        file.createVariable("words", "S1", ("lat", "n"))[:] = numpy.full((19, 5), b"x")
        file.createVariable("n", "f4", ("lat", "lon"))[:] = random.random((19, 36))
        file.createVariable("late", "f8", ("time", "lon"))
        if kind == "cdf5":
            for code in ("u1", "u2", "u4", "i8", "u8"):
                file.createVariable(f"of_{code}", code, ("lon",))[:] = random.integers(0, 100, 36)
        for step in range(11):
            file["time"][step], file["time_bnds"][step] = step, (step, step + 1)
            file["T"][step], file["flags"][step] = random.random((19, 36)), random.integers(-9, 9, 5)
    return path


def described(file):
    """Structure and elements as netCDF-C gives them, in its order."""
    file.set_auto_maskandscale(False)

    def attributes(of):
        return [(name, str(numpy.asarray(of.getncattr(name)).dtype), numpy.asarray(of.getncattr(name)).tolist()) for name in of.ncattrs()]

    return ([(name, len(d), d.isunlimited()) for name, d in file.dimensions.items()], attributes(file),
            [(name, v.dtype, v.dimensions, attributes(v), v[...].tobytes()) for name, v in file.variables.items()])


def same(one, other):
    with netCDF4.Dataset(one) as a, netCDF4.Dataset(other) as b:
        a, b = described(a), described(b)
        assert a[:2] == b[:2]
        for x, y in zip(a[2], b[2], strict=True):
            assert x == y, x[0]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    return {kind: make(folder / f"{kind}.nc", kind) for kind in [*CLASSIC, "netcdf4", "packed"]}


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("ranks, kind, words", [
    pytest.param(1, "cdf2", ["--compress", "deflate:1", "--shuffle"], marks=[pytest.mark.fast, needs_pnetcdf]),
    pytest.param(4, "cdf5", ["--compress", "deflate", "--chunk", "time=4,lat=7,lon=10,n=2", "--memory", "1M", "--drop-behind"], marks=[pytest.mark.fast, needs_pnetcdf]),
    pytest.param(4, "netcdf4", ["--compress", "deflate:3"], marks=pytest.mark.fast),
    pytest.param(7, "cdf1", ["--chunk", "time=30,lon=5", "--sync"], marks=[pytest.mark.long, needs_pnetcdf]),
    pytest.param(4, "packed", ["--output-format", "cdf2", "--memory", "1M", "--drop-behind"], marks=[pytest.mark.fast, needs_pnetcdf]),
    pytest.param(7, "cdf5", ["--output-format", "cdf5"], marks=[pytest.mark.long, needs_pnetcdf]),
])
def test_netcdf_reads_what_the_input_holds(run, sources, tmp_path, ranks, kind, words):
    done = run("slabmark convert", [sources[kind], "-o", tmp_path / "o.nc", "--verify", *words], ranks=ranks)
    assert done.returncode == 0, done.stderr
    same(sources[kind], tmp_path / "o.nc")
    assert left_in(tmp_path) == ["o.nc"]


@pytest.mark.long
@needs_pnetcdf
def test_zstd_is_the_registered_filter(run, sources, tmp_path, monkeypatch):
    package = importlib.util.find_spec("hdf5plugin")
    h5py = pytest.importorskip("h5py")
    if package is None:
        pytest.skip("there is no Python package hdf5plugin, whose filters HDF5 could load")
    monkeypatch.setenv("HDF5_PLUGIN_PATH", str(pathlib.Path(package.origin).parent / "plugins"))
    done = run("slabmark convert", [sources["cdf2"], "-o", tmp_path / "o.nc", "--compress", "zstd:5", "--shuffle", "--verify"], ranks=4)
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "o.nc") as file:
        assert file["T"]._filters == {"shuffle": (4,), "32015": (5,)}
    done = run("slabmark convert", [tmp_path / "o.nc", "-o", tmp_path / "again.nc", "--chunk", "time=3", "--verify"], ranks=2)
    assert done.returncode == 0, done.stderr  # with the filters that it had
    with h5py.File(tmp_path / "again.nc") as file:
        assert (file["T"]._filters, file["T"].chunks) == ({"shuffle": (4,), "32015": (5,)}, (3, 19, 36))


@pytest.mark.long
@needs_pnetcdf
def test_netcdf_goes_on_with_the_file(run, sources, tmp_path):
    """Records, variables and attributes are added to it, and what nobody wrote reads as the fill value."""
    assert run("slabmark convert", [sources["cdf2"], "-o", tmp_path / "o.nc", "--compress", "deflate"]).returncode == 0
    with netCDF4.Dataset(tmp_path / "o.nc", "a") as file:
        file["T"][11] = 3
        file.createVariable("more", "f4", ("time", "lat"))[12] = 2
        file.more = "text"
    with netCDF4.Dataset(tmp_path / "o.nc") as file:
        assert file["T"].shape == (13, 19, 36) and file["T"][11, 0, 0] == 3 and file["T"][12].mask.all()
        assert file["late"][12].mask.all()
    assert run("slabmark convert", [tmp_path / "o.nc", "-o", tmp_path / "again.nc", "--verify"], ranks=3).returncode == 0
    same(tmp_path / "o.nc", tmp_path / "again.nc")


@pytest.mark.long
@needs_pnetcdf
@pytest.mark.skipif(shutil.which("nccopy") is None, reason="nccopy is not installed")
def test_the_elements_are_those_that_nccopy_writes(run, sources, tmp_path):
    for kind in CLASSIC:
        copied = subprocess.run(["nccopy", "-k", "nc4", "-d", "1", "-s", sources[kind], tmp_path / f"{kind}-theirs.nc"], capture_output=True, text=True)
        if copied.returncode != 0:  # nccopy of netCDF-C 4.9.0 fails on these files
            pytest.skip(f"nccopy cannot copy the file: {copied.stderr.strip()}")
        run("slabmark convert", [sources[kind], "-o", tmp_path / f"{kind}.nc", "--compress", "deflate:1", "--shuffle"]).check_returncode()
        same(tmp_path / f"{kind}-theirs.nc", tmp_path / f"{kind}.nc")


@pytest.mark.fast
@pytest.mark.parametrize("words, said", [
    (["in.nc", "--chunk", "depth=3"], "--chunk names 'depth'"),
    (["in.nc", "--chunk", "time"], "write a dimension and a length"),
    (["in.nc", "--compress", "deflate:10"], "give a whole number from 1 to 9"),
    (["in.nc", "--compress", "none:1"], "no level"),
    (["in.nc", "--shuffle"], "--shuffle is of no use alone"),
    (["in.nc", "--memory", "1K"], "choose 1M to 4G"),
    (["in.nc", "--output-format", "cdf5", "--chunk", "time=1"], "Classic files have no chunks and no filters"),
    (["in.nc", "--rule", "T"], "write names of variables and settings"),
    (["in.nc", "--rule", "T:depth=3"], "compress, shuffle, chunk, chunk-for or quantize"),
    (["in.nc", "--rule", "T:chunk=time=1 chunk-for=mix"], "both chunk and chunk-for"),
    (["in.nc", "--chunk", "time=1", "--chunk-for", "mix"], "leave one of them out"),
    (["in.nc", "--chunk-for", "depth"], "series, level, field or mix"),
    (["in.nc", "--rule", "T:shuffle"], "of no use alone"),
    (["in.nc", "--rule", "T:chunk="], "write a dimension and a length"),
    (["in.nc", "--rule", "T:chunk=depth=3"], "--rule 'T:chunk=depth=3' names 'depth'"),
    (["in.nc", "--rule", "U*:compress=deflate"], "matches no variable"),
    (["in.nc", "--rule", "T:compress=none", "--rule", "T:compress=deflate"], "that an earlier rule leaves"),
    (["in.nc", "--output-format", "cdf5", "--rule", "T:chunk=time=1"], "Classic files have no chunks and no filters"),
    (["in.nc", "--quantize", "BitRound"], "write BitRound: and a number of bits"),
    (["in.nc", "--quantize", "Round:3"], "BitRound, GranularBR or BitGroom"),
    (["in.nc", "--quantize", "BitGroom:16"], "from 1 to 15"),
    (["in.nc", "--quantize", "BitGroom:8"], "keeps 8 digits, but variable 'T' has 7"),
    (["missing.nc"], "missing.nc"),
    (["text.nc"], "neither a classic netCDF nor an HDF5 file"),
])
def test_bad_usage_is_one_sentence_and_leaves_nothing(run, sources, refused, tmp_path, words, said):
    shutil.copy(sources["netcdf4"], tmp_path / "in.nc")
    (tmp_path / "text.nc").write_text("text")
    done = run("slabmark convert", [*words, "-o", "o.nc"], cwd=tmp_path)
    assert said in refused(done, "slabmark convert")
    assert left_in(tmp_path) == ["in.nc", "text.nc"]


@pytest.mark.long
def test_what_is_not_converted_is_named(run, refused, tmp_path):
    def group(file):
        file.createGroup("ocean")

    def string(file):
        file.createVariable("names", str, ("x",))

    def kind(file):
        file.createCompoundType(numpy.dtype([("a", "f4")]), "pair")

    for name, add in {"ocean": group, "names": string, "pair": kind}.items():
        with netCDF4.Dataset(tmp_path / "in.nc", "w") as file:
            file.createDimension("x", 3)
            add(file)
        done = run("slabmark convert", ["in.nc", "-o", "o.nc"], cwd=tmp_path)
        assert f"'{name}' is" in refused(done, "slabmark convert")
        assert left_in(tmp_path) == ["in.nc"]
    with pytest.importorskip("h5py").File(tmp_path / "in.nc", "w") as file:
        file["x"] = numpy.arange(3)
        file["x"].attrs["rows"] = numpy.ones((2, 2))
    assert "Attribute 'rows'" in refused(run("slabmark convert", ["in.nc", "-o", "o.nc"], cwd=tmp_path), "slabmark convert")


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """Three files with 2, 0 and 3 records, the last one in netCDF-4."""
    folder = tmp_path_factory.mktemp("months")
    first = 0
    for month, (records, kind) in enumerate([(2, "NETCDF4"), (0, "NETCDF4"), (3, "NETCDF4" if without_pnetcdf else "NETCDF3_CLASSIC")]):
        with netCDF4.Dataset(folder / f"{month}.nc", "w", format=kind) as file:
            file.createDimension("time", None)
            file.createDimension("x", 6)
            file.createVariable("time", "f8", ("time",)).bounds = "time_bnds"
            file.createDimension("bnds", 2)
            file.createVariable("time_bnds", "f8", ("time", "bnds"))
            file.createVariable("x", "f4", ("x",))[:] = numpy.arange(6)
            file.createVariable("area", "f4", ("x",))[:] = 1
            file.createVariable("T", "f4", ("time", "x")).coordinates = "x area"
            file.createVariable("U", "i2", ("time", "x"))
            for record in range(records):
                now = first + record
                file["time"][record], file["time_bnds"][record], file["T"][record], file["U"][record] = now, (now, now + 1), now * numpy.ones(6), -now
        first += records
    return [folder / f"{month}.nc" for month in range(3)]


@pytest.mark.parametrize("ranks", [pytest.param(1, marks=pytest.mark.fast), pytest.param(4, marks=pytest.mark.long)])
def test_records_of_several_files_become_one_series_of_chosen_variables(run, months, tmp_path, ranks):
    words = [*months, "-o", tmp_path / "o.nc", "--variables", "T", "--chunk", "time=3", "--verify"]
    done = run("slabmark convert", words, ranks=ranks)
    assert done.returncode == 0, done.stderr
    with netCDF4.Dataset(tmp_path / "o.nc") as file:
        assert list(file.variables) == ["time", "time_bnds", "x", "area", "T"] and list(file.dimensions) == ["time", "x", "bnds"]
        assert file["time"][:].tolist() == [0, 1, 2, 3, 4] and file["time_bnds"][:, 1].tolist() == [1, 2, 3, 4, 5]
        assert file["T"][:, 5].tolist() == [0, 1, 2, 3, 4] and file["T"].chunking() == [3, 6]


@pytest.mark.long
def test_each_variable_gets_a_file_of_its_own(run, months, refused, tmp_path):
    words = ["-o", "{variable}.nc", "--compress", "deflate", "--verify"]
    done = run("slabmark convert", [*months, *words], ranks=4, cwd=tmp_path)
    assert done.returncode == 0 and "3 files -> 2 files" in done.stdout, done.stderr
    assert left_in(tmp_path) == ["T.nc", "U.nc"]
    for name, values in {"T": [0, 1, 2, 3, 4], "U": [0, -1, -2, -3, -4]}.items():
        with netCDF4.Dataset(tmp_path / f"{name}.nc") as file:
            assert sorted(file.variables) == sorted(["time", "time_bnds", "x", "area", name])
            assert file[name][:, 0].tolist() == values and file["time_bnds"][4].tolist() == [4, 5]
    (tmp_path / "T.nc").unlink()
    done = run("slabmark convert", [*months, *words], cwd=tmp_path)
    assert "'U.nc' exists already" in refused(done, "slabmark convert") and left_in(tmp_path) == ["U.nc"]
    with netCDF4.Dataset(tmp_path / "fixed.nc", "w") as file:
        file.createDimension("x", 2)
        file.createVariable("v", "f4", ("x",))
    assert "{variable} stands for none" in refused(run("slabmark convert", ["fixed.nc", *words], cwd=tmp_path), "slabmark convert")


@pytest.mark.parametrize("ranks", [pytest.param(1, marks=pytest.mark.fast), pytest.param(4, marks=pytest.mark.long), pytest.param(7, marks=pytest.mark.long)])
def test_split_files_are_merged_into_the_file_that_they_were(run, sources, months, tmp_path, ranks):
    source = sources["netcdf4"]
    run("slabmark convert", [source, "-o", tmp_path / "{variable}.nc"], ranks=ranks).check_returncode()
    run("slabmark convert", [*[tmp_path / f"{name}.nc" for name in ("T", "flags", "late")], "-o", tmp_path / "o.nc", "--verify"], ranks=ranks).check_returncode()
    same(source, tmp_path / "o.nc")
    # Years of two variables: joined along records, then merged.
    for year in range(3):
        run("slabmark convert", [months[year], "-o", tmp_path / f"{{variable}}.{year}.nc"]).check_returncode()
    pieces = [tmp_path / f"{name}.{year}.nc" for name in "TU" for year in range(3)]
    run("slabmark convert", [*pieces, "-o", tmp_path / "merged.nc", "--verify"], ranks=ranks).check_returncode()
    run("slabmark convert", [*months, "-o", tmp_path / "joined.nc"], ranks=ranks).check_returncode()
    same(tmp_path / "joined.nc", tmp_path / "merged.nc")


@pytest.mark.long
def test_files_that_cannot_be_merged_are_named(run, refused, tmp_path):
    def file_of(name, variable, length=3, unlimited=False, units="m", x=0):
        with netCDF4.Dataset(tmp_path / name, "w") as file:
            file.createDimension("x", None if unlimited else length)
            file.createVariable("x", "f8", ("x",))[:] = numpy.arange(length) + x
            file["x"].units = units
            file.createVariable(variable, "f4", ("x",))[:] = length

    file_of("a.nc", "T")
    for more, said in [({"x": 1}, "both have the variable 'x', with other elements"), ({"units": "km"}, "attributes of variable 'x' differ"),
                       ({"length": 4}, "dimension 'x' is 3 in the one and 4 in the other"), ({"unlimited": True}, "3 (unlimited) in the other")]:
        file_of("b.nc", "U", **more)
        done = run("slabmark convert", ["a.nc", "b.nc", "-o", "o.nc"], cwd=tmp_path, ranks=2)
        assert said in refused(done, "slabmark convert") and "'a.nc' and 'b.nc'" in done.stderr
        assert left_in(tmp_path) == ["a.nc", "b.nc"]
    file_of("b.nc", "U", x=1)
    run("slabmark convert", ["a.nc", "b.nc", "-o", "o.nc", "--skip", "x"], cwd=tmp_path).check_returncode()
    with netCDF4.Dataset(tmp_path / "o.nc") as file:
        assert list(file.variables) == ["T", "U"]
    run("slabmark convert", ["a.nc", "b.nc", "-o", "only.nc", "--variables", "U"], cwd=tmp_path).check_returncode()
    with netCDF4.Dataset(tmp_path / "only.nc") as file:
        assert list(file.variables) == ["x", "U"] and file["x"][0] == 1


@pytest.mark.parametrize("ranks", [pytest.param(1, marks=pytest.mark.fast), pytest.param(4, marks=pytest.mark.long), pytest.param(7, marks=pytest.mark.long)])
def test_the_first_rule_that_matches_a_variable_counts(run, sources, tmp_path, ranks):
    words = ["--compress", "deflate:2", "--shuffle", "--chunk", "time=5", "--rule", "time*:compress=none", "--rule",
             "T,l?te:compress=deflate:4 chunk=time=2,lon=9 quantize=BitRound:3", "--rule", "?:quantize=none compress=deflate:1 shuffle"]
    done = run("slabmark convert", [sources["netcdf4"], "-o", tmp_path / "o.nc", "--verify", *words], ranks=ranks)
    assert done.returncode == 0, done.stderr
    with netCDF4.Dataset(sources["netcdf4"]) as theirs, netCDF4.Dataset(tmp_path / "o.nc") as ours:
        found = {name: (v.filters()["zlib"] and v.filters()["complevel"], v.filters()["shuffle"], v.chunking()) for name, v in ours.variables.items()}
        assert found["time_bnds"] == (False, False, [5, 2]) and found["flags"] == (2, True, [5, 5])
        assert found["T"] == (4, False, [2, 19, 9]) and found["late"] == (4, False, [2, 9]) and found["n"] == (1, True, [19, 36])
        for name in theirs.variables:
            is_same = ours[name][:].tobytes() == theirs[name][:].tobytes()
            assert is_same == (name != "T"), name
        assert ours["T"]._QuantizeBitRoundNumberOfSignificantBits == 3 and numpy.abs(ours["T"][:] / theirs["T"][:] - 1).max() <= 1 / 16


@pytest.mark.parametrize("shape", [pytest.param((150, 8, 20, 30), marks=pytest.mark.fast), pytest.param((20, 300, 700), marks=pytest.mark.long),
                                   pytest.param((140, 9000), marks=pytest.mark.long), pytest.param((2, 5), marks=pytest.mark.long)])
def test_chunks_for_a_use_are_those_that_advise_would_expect_to_be_best(run, tmp_path, shape):
    spec = importlib.util.spec_from_file_location("chunks", pathlib.Path(__file__).parents[2] / "lab/slabmark/advise/chunks.py")
    chunks = sys.modules["chunks"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(chunks)
    with netCDF4.Dataset(tmp_path / "i.nc", "w") as file:
        for d, length in enumerate(shape):
            file.createDimension(f"d{d}", length if d else None)
        file.createVariable("d0", "f8", ("d0",))[:] = range(shape[0])
        file.createVariable("v", "i2", tuple(f"d{d}" for d in range(len(shape))))
    tried = [layout.chunk for layout in chunks.layouts(shape, ["none"])]

    def costs(use):
        found = [len(chunks.touched(use, shape, chunk)) * (2 * math.prod(chunk) + 65536) for chunk in tried]
        return [one / min(found) for one in found]

    of_uses = {use: costs(use) for use in chunks.SHAPES}
    for use, of_use in {**of_uses, "mix": [sum(of) for of in zip(*of_uses.values(), strict=True)]}.items():
        run("slabmark convert", ["i.nc", "-o", f"{use}.nc", "--chunk-for", use], cwd=tmp_path).check_returncode()
        with netCDF4.Dataset(tmp_path / f"{use}.nc") as file:
            assert (tuple(file["v"].chunking()), file["d0"].chunking()) == (tried[of_use.index(min(of_use))], [512]), use


@pytest.mark.long
@pytest.mark.parametrize("ranks, how, kept", [(2, "BitRound", 9), (1, "GranularBR", 3), (4, "GranularBR", 6), (4, "BitGroom", 2), (7, "BitGroom", 4)])
def test_elements_are_rounded_as_netcdf_rounds_them(run, refused, tmp_path, ranks, how, kept):
    random = numpy.random.default_rng(1)
    values = {"f4": random.normal(size=4000).astype("f4") * 10.0 ** random.integers(-30, 30, 4000), "f8": random.normal(size=4000)}
    for name in values:
        values[name][:4] = netCDF4.default_fillvals[name], 0, *((numpy.inf, -numpy.inf) if how == "BitRound" else (1, 2))
    for quantized in (False, True):
        more = {"zlib": True, "significant_digits": kept, "quantize_mode": {"GranularBR": "GranularBitRound"}.get(how, how)} if quantized else {}
        with netCDF4.Dataset(tmp_path / f"{quantized}.nc", "w") as file:
            file.createDimension("x", 2000)
            file.createDimension("two", 2)
            file.createVariable("x", "f8", ("x",)).bounds = "edges"
            file["x"][:] = values["f8"][:2000]
            file.createVariable("area", "f8", ("x",))[:] = values["f8"][:2000]
            file.createVariable("edges", "f8", ("x", "two"))[:] = values["f8"].reshape(2000, 2)
            for name, kind in (("f4", "f4"), ("f8", "f8"), ("gaps", "f4")):
                file.createVariable(name, kind, ("x", "two"), fill_value=values["f4"][9] if name == "gaps" else None, **more)
                file[name].set_auto_mask(False)
                file[name][:] = values[kind].reshape(2000, 2)
    words = ["False.nc", "-o", "o.nc", "--quantize", f"{how}:{kept}", "--compress", "deflate", "--verify"]
    done = run("slabmark convert", words, ranks=ranks, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with netCDF4.Dataset(tmp_path / "o.nc") as ours, netCDF4.Dataset(tmp_path / "True.nc") as theirs:
        for name in ("x", "area", "edges", "f4", "f8", "gaps"):
            for file in (ours, theirs):
                file[name].set_auto_mask(False)
            assert ours[name][:].tobytes() == theirs[name][:].tobytes(), name
            assert ours[name].quantization() == theirs[name].quantization(), name
    done = run("slabmark convert", ["False.nc", "-o", "p.nc", "--quantize", "BitRound:24"], cwd=tmp_path)
    assert "variable 'f4' has 23" in refused(done, "slabmark convert")


@pytest.mark.long
def test_files_that_are_no_series_are_refused(run, months, refused, tmp_path):
    shutil.copy(months[0], tmp_path / "a.nc")
    with netCDF4.Dataset(tmp_path / "a.nc", "a") as file:
        file["area"][3] = 2
        file["time"][:] = [10, 11]
    for files, words, said in [((2, 1, 0), [], "does not ascend"), ((0, "a.nc"), [], "variable 'area' has no records"),
                               ((0,), ["--variables", "V"], "names 'V'"), ((0,), ["--skip", "V"], "names 'V'")]:
        inputs = [months[file] if isinstance(file, int) else file for file in files]
        done = run("slabmark convert", [*inputs, "-o", "o.nc", *words], cwd=tmp_path)
        assert said in refused(done, "slabmark convert")
        assert left_in(tmp_path) == ["a.nc"]
    done = run("slabmark convert", [months[0], "a.nc", "-o", "o.nc", "--skip", "area"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
@needs_pnetcdf
def test_what_a_classic_file_cannot_hold_is_named(run, refused, tmp_path):
    def unlimited(file):
        file.createDimension("t", None)
        file.createDimension("u", None)

    def behind(file):
        file.createDimension("t", None)
        file.createVariable("v", "f4", ("x", "t"))

    def wide(file):
        file.createVariable("v", "i8", ("x",))

    def strings(file):
        file.createVariable("v", "i4", ("x",)).names = ["one", "two"]

    for add, said in [(unlimited, "2 unlimited dimensions"), (behind, "the unlimited dimension 't' behind others"),
                      (wide, "variable 'v' is of type int64"), (strings, "attribute 'names' of variable 'v' has strings")]:
        with netCDF4.Dataset(tmp_path / "in.nc", "w") as file:
            file.createDimension("x", 3)
            add(file)
        done = run("slabmark convert", ["in.nc", "-o", "o.nc", "--output-format", "cdf2"], cwd=tmp_path)
        assert said in refused(done, "slabmark convert")
        assert left_in(tmp_path) == ["in.nc"]


@pytest.mark.long
@needs_pnetcdf
def test_a_file_that_was_cut_is_refused(run, sources, refused, tmp_path):
    whole = sources["cdf2"].read_bytes()
    for length in (2, 20, 1200, len(whole) - 4000):
        (tmp_path / "in.nc").write_bytes(whole[:length])
        done = run("slabmark convert", ["in.nc", "-o", "o.nc"], cwd=tmp_path)
        assert done.returncode in (1, 2), (length, done.stdout)
        assert done.stderr.startswith("slabmark convert: error: ") and done.stderr.count("\n") == 1
        assert left_in(tmp_path) == ["in.nc"]


@pytest.mark.long
@pytest.mark.parametrize("ranks, words", [(1, ["--compress", "none"]), (4, ["--compress", "deflate:1"]),
                                          pytest.param(4, ["--output-format", "cdf2"], marks=needs_pnetcdf)])
def test_on_a_full_disk_the_output_stays_as_it_was(run, file_size_limit, tmp_path, ranks, words):
    with netCDF4.Dataset(tmp_path / "in.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 1 << 20)
        values = file.createVariable("v", "f8", ("time", "x"), chunksizes=(1, 1 << 17))
        for step in range(2):
            values[step] = numpy.random.default_rng(step).random(1 << 20)
    (tmp_path / "o.nc").write_text("before")
    done = run("slabmark convert", ["in.nc", "-o", "o.nc", "--overwrite", *words], ranks=ranks, cwd=tmp_path, preexec_fn=file_size_limit)
    assert done.returncode == 1 and "slabmark convert: error: " in done.stderr, done.stderr
    assert left_in(tmp_path) == ["in.nc", "o.nc"] and (tmp_path / "o.nc").read_text() == "before"

@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """24 MiB, so that a run can be killed under way: several batches at the least memory, in records and in many chunks."""
    path = tmp_path_factory.mktemp("large") / "large.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF4" if without_pnetcdf else "NETCDF3_64BIT_DATA") as file:
        for name, length in {"time": None, "y": 256, "x": 256}.items():
            file.createDimension(name, length)
        file.createVariable("fixed", "f8", ("y", "x"))[:] = 3
        for name in "TU":
            file.createVariable(name, "f4", ("time", "y", "x"))
        for step in range(48):
            for number, name in enumerate("TU"):
                file[name][step] = numpy.random.default_rng(step + 1000 * number).integers(0, 1 << 16, (256, 256))
    return path


def end_at_once(process, words):
    """Kills a launch: its ranks are not in the launcher's group."""
    def ranks():
        return processes(lambda line: line[-len(words) - 1:-1] == list(map(str, words)))
    while ranks() or process.poll() is None:
        for one in [process.pid, *ranks()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        time.sleep(0.01)
    process.communicate()


def killed_until_done(words, ranks, cwd, pause, wanted):
    """Runs it again and again, each time killed as soon as its journal has changed `pause` times. Returns what the last one printed."""
    begin = [os.environ["SLABMARK_BIN"] + "/slabmark", "convert", *map(str, words)]
    if ranks > 1:
        begin = [*shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec")), "-n", str(ranks), *begin]
    kills = 0
    for _ in range(100):
        process = subprocess.Popen([OWN_TMPDIR, *begin], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        seen = set()
        while process.poll() is None and len(seen) <= pause:
            for journal in pathlib.Path(cwd).glob("*.resume"):
                with contextlib.suppress(OSError):
                    seen.add((journal, journal.stat().st_mtime_ns))
            time.sleep(0.001)
        if process.poll() is not None:
            out, err = process.communicate()
            assert process.returncode == 0, err
            return out, kills
        end_at_once(process, words)
        kills += 1
        if set(wanted) <= set(left_in(cwd)):
            for journal in pathlib.Path(cwd).glob("*.resume"):
                journal.unlink()
            return "", kills  # it was done, and on its way out
    pytest.fail("it never came to its end")


@pytest.mark.long
@pytest.mark.parametrize("ranks, words", [
    (1, ["--compress", "deflate:1", "--chunk", "time=2,y=64,x=64"]), (2, ["--rule", "T:compress=deflate:1 chunk=y=32"]),
    (4, ["--compress", "deflate:1", "--verify"]),
    pytest.param(2, ["--output-format", "cdf5"], marks=needs_pnetcdf), (1, ["split"]),
])
def test_a_killed_run_goes_on_where_it_ended(run, large, tmp_path, ranks, words):
    output = "o.nc"
    if words == ["split"]:
        output, words = "{variable}.nc", []
    words = [large, "-o", tmp_path / output, "--memory", "4M", "--resume", *words]
    out, kills = killed_until_done(words, ranks, tmp_path, 2, ["o.nc"] if output == "o.nc" else ["T.nc", "U.nc"])
    if kills == 0:
        pytest.skip("each run ended before it could be killed")
    assert not out or "by an earlier run" in out
    if output == "o.nc":
        assert left_in(tmp_path) == ["o.nc"]
        same(large, tmp_path / "o.nc")
        return
    assert left_in(tmp_path) == ["T.nc", "U.nc"]
    run("slabmark convert", ["T.nc", "U.nc", "-o", "o.nc"], cwd=tmp_path).check_returncode()
    same(large, tmp_path / "o.nc")


@pytest.mark.long
def test_other_options_inputs_and_ranks_are_not_gone_on_with(run, large, refused, tmp_path):
    shutil.copy(large, tmp_path / "in.nc")
    words = ["in.nc", "-o", "o.nc", "--memory", "4M", "--resume"]
    whole = [*words, "--compress", "deflate:9"]
    process = subprocess.Popen([OWN_TMPDIR, os.environ["SLABMARK_BIN"] + "/slabmark", "convert", *whole],
                               cwd=tmp_path, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while process.poll() is None and not ((tmp_path / "o.nc.resume").exists() and (tmp_path / "o.nc.resume").stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.001)
    done = run("slabmark convert", whole, cwd=tmp_path)
    assert process.poll() is not None or "Another run has 'o.nc.resume'" in refused(done, "slabmark convert")
    end_at_once(process, whole)
    left = left_in(tmp_path)
    if "o.nc" in left:
        pytest.skip("the run ended before it could be killed")
    assert {"in.nc", "o.nc.partial-resume", "o.nc.resume"} <= set(left), left
    for more, ranks, said in [([], 1, "other options"), (["--compress", "deflate:9"], 2, "begun on 1 ranks")]:
        assert said in refused(run("slabmark convert", [*words, *more], cwd=tmp_path, ranks=ranks), "slabmark convert")
    journal = (tmp_path / "o.nc.resume").read_bytes()
    for damaged in (b"text", journal[:-1] if not journal.endswith(b"\n") else journal[:40]):
        (tmp_path / "o.nc.resume").write_bytes(damaged)
        assert "no journal" in refused(run("slabmark convert", whole, cwd=tmp_path), "slabmark convert")
    (tmp_path / "o.nc.resume").write_bytes(journal)
    os.utime(tmp_path / "in.nc")
    done = run("slabmark convert", whole, cwd=tmp_path)
    assert "input 'in.nc' is another" in refused(done, "slabmark convert")
    (tmp_path / "o.nc.resume").unlink()
    run("slabmark convert", words, cwd=tmp_path).check_returncode()
    assert left_in(tmp_path) == ["in.nc", "o.nc"]
    same(large, tmp_path / "o.nc")


@pytest.mark.fast
def test_an_output_that_exists_is_kept_unless_it_may_be_replaced(run, sources, refused, tmp_path):
    (tmp_path / "o.nc").write_text("before")
    done = run("slabmark convert", [sources["netcdf4"], "-o", "o.nc"], cwd=tmp_path)
    assert "--overwrite" in refused(done, "slabmark convert")
    assert (tmp_path / "o.nc").read_text() == "before"
    assert run("slabmark convert", [sources["netcdf4"], "-o", "o.nc", "--overwrite"], cwd=tmp_path).returncode == 0
    same(sources["netcdf4"], tmp_path / "o.nc")
