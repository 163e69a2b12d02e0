"""slabmark convert to and from Zarr v3 stores: elements, structure, what other programs read, and what is refused."""

import pathlib
import shutil

import pytest
from conftest import WITHOUT_PNETCDF

netCDF4 = pytest.importorskip("netCDF4")
numpy = pytest.importorskip("numpy")


def zarr_package():
    return pytest.importorskip("zarr", "3", reason="zarr 3 is not there; `setup/python-env tests` brings it")


def make(path, kind="NETCDF4"):
    """Records, a scalar, a dimension without coordinates, fill values and NaN."""
    random = numpy.random.default_rng(3)
    with netCDF4.Dataset(path, "w", format=kind) as file:
        for name, length in {"lat": 19, "time": None, "lon": 36, "none": 3}.items():
            file.createDimension(name, length)
        file.title, file.numbers, file.one = "rooms", numpy.array([1.5, 2.5]), numpy.int32(7)
        file.createVariable("lat", "f8", ("lat",))[:] = numpy.linspace(-90, 90, 19)
        file.createVariable("scalar", "i4", ())[...] = 42
        file.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
        file.createVariable("T", "f4", ("time", "lat", "lon"), fill_value=numpy.nan).long_name = "temperature"
        file.createVariable("S", "i2", ("time", "lon"), fill_value=-1).scale_factor = 0.5
        file.createVariable("late", "f8", ("time", "lon", "none"))
        file["S"].set_auto_maskandscale(False)
        for step in range(11):
            file["time"][step] = step
            file["T"][step], file["S"][step] = random.random((19, 36)), random.integers(-2, 9, 36)
        file["T"][3, 4] = numpy.nan
    return path


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    return {kind: make(folder / f"{kind}.nc", kind) for kind in ("NETCDF4", "NETCDF3_64BIT_DATA") if kind == "NETCDF4" or not WITHOUT_PNETCDF}


def same_elements(one, other):
    with netCDF4.Dataset(one) as a, netCDF4.Dataset(other) as b:
        assert sorted(a.variables) == sorted(b.variables) and a.title == b.title and a.one == b.one and (a.numbers == b.numbers).all()
        for name in a.variables:
            for file in (a, b):
                file[name].set_auto_maskandscale(False)
            assert a[name].dimensions == b[name].dimensions and a[name].dtype == b[name].dtype, name
            assert a[name][...].tobytes() == b[name][...].tobytes(), name
            assert sorted(a[name].ncattrs()) == sorted(b[name].ncattrs())
            for key in a[name].ncattrs():
                numpy.testing.assert_equal(a[name].getncattr(key), b[name].getncattr(key))


@pytest.mark.parametrize("ranks, kind, words", [
    pytest.param(1, "NETCDF4", ["--compress", "deflate:2"], marks=pytest.mark.fast),
    pytest.param(4, "NETCDF4", ["--chunk", "time=3,lat=7,lon=5", "--memory", "1M", "--sync"], marks=pytest.mark.long),
    pytest.param(4, "NETCDF3_64BIT_DATA", ["--compress", "deflate:1", "--chunk", "time=4,lon=10"], marks=pytest.mark.long),
    pytest.param(7, "NETCDF3_64BIT_DATA", ["--rule", "T:chunk=lat=2 quantize=none"], marks=pytest.mark.long),
])
def test_a_store_holds_what_the_input_holds_and_gives_it_back(run, sources, tmp_path, ranks, kind, words):
    if kind not in sources:
        pytest.skip("this build has no PnetCDF, which reads classic files")
    run("slabmark convert", [sources[kind], "-o", tmp_path / "o.zarr", "--output-format", "zarr", "--verify", *words], ranks=ranks).check_returncode()
    run("slabmark convert", [tmp_path / "o.zarr", "-o", tmp_path / "o.nc", "--verify"], ranks=ranks).check_returncode()
    same_elements(sources[kind], tmp_path / "o.nc")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.nc", "o.zarr"]


@pytest.mark.long
def test_zarr_and_xarray_read_the_store(run, sources, tmp_path):
    zarr = zarr_package()
    run("slabmark convert", [sources["NETCDF4"], "-o", tmp_path / "o.zarr", "--output-format", "zarr", "--compress", "deflate", "--chunk", "lat=5"],
        ranks=3).check_returncode()
    store = zarr.open_group(tmp_path / "o.zarr", mode="r", zarr_format=3)
    with netCDF4.Dataset(sources["NETCDF4"]) as file:
        file.set_auto_maskandscale(False)
        assert sorted(store.array_keys()) == sorted(file.variables)
        for name, variable in file.variables.items():
            assert store[name][...].tobytes() == variable[...].tobytes() and store[name].metadata.dimension_names in (variable.dimensions, None)
    xarray = pytest.importorskip("xarray")
    with xarray.open_zarr(tmp_path / "o.zarr", consolidated=True, chunks=None) as ours, xarray.open_dataset(sources["NETCDF4"]) as theirs:
        xarray.testing.assert_equal(ours.load(), theirs.load())


