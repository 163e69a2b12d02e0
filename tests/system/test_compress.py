"""Programs whose files are compressed when they close them: SLABMARK_COMPRESS and the drop-in for PnetCDF."""

import os
import pathlib

import netCDF4
import numpy
import pytest
from conftest import long, needs_pnetcdf

pytestmark = [pytest.mark.long, needs_pnetcdf]

built = pathlib.Path(os.environ["SLABMARK_BIN"]).parent
library = built / "lib/libslabmark_pnetcdf.so"
is_there = pytest.mark.skipif(bool(os.environ.get("SLABMARK_SANITIZERS")), reason="the sanitizers must be the first library of a program")


@pytest.fixture(scope="session")
def compressed(run):
    """compressed(program, args, ranks, compression="deflate:1", ...): runs it with the drop-in and the option."""

    def start(program, args, ranks, compression="deflate:1", settings=(), **more):
        environment = [f"LD_PRELOAD={library}", f"SLABMARK_COMPRESS={compression}", *settings]
        return run("/usr/bin/env", [*environment, built / "bin" / program, *args], ranks=ranks, launch=True, **more)

    return start


def described(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        variables = [(name, str(it.dtype), it.dimensions, it.__dict__.keys(), numpy.asarray(it[:]).tobytes()) for name, it in file.variables.items()]
        return list(file.dimensions), file.__dict__, variables


def is_compressed(path):
    with netCDF4.Dataset(path) as file:
        return file.data_model == "NETCDF4" and all(it.filters()["zlib"] for it in file.variables.values() if it.shape)


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


@is_there
@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), 2, long(4), long(7)])
def test_files_hold_what_they_hold_without_it_and_are_compressed(run, compressed, tmp_path, ranks):
    """Records and variables without, nonblocking and blocking calls, several files open, definitions and attributes of later."""
    for folder in ("with", "without"):
        (tmp_path / folder).mkdir()
    words = ["f.nc", "3", "history"]
    done = run("captured_steps", words, ranks=ranks, launch=True, cwd=tmp_path / "without")
    assert done.returncode == 0, done.stderr
    done = compressed("captured_steps", words, ranks, cwd=tmp_path / "with", settings=["SLABMARK_COMPRESS_SHUFFLE=1"])
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert left_in(tmp_path / "with") == left_in(tmp_path / "without")
    for name in left_in(tmp_path / "with"):
        assert is_compressed(tmp_path / "with" / name), name
        assert described(tmp_path / "with" / name) == described(tmp_path / "without" / name), name


@is_there
@pytest.mark.parametrize("ranks", [4])
def test_random_calls_return_and_leave_the_same(run, compressed, tmp_path, ranks, monkeypatch):
    monkeypatch.setenv("OMPI_MCA_io", "^ompio")
    first, _, last = os.environ.get("SLABMARK_DROPIN_SEEDS", "1-2").partition("-")
    for folder, start in (("without", lambda *args, **more: run(*args, launch=True, **more)), ("with", compressed)):
        (tmp_path / folder).mkdir()
        done = start("pnetcdf_random", [f"{first}-{last}", 40, "f.nc", "log"], ranks=ranks, cwd=tmp_path / folder)
        assert done.returncode == 0, done.stderr
    assert left_in(tmp_path / "with") == left_in(tmp_path / "without")
    for name in left_in(tmp_path / "with"):
        one, other = tmp_path / "with" / name, tmp_path / "without" / name
        if name.startswith("log"):
            assert one.read_text() == other.read_text(), name
        else:
            assert is_compressed(one) and described(one) == described(other), name


@is_there
@pytest.mark.parametrize("ranks", [3])
def test_a_compressed_file_is_read_and_appended_to_like_a_classic_one(compressed, tmp_path, ranks):
    for case, records in (("create", 2), ("read", 2), ("append", 2), ("read", 4)):
        done = compressed("pnetcdf_compressed", [case, "f.nc"], ranks, cwd=tmp_path)
        assert done.returncode == 0 and done.stdout == f"format 5, its name, {records} records, 0 wrong\n", done.stdout + done.stderr
        assert left_in(tmp_path) == ["f.nc"] and is_compressed(tmp_path / "f.nc")
    with netCDF4.Dataset(tmp_path / "f.nc") as file:
        assert file.history == "twice" and file["time"][:].tolist() == [0, 1, 2, 3] and file["series"].units == "K"


