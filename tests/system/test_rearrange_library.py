"""The library for decomposed arrays as a program gets it: installed, moved, found, in C and in Fortran."""

import os
import pathlib
import re
import shutil
import subprocess

import h5py
import numpy as np
import pytest
from conftest import long, needs_pnetcdf

pytestmark = [pytest.mark.long, needs_pnetcdf]

checkout = pathlib.Path(__file__).resolve().parents[2]
sanitized = bool(os.environ.get("SLABMARK_SANITIZERS"))


@pytest.fixture(autouse=True)
def without_a_search_for_leaks(monkeypatch):
    """Programs forget what they opened on purpose, and MPI and PnetCDF forget after errors. The module's own tests look for leaks."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")


def build(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Where it is installed, and was then moved to."""
    if sanitized:
        pytest.skip("a program without sanitizers cannot load this build's library, which has them")
    folder = tmp_path_factory.mktemp("installed")
    built = pathlib.Path(os.environ["SLABMARK_BIN"]).parent
    build([os.environ["SLABMARK_CMAKE"], "--install", built, "--prefix", folder / "first", "--component", "rearrange"])
    return (folder / "first").rename(folder / "moved")


def fortran_compiler():
    return next(filter(None, map(shutil.which, filter(None, [os.environ.get("FC"), "gfortran", "gfortran-12"]))), None)


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory):
    folder = shutil.copytree(prefix / "share/slabmark/examples/rearrange", tmp_path_factory.mktemp("examples") / "rearrange")
    cmake, fortran = os.environ["SLABMARK_CMAKE"], fortran_compiler()
    stack = ["-DCMAKE_Fortran_FLAGS=-fstack-arrays"] if "gfortran" in str(fortran) else []  # as -Ofast has it
    with_fortran = ["-DWITH_FORTRAN=ON", f"-DCMAKE_Fortran_COMPILER={fortran}", *stack] if fortran else []
    with (folder / "CMakeLists.txt").open("a") as lists:
        lists.write(f"""
            if(WITH_FORTRAN)
              add_executable(cases_fortran {checkout}/tests/system/rearrange_cases.f90)
              target_link_libraries(cases_fortran PRIVATE slabmark::rearrange_fortran MPI::MPI_Fortran)
            endif()""")
    build([cmake, "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
           f"-DMPI_C_COMPILER={os.environ['SLABMARK_MPICC']}", *with_fortran])
    build([cmake, "--build", folder / "build"])
    return folder


@pytest.fixture(scope="module")
def native(run, tmp_path_factory):
    """The bytes of the examples' file, as PnetCDF's own calls write it."""
    path = tmp_path_factory.mktemp("native") / "a.nc"
    run("rearrange_cases", ["native", path], ranks=4, launch=True).check_returncode()
    return path.read_bytes()


def check_example(run, program, path, native, ranks, io_ranks=0):
    done = run(program, [path, io_ranks], ranks=ranks, launch=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(ranks - io_ranks)]
    assert path.read_bytes() == native


@pytest.mark.parametrize("program, ranks, io_ranks", [
    ("example", 4, 0), ("example_static", 4, 0), ("example_fortran", 4, 0), ("example", 4, 1), ("example_fortran", 7, 2)])
def test_the_examples_are_built_outside_and_write_what_pnetcdf_writes(run, examples, native, tmp_path, program, ranks, io_ranks):
    if program == "example_fortran" and not fortran_compiler():
        pytest.skip("no compiler of Fortran here: install gfortran")
    check_example(run, examples / "build" / program, tmp_path / "a.nc", native, ranks, io_ranks)


