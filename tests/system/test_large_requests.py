"""Requests of more bytes, or with places further apart, than an int counts: through the drop-in, the library and the connector.

SLABMARK_BIG_TESTS=/var/tmp names a folder for files of up to 4 GiB; without it only the sparse ones are tried."""

import os
import pathlib
import shutil

import pytest
from conftest import needs_pnetcdf

pytestmark = [pytest.mark.long, needs_pnetcdf]

built = pathlib.Path(os.environ["SLABMARK_BIN"]).parent
LARGE = [1 << 31, 1 << 32]

ENVIRONMENTS = {
    "pnetcdf": {"LD_PRELOAD": built / "lib/libslabmark_pnetcdf.so", "SLABMARK_REPORT": 1},
    "library": {},
    "hdf5": {"HDF5_PLUGIN_PATH": built / "plugins", "HDF5_VOL_CONNECTOR": "slablog under_vol=0;under_info={};layout=canonical"},
}


@pytest.fixture
def request_of(run):
    """request_of(path, library, bytes, how): what tests/system/large_requests.c says of it, which must be nothing."""

    def move(path, library, size, how):
        if os.environ.get("SLABMARK_SANITIZERS") and library == "pnetcdf":
            pytest.skip("the sanitizers must be the first library of a program")
        settings = [f"{name}={value}" for name, value in ENVIRONMENTS[library].items()]
        done = run("/usr/bin/env", [*settings, built / "bin/large_requests", path, library, size, how], ranks=2, launch=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stderr

    return move


@pytest.fixture
def big_folder():
    folder = os.environ.get("SLABMARK_BIG_TESTS")
    if not folder:
        pytest.skip("SLABMARK_BIG_TESTS names no folder with 5 GiB of space")
    memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for what, free in {"space in it": shutil.disk_usage(folder).free, "memory of the machine": memory}.items():
        if free < 5 << 30:
            pytest.skip(f"{folder}: 5 GiB are needed, and of {what} {free >> 20} MiB are free")
    path = pathlib.Path(folder) / "slabmark-large-request"
    yield path
    path.unlink(missing_ok=True)


@pytest.mark.parametrize("library", ENVIRONMENTS)
def test_bytes_about_2_31_and_2_32_arrive_and_come_back(request_of, tmp_path, library):
    said = request_of(tmp_path / "sparse", library, 0, "edges")
    assert said.count("rearranged 1 calls") == (2 if library == "pnetcdf" else 0), said


@pytest.mark.parametrize("size", LARGE)
@pytest.mark.parametrize("library, how", [
    ("pnetcdf", "put"), ("pnetcdf", "iput"), ("pnetcdf", "get"), ("library", "put"), ("library", "get"), ("hdf5", "put"), ("hdf5", "get")])
def test_so_many_bytes_in_one_request(request_of, big_folder, library, how, size):
    said = request_of(big_folder, library, size, how)
    assert said.count("rearranged 1 calls") == (library == "pnetcdf"), said
