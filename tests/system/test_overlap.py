"""Output that is written while the program goes on (SLABMARK_OVERLAP): the file is what it is without, whatever the program does meanwhile."""

import filecmp
import os
import pathlib
import re

import pytest
from conftest import long, needs_pnetcdf

pytestmark = needs_pnetcdf

built = pathlib.Path(os.environ["SLABMARK_BIN"]).parent
library = built / "lib/libslabmark_pnetcdf.so"
slow_writes = built / "bin/libslow_writes.so"


@pytest.fixture(scope="session")
def start(run):
    """start(case, file, ranks, settings, *more): the program, with the drop-in if there are settings."""
    if os.environ.get("SLABMARK_SANITIZERS"):
        pytest.skip("the sanitizers must be the first library of a program")

    def start(case, file, ranks, settings=(), *more, rate=None):
        preload = [str(library)] if settings else []
        preload += [str(slow_writes)] if rate else []
        words = [*settings, *([f"LD_PRELOAD={':'.join(preload)}"] if preload else []), *([f"SLOW_WRITES={rate}"] if rate else [])]
        return run("/usr/bin/env", [*words, built / "bin/pnetcdf_overlap", case, file, *more], ranks=ranks, launch=True)

    return start


@pytest.fixture(autouse=True)
def romio(monkeypatch):
    """Through OMPIO, runs of PnetCDF alone differ from each other in what one rank puts in independent mode."""
    monkeypatch.setenv("OMPI_MCA_io", "^ompio")


def same(folder):
    return filecmp.cmp(folder / "a.nc", folder / "b.nc", shallow=False)


ON = ["SLABMARK_OVERLAP=on", "SLABMARK_REPORT=1"]
FEW = ["SLABMARK_OVERLAP=1", "SLABMARK_OVERLAP_MEMORY=64K", "SLABMARK_REPORT=1"]


def lines(done):
    return sorted(line for line in done.stdout.splitlines() if line.startswith("rank"))


@pytest.mark.parametrize("ranks, settings", [pytest.param(4, FEW, marks=pytest.mark.fast), long(1, ON), long(2, FEW), long(4, ON), long(7, FEW)])
def test_the_file_is_the_same_whatever_is_read_rewritten_or_moved_meanwhile(start, tmp_path, ranks, settings):
    plain = start("order", tmp_path / "a.nc", ranks)
    assert plain.returncode == 0, plain.stderr
    done = start("order", tmp_path / "b.nc", ranks, settings, rate=200)
    assert done.returncode == 0, done.stderr
    assert re.search(r"rearranged ([1-9]\d*) calls", done.stderr), done.stderr
    assert lines(done) == lines(plain) and all(line.endswith(" 0 wrong") for line in lines(done))
    assert same(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("case", ["children", "twice", "finalizes"])
def test_children_another_handle_and_the_end_of_mpi_find_what_they_should(start, tmp_path, case):
    plain = start(case, tmp_path / "a.nc", 3)
    assert plain.returncode == 0, plain.stderr
    done = start(case, tmp_path / "b.nc", 3, ON, rate=8)
    assert done.returncode == 0, done.stderr
    assert lines(done) == lines(plain)
    assert same(tmp_path)


@pytest.mark.long
def test_a_program_that_ends_without_closing_its_file_leaves_what_it_flushed(start, tmp_path):
    start("exits", tmp_path / "a.nc", 1)
    start("exits", tmp_path / "b.nc", 1, ON, rate=1)
    assert same(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 4])
def test_a_write_that_fails_is_told_to_all_ranks_at_a_later_call(start, tmp_path, ranks):
    done = start("fails", tmp_path / "a.nc", ranks, ON)
    assert done.returncode == 0, done.stderr
    codes = {line.split(": ")[1] for line in lines(done)}
    assert len(lines(done)) == ranks and len(codes) == 1, done.stdout
    assert "NC_EWRITE" in codes.pop()


@pytest.mark.long
def test_a_file_that_mpi_io_may_reach_by_another_way_is_written_without_overlap(start, tmp_path):
    plain = start("series", tmp_path / "a.nc", 2)
    done = start("series", tmp_path / "b.nc", 2, [*ON, "ROMIO_FSTYPE_FORCE=ufs:"])
    assert plain.returncode == done.returncode == 0, done.stderr
    assert done.stderr.count("is written without overlap") == 1, done.stderr
    assert same(tmp_path)