def test_fortran_is_told_what_cannot_be_on_all_ranks_and_needs_no_stack(run, examples, tmp_path):
    if not fortran_compiler():
        pytest.skip("no compiler of Fortran here: install gfortran")
    done = run(examples / "build/cases_fortran", [tmp_path / "a"], ranks=2, launch=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: -5 0 -3 -2 -2 -2 -2 0 and 0 wrong" for rank in range(2)]


def test_pkg_config_knows_it(run, prefix, examples, native, tmp_path):
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config here")
    folder = next(prefix.rglob("pkgconfig"))
    flags = build(["pkg-config", "--cflags", "--libs", "slabmark_rearrange_pnetcdf"],
                  env={**os.environ, "PKG_CONFIG_PATH": str(folder)}).stdout.split()
    build([os.environ["SLABMARK_MPICC"], examples / "example.c", "-o", tmp_path / "example", *flags, "-lpnetcdf",
           f"-Wl,-rpath,{folder.parent}"])
    check_example(run, tmp_path / "example", tmp_path / "a.nc", native, 3)


def test_what_is_installed_names_no_other_place_and_shows_no_other_names(prefix):
    texts = [path for path in prefix.rglob("*") if path.suffix in {".h", ".f90", ".pc", ".cmake", ".c"}]
    assert len(texts) > 10
    for path in texts:
        text = path.read_text()
        assert str(checkout) not in text and str(prefix.parent) not in text, path
        for header in re.findall(r'#include "(.*)"', text):
            assert (path.parent / header).exists(), f"{path} includes {header}, which is not there"
    for library in prefix.rglob("*.so"):
        shown = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        assert all(name.startswith("slabmark_") for name in re.findall(r" [TDBVW] (\S+)", shown)), library


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), 4])
def test_a_file_that_pnetcdf_has_open_can_be_written_by_both(run, native, tmp_path, ranks):
    done = run("rearrange_cases", ["adopt", tmp_path / "a.nc"], ranks=ranks, launch=True)
    assert done.returncode == 0, done.stderr
    lines = [f"rank {rank}: 3 records, 0 wrong, beyond them -8" for rank in range(ranks)]
    assert sorted(done.stdout.splitlines()) == lines
    assert (tmp_path / "a.nc").read_bytes() == native


@pytest.mark.parametrize("ranks", [1, 4])
def test_what_pnetcdf_changes_in_a_file_that_both_have_open_is_seen(run, tmp_path, ranks):
    done = run("rearrange_cases", ["changed", tmp_path / "a.nc"], ranks=ranks, launch=True)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: -12 -13, 0 wrong" for rank in range(ranks)]


@pytest.mark.parametrize("case", ["after pnetcdf", "after hdf5"])
@pytest.mark.parametrize("io_ranks", [0, 1])
def test_what_a_file_library_puts_after_a_flush_stays_also_with_flushes_in_flight(run, tmp_path, case, io_ranks):
    done = run("rearrange_cases", [case, tmp_path / "a", "2", io_ranks], ranks=3, launch=True)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(3 - io_ranks)]


@pytest.mark.parametrize("how, closed", [("take", 0), ("take elsewhere", 0), ("take refused", -5)])
def test_records_of_a_file_that_one_rank_has_defined_are_there_however_it_is_closed(run, native, tmp_path, how, closed):
    done = run("rearrange_cases", [how, tmp_path / "a.nc"], ranks=4, launch=True)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: -2 {closed}" for rank in range(4)]
    assert (tmp_path / "a.nc").read_bytes() == native


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), 3])
@pytest.mark.parametrize("where", ["hdf5", "hdf5 after a user block"])
def test_datasets_of_hdf5_are_written_where_they_lie_and_others_are_refused_on_all_ranks(run, tmp_path, where, ranks):
    done = run("rearrange_cases", [where, tmp_path / "a.h5"], ranks=ranks, launch=True)
    assert done.returncode == 0, done.stderr
    lines = [f"rank {rank}: {text}" for rank in range(ranks)
             for text in ("0 -13 -13", "-12 -12", "0 wrong -13 -13 -13 -13 -13 -13 0 -7 -8")]
    assert sorted(done.stdout.splitlines()) == sorted(lines)
    with h5py.File(tmp_path / "a.h5") as file:
        assert np.array_equal(file["area"][:], 0.5 * np.arange(96))
        expected = np.arange(480).reshape(5, 96) + 1000 * np.arange(3)[:, None, None]
        assert np.array_equal(file["T"][:], expected.astype(np.float32))
        assert np.array_equal(file["grows"][:], expected.astype(np.float32))


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), 3])
def test_files_of_one_structure_are_defined_once(run, tmp_path, ranks):
    done = run("rearrange_cases", ["define once", tmp_path], ranks=ranks, launch=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "same.h5").read_bytes() == (tmp_path / "first.h5").read_bytes()
    expected = np.arange(480).reshape(5, 96) + 1000 * np.arange(3)[:, None, None]
    for name, time in {"first": 1, "same": 1, "later": 2}.items():
        with h5py.File(tmp_path / f"{name}.h5", "a") as file:
            assert file.attrs["time"] == time
            assert np.array_equal(file["lat"][:], [-90, 0, 90])
            assert np.array_equal(file["area"][:], 0.5 * np.arange(96))
            assert np.array_equal(file["T"][:], expected.astype(np.float32))
            file["more"] = np.arange(1000)
        with h5py.File(tmp_path / f"{name}.h5") as file:
            assert np.array_equal(file["more"][:], np.arange(1000))
            assert np.array_equal(file["T"][:], expected.astype(np.float32))


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_file_is_not_taken_for_one_of_its_name_elsewhere(run, tmp_path, ranks):
    (tmp_path / "beside").mkdir()
    others = [tmp_path / "beside/a.h5", tmp_path / "beside/a.nc"]
    for other in others:
        other.write_text("another's")
    done = run("rearrange_cases", ["leave", tmp_path], ranks=ranks, launch=True)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: -2 -2" for rank in range(ranks)]
    assert {other.read_text() for other in others} == {"another's"}