@is_there
def test_a_file_that_moves_or_goes_while_it_is_open(compressed, tmp_path):
    done = compressed("pnetcdf_compressed", ["moved", tmp_path / "f.nc"], 3, cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert left_in(tmp_path) == ["beside.nc", "f.nc.moved"]
    assert is_compressed(tmp_path / "beside.nc") and is_compressed(tmp_path / "f.nc.moved")


@is_there
def test_codes_are_those_of_pnetcdf_and_permissions_and_links_stay(compressed, tmp_path):
    (tmp_path / "else").mkdir()
    (tmp_path / "f.nc").symlink_to("else/g.nc")
    assert compressed("pnetcdf_compressed", ["create", "f.nc"], 2, cwd=tmp_path, preexec_fn=lambda: os.umask(0o27)).returncode == 0
    assert (tmp_path / "f.nc").is_symlink() and is_compressed(tmp_path / "f.nc")
    assert (tmp_path / "else/g.nc").stat().st_mode & 0o777 == 0o640
    done = compressed("pnetcdf_compressed", ["codes", "f.nc"], 2, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    codes = [line for line in sorted(done.stdout.splitlines()) if "warning" not in line]
    assert codes == ["NC_EEXIST NC_ENOENT", "rank 0: close NC_EPENDING", "rank 1: close NC_EPENDING"]
    assert left_in(tmp_path) == ["else", "f.nc", "short.nc"] and is_compressed(tmp_path / "short.nc")


@is_there
def test_who_closes_a_file_last_compresses_it(compressed, tmp_path):
    done = compressed("pnetcdf_compressed", ["shared", "f.nc"], 3, cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert is_compressed(tmp_path / "f.nc")
    done = compressed("pnetcdf_compressed", ["read", "f.nc"], 3, cwd=tmp_path)
    assert done.stdout == "format 5, its name, 2 records, 0 wrong\n", done.stdout + done.stderr


@is_there
@pytest.mark.parametrize("compression, said", [("zstd:99", "from 1 to 22"), ("zstd:3", "HDF5_PLUGIN_PATH"), ("off", "")])
def test_what_cannot_be_done_is_told_once_and_files_stay_classic(compressed, tmp_path, monkeypatch, compression, said):
    monkeypatch.delenv("HDF5_PLUGIN_PATH", raising=False)
    done = compressed("pnetcdf_compressed", ["create", "f.nc"], 2, compression, cwd=tmp_path)
    assert done.returncode == 0 and said in done.stderr and done.stderr.count("\n") == bool(said), done.stderr
    assert (tmp_path / "f.nc").read_bytes()[:3] == b"CDF" and left_in(tmp_path) == ["f.nc"]


@is_there
def test_a_file_that_netcdf_4_cannot_hold_stays_classic(compressed, tmp_path):
    done = compressed("pnetcdf_compressed", ["refused", "f.nc"], 2, cwd=tmp_path)
    assert sorted(done.stdout.splitlines()) == ["rank 0: close NC_NOERR", "rank 1: close NC_NOERR"]
    assert "f.nc is not compressed and stays a classic file: Attribute 'CLASS'" in done.stderr and done.stderr.count("\n") == 1
    assert (tmp_path / "f.nc").read_bytes()[:3] == b"CDF" and left_in(tmp_path) == ["f.nc"]


@is_there
@pytest.mark.parametrize("ranks", [1, 2])
def test_on_a_full_disk_the_classic_file_stays_and_closing_fails(compressed, file_size_limit, tmp_path, ranks):
    done = compressed("pnetcdf_compressed", ["limit", "f.nc"], ranks, cwd=tmp_path, preexec_fn=file_size_limit)
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: close NC_EWRITE" for rank in range(ranks)], done.stderr
    assert "f.nc is not compressed and stays a classic file: " in done.stderr and done.stderr.count("\n") == 1
    assert left_in(tmp_path) == ["f.nc"]
    with netCDF4.Dataset(tmp_path / "f.nc") as file:
        assert file.data_model == "NETCDF3_CLASSIC" and numpy.count_nonzero(file["noise"][:]) == file["noise"].size


@is_there
@pytest.mark.parametrize("case", ["killed", "left open"])
def test_a_file_that_is_never_closed_stays_as_without_it_and_can_be_converted(run, compressed, tmp_path, case):
    done = compressed("pnetcdf_compressed", [case, "f.nc"], 2, cwd=tmp_path)
    assert left_in(tmp_path) == ["f.nc"] and ("has not closed it" in done.stderr) == (case != "killed")
    done = run("slabmark convert", ["f.nc", "-o", "small.nc", "--compress", "deflate", "--verify"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = compressed("pnetcdf_compressed", ["read", "small.nc"], 2, cwd=tmp_path)
    assert done.stdout == "format 5, its name, 2 records, 0 wrong\n", done.stdout + done.stderr


@is_there
def test_apply_compresses_and_checks_what_it_compressed(run, tmp_path):
    words = ["--compress", "deflate:1", "--shuffle", "--check", "--", built / "bin/captured_steps", "f.nc", "3", "history"]
    done = run("slabmark apply", words, launch=False, cwd=tmp_path)
    assert done.returncode == 0 and "equal: 4 files, 11 datasets" in done.stderr, done.stderr
    assert left_in(tmp_path) == ["f.nc.sums", "f.nc0", "f.nc1", "f.nc2"] and all(is_compressed(path) for path in tmp_path.iterdir())


@pytest.mark.parametrize("words, said", [(["--compress", "deflate:10"], "give a whole number from 1 to 9"),
                                         (["--shuffle"], "--shuffle is of no use alone"),
                                         (["--compress", "none", "--with", "log"], "--with log leaves out")])
def test_apply_refuses_what_cannot_be_done_before_the_program_starts(run, refused, tmp_path, words, said):
    done = run("slabmark apply", [*words, "--", "touch", "started"], launch=False, cwd=tmp_path)
    assert said in refused(done, "slabmark") and left_in(tmp_path) == []
