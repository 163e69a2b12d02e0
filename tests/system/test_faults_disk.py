"""Disks that are full, found out beforehand or only while ranks write: one sentence, no figure, no rank left waiting."""

import itertools
import os
import pathlib
import subprocess

import pytest
from conftest import needs_pnetcdf

pytestmark = pytest.mark.long

MPI_IO = {"OMPIO": "ompio", "ROMIO": "^ompio"}


@pytest.fixture(scope="session")
def lying(tmp_path_factory):
    """A library to preload: what asks for space is told that there is enough, as if another program took it just then."""
    library = tmp_path_factory.mktemp("lying") / "liblying.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, "-xc", "-", "-ldl"], check=True, text=True, input="""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <sys/statvfs.h>
        int statvfs(const char* path, struct statvfs* status) {
          int (*of_libc)(const char*, struct statvfs*) = dlsym(RTLD_NEXT, "statvfs");
          int result = of_libc(path, status);
          status->f_bavail = 1 << 30;
          return result;
        }
        int statvfs64(const char* path, struct statvfs64* status) { return statvfs(path, (struct statvfs*)status); }
        """)
    return library


@pytest.fixture(scope="session")
def map_file(tmp_path_factory, make_dat):
    """131072 elements, 1 MiB a variable, in blocks of 16 ranks."""
    rows = [range(1 + 8192 * rank, 8193 + 8192 * rank) for rank in range(16)]
    return make_dat(tmp_path_factory.mktemp("map") / "map.dat", [131072], rows)


def environment(mpi_io, **more):
    return {**os.environ, "OMPI_MCA_io": MPI_IO[mpi_io], **more}


def test_what_does_not_fit_on_the_disk_is_refused_before_it_is_written(run, sentence, small_disk, map_file, each):
    def check(case, folder):
        mpi_io, ranks = case
        done = run("dwrite_eval", ["-c", map_file, "-n", "10", "-o", folder], ranks=ranks, preexec_fn=small_disk(folder),
                   env=environment(mpi_io), timeout=120)
        assert done.returncode == 1, (done.stdout, done.stderr)
        assert "only" in sentence(done, "dwrite_eval") and "left" in done.stderr
        assert "MiB/sec" not in done.stdout and "end to end" not in done.stdout

    each(itertools.product(MPI_IO, [1, 4]), check)


def test_a_disk_that_fills_while_ranks_write_ends_them_all(run, small_disk, lying, map_file, each):
    """One after the other they would take two minutes, most of it waiting for ranks that hang in the library."""

    def check(case, folder):
        method, mpi_io, ranks = case
        done = run("e3sm_io", [map_file, "-n", "10", "--methods", method, "-o", folder], ranks=ranks,
                   preexec_fn=small_disk(folder), env=environment(mpi_io, LD_PRELOAD=str(lying)), timeout=120)
        assert done.returncode == 1, (done.stdout, done.stderr)
        told = [line for line in done.stderr.splitlines() if line.startswith("e3sm_io: error: ")]
        assert len(told) == 1, done.stderr
        assert "bandwidth" not in done.stdout

    each(itertools.product(["hdf5-slab", "hdf5-contiguous"], MPI_IO, [1, 4, 16]), check)


@needs_pnetcdf
def test_what_mpi_io_loses_without_a_word_is_no_figure(run, sentence, small_disk, lying, map_file, tmp_path):
    done = run("e3sm_io", [map_file, "-n", "10", "--no-verify", "-o", tmp_path], ranks=4, preexec_fn=small_disk(tmp_path),
               env=environment("OMPIO", LD_PRELOAD=str(lying)), timeout=120)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "space" in sentence(done, "e3sm_io")
    assert "bandwidth" not in done.stdout


def test_of_ranks_that_end_the_job_at_the_same_moment_one_speaks(run, sentence):
    done = run("end_together", [], ranks=4, launch=True, timeout=60)
    assert done.returncode == 1
    assert sentence(done, "end_together").count("the disk is full") == 1, done.stderr


def test_a_connector_without_space_fails_on_all_ranks_and_ends(run, small_disk, each):
    """OMPIO leaves ranks waiting where a collective write of HDF5's own fails, which is how it fills chunks."""
    plugins = pathlib.Path(os.environ["SLABMARK_BIN"], "..", "plugins")

    def check(case, folder):
        layout, (mpi_io, ranks, words) = case
        done = run("log_lives", ["full-disk", "parallel", *words], ranks=ranks, launch=True, cwd=folder, timeout=120,
                   preexec_fn=lambda: (small_disk(folder)(), os.chdir(folder)),
                   env=environment(mpi_io, HDF5_PLUGIN_PATH=str(plugins),
                                   HDF5_VOL_CONNECTOR=f"slablog under_vol=0;under_info={{}};layout={layout}"))
        assert done.returncode == 0, (done.stdout, done.stderr)
        failed, closed, disagreed = (int(word) for word in done.stdout.split() if word.isdigit())
        assert min(failed, closed) > 0 and disagreed == 0, done.stdout

    each(itertools.product(["canonical", "log"], [("ROMIO", 1, []), ("ROMIO", 4, []), ("OMPIO", 3, ["unfilled"])]), check)