@pytest.mark.parametrize("in_flight, io_ranks", [("0", 0), ("0", 1), ("2", 2)])
def test_ranks_for_io_write_where_the_program_has_gone(run, tmp_path, in_flight, io_ranks):
    (tmp_path / "there").mkdir()
    done = run("rearrange_cases", ["elsewhere", tmp_path / "there", in_flight, io_ranks], ranks=4, launch=True)
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.fromfile(tmp_path / "there/a.raw"), 0.5 * np.arange(96))


@pytest.mark.fast
def test_calls_after_mpi_has_ended_are_codes(run, tmp_path):
    done = run("rearrange_cases", ["late", tmp_path / "a"], ranks=2, launch=True)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: -1 -1 -1" for rank in range(2)]


@pytest.mark.parametrize("ends", ["file size limit", "full disk"])
@pytest.mark.parametrize("in_flight, io_ranks", [("0", 0), ("2", 0), ("0", 1), ("2", 1), ("2", 2)])
def test_a_file_that_may_not_grow_is_a_code_on_all_ranks(run, tmp_path, file_size_limit, small_disk, monkeypatch, in_flight,
                                                         io_ranks, ends):
    monkeypatch.setenv("OMPI_MCA_io", "^ompio")  # through which what does not fit is lost without an error
    done = run("rearrange_cases", ["limit", tmp_path / "a", in_flight, io_ranks], ranks=4, launch=True,
               preexec_fn=file_size_limit if ends == "file size limit" else small_disk(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"^rank \d: (-?\d+) (-?\d+) (.*)$", done.stdout, re.M)
    assert len(lines) == 4 - io_ranks and len({line[:2] for line in lines}) == 1, done.stdout
    assert lines[0][:2] == (("-12", "0") if in_flight == "0" else ("0", "-12"))
    assert all(str(tmp_path / "a") in line[2] for line in lines), done.stdout


@pytest.mark.parametrize("io_ranks", [0, 1])
def test_memory_that_one_rank_lacks_for_a_plan_is_a_code_on_all(run, tmp_path, io_ranks):
    if sanitized:
        pytest.skip("the sanitizers need all addresses")
    done = run("rearrange_cases", ["memory", tmp_path / "a", "0", io_ranks], ranks=4, launch=True)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: -11 -11, then 0" for rank in range(4 - io_ranks)]


@pytest.mark.parametrize("in_flight, io_ranks", [("0", 2), ("2", 0), ("2", 2)])
def test_a_program_that_forgets_its_system_ends_with_what_works_for_it(run, tmp_path, in_flight, io_ranks):
    done = run("rearrange_cases", ["forget", tmp_path / "a", in_flight, io_ranks], ranks=4, launch=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a").stat().st_size == 4 * (4 - io_ranks) * (4 << 19)


@pytest.mark.parametrize("who", ["killed", "killed io"])
@pytest.mark.parametrize("in_flight", ["0", "2"])
def test_a_rank_that_dies_ends_all_and_leaves_what_was_synchronized(run, was_killed, tmp_path, who, in_flight):
    done = run("rearrange_cases", [who, tmp_path / "a", in_flight, 1], ranks=4, launch=True)
    assert was_killed(done), done.stderr
    assert np.array_equal(np.fromfile(tmp_path / "a", count=96), 0.5 * np.arange(96))