@pytest.mark.long
def test_stores_of_other_programs_are_read(run, tmp_path):
    zarr = zarr_package()
    values = numpy.random.default_rng(5).random((10, 23, 17)).astype("f4")
    store = zarr.create_group(tmp_path / "in.zarr", zarr_format=3, attributes={"title": "theirs"})
    sharded = store.create_array("sharded", shape=values.shape, dtype="f4", chunks=(2, 4, 17), shards=(4, 8, 17), dimension_names=("t", "y", "x"))
    sharded[:] = values
    store.create_array("holes", shape=(10, 6), dtype="i8", chunks=(4, 4), fill_value=-5, dimension_names=("t", None))[2:4] = 9
    store["holes"].attrs.update({"numbers": [1, 2.5], "large": 1 << 40, "words": ["a", "b"]})
    for ranks in (1, 4):
        done = run("slabmark convert", [tmp_path / "in.zarr", "-o", tmp_path / f"{ranks}.nc", "--verify", "--compress", "deflate"], ranks=ranks)
        assert done.returncode == 0, done.stderr
        with netCDF4.Dataset(tmp_path / f"{ranks}.nc") as file:
            assert file["sharded"][...].tobytes() == values.tobytes() and file["sharded"].dimensions == ("t", "y", "x")
            assert file["holes"][...].tolist() == store["holes"][...].tolist() and file.title == "theirs"
            assert file["holes"].numbers.tolist() == [1, 2.5] and file["holes"].large == 1 << 40 and file["holes"].words == ["a", "b"]


@pytest.mark.long
def test_what_one_format_does_not_hold_is_named(run, refused, sources, tmp_path):
    def refuse(inputs, said, words=("--output-format", "zarr")):
        before = sorted(path.name for path in tmp_path.iterdir())
        assert said in refused(run("slabmark convert", [*inputs, "-o", "o", *words], cwd=tmp_path), "slabmark convert")
        assert sorted(path.name for path in tmp_path.iterdir()) == before

    with netCDF4.Dataset(tmp_path / "in.nc", "w") as file:
        file.createDimension("x", 3)
        file.createVariable("letters", "S1", ("x",))
    refuse(["in.nc"], "variable 'letters' has characters")
    with netCDF4.Dataset(tmp_path / "in.nc", "w") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "f4", ("x",)).limit = numpy.inf
    refuse(["in.nc"], "Attribute 'limit' of variable 'v'")
    refuse([sources["NETCDF4"]], "Zarr has no shuffle", ["--output-format", "zarr", "--compress", "deflate", "--shuffle"])
    refuse([sources["NETCDF4"]], "a Zarr store is a directory", ["--output-format", "zarr", "--overwrite"])
    run("slabmark convert", [sources["NETCDF4"], "-o", "s.zarr", "--output-format", "zarr"], cwd=tmp_path).check_returncode()
    assert "'s.zarr'" in refused(run("slabmark convert", [sources["NETCDF4"], "-o", "s.zarr", "--output-format", "zarr"], cwd=tmp_path), "slabmark convert")


@pytest.mark.long
def test_a_damaged_store_is_one_sentence(run, sources, tmp_path):
    def damaged(change):
        shutil.rmtree(tmp_path / "s.zarr", ignore_errors=True)
        words = [sources["NETCDF4"], "-o", "s.zarr", "--output-format", "zarr", "--compress", "deflate"]
        run("slabmark convert", words, cwd=tmp_path).check_returncode()
        change(tmp_path / "s.zarr")
        done = run("slabmark convert", ["s.zarr", "-o", "o.nc"], cwd=tmp_path, ranks=2)
        assert done.returncode in (1, 2) and done.stderr.startswith("slabmark convert: error: ") and not (tmp_path / "o.nc").exists(), done.stderr
        return done.stderr

    chunk = pathlib.Path("T/c/0/0/0")
    assert "T/c/0/0/0" in damaged(lambda store: (store / chunk).write_bytes((store / chunk).read_bytes()[:50]))
    assert "zarr.json" in damaged(lambda store: (store / "zarr.json").write_text("[]"))
    text = '"node_type":"array"'
    assert "'T'" in damaged(lambda store: (store / "T/zarr.json").write_text((store / "T/zarr.json").read_text().replace(text, '"node_type":"group"')))
    assert "Attribute 'flag'" in damaged(
        lambda store: (store / "T/zarr.json").write_text((store / "T/zarr.json").read_text().replace('"long_name"', '"flag":true,"long_name"')))
    assert "dimension 'lon'" in damaged(
        lambda store: (store / "T/zarr.json").write_text((store / "T/zarr.json").read_text().replace('"shape":[11,19,36]', '"shape":[11,19,35]')))
