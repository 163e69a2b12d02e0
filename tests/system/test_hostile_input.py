"""Hostile input: names, paths, outputs and damaged files, for all programs that share the rules of docs/reference/files.md.

tests/programs has the sentences of the kinds that are not here.
"""

import os

import pytest
from conftest import WITHOUT_PNETCDF, needs_pnetcdf

pytestmark = pytest.mark.long

DIMS = [6, 2]
ROWS = [[3, 2, 1, 0, 7], [], [8, 9, 10, 11, 4, 5, 6]]
PNETCDF_REARRANGED = pytest.param("pnetcdf-rearranged", marks=needs_pnetcdf)
METHODS = ["--methods", "hdf5-slab"] if WITHOUT_PNETCDF else []  # of e3sm_io, whose defaults are PnetCDF's


@pytest.fixture
def maps(make_dat, tmp_path):
    """A folder with the map a.dat."""
    folder = tmp_path / "in"
    folder.mkdir()
    make_dat(folder / "a.dat", DIMS, ROWS)
    return folder


@pytest.fixture
def blob(run, maps):
    """A sound file of the private layout, and an a.nc beside it."""
    run("dat2nc", ["-q", "a.dat"], cwd=maps)
    done = run("slabmark bench", ["decomp", "--map", maps / "a.nc", "--method", "blob", "--keep", "--trials", "1",
                                  "-d", maps, "--no-bound", "--steps", "2"])
    assert done.returncode == 0, done.stderr
    return maps / "slabmark-blob.blob"


# The commands that read a file, each as a function of the file's name.
READERS = {
    "dat2nc": lambda path: ["dat2nc", path, "-o", "out.nc"],
    "dat2nc -i": lambda path: ["dat2nc", "-i", path, "-o", "out.nc"],
    "decomp info": lambda path: ["slabmark decomp", "info", path],
    "decomp check": lambda path: ["slabmark decomp", "check", path],
    "decomp convert": lambda path: ["slabmark decomp", "convert", path, "-o", "out.nc"],
    "e3sm_io": lambda path: ["e3sm_io", path, "-o", "out.nc", *METHODS],
    "dwrite_eval": lambda path: ["dwrite_eval", "-c", path, "-o", "out"],
    "bench decomp": lambda path: ["slabmark bench", "decomp", "--map", path, "--method", "posix"],
    "blob convert": lambda path: ["slabmark blob", "convert", path, "-o", "out.nc"],
}


@pytest.mark.fast
def test_a_name_of_no_file_that_controls_the_terminal_is_one_sentence_and_status_2(run, refused, each):
    def check(reader, folder):
        program, *args = READERS[reader]("line\nbreak\x1b[31m")
        done = run(program, args, ranks=4, cwd=folder)
        refused(done, program)
        assert "\x1b" not in done.stdout + done.stderr
        assert list(folder.iterdir()) == []

    each(READERS, check)


@pytest.mark.parametrize("ranks", [1, 4])
def test_what_exists_is_replaced_only_with_overwrite(run, refused, maps, ranks):
    (maps / "out.dat").write_text("thesis")
    words = ["convert", "a.dat", "-o", "out.dat"]
    done = run("slabmark decomp", words, ranks=ranks, cwd=maps)
    assert "--overwrite" in refused(done, "slabmark decomp")
    assert (maps / "out.dat").read_text() == "thesis"
    done = run("slabmark decomp", [*words, "--overwrite"], ranks=ranks, cwd=maps)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert (maps / "out.dat").read_text().startswith("version")


@needs_pnetcdf
def test_dat2nc_replaces_a_netcdf_file_as_it_always_did(run, maps):
    for _ in range(2):
        assert run("dat2nc", ["-q", "a.dat"], cwd=maps).returncode == 0


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_map_that_is_also_the_output_is_refused_and_stays(run, refused, maps, ranks):
    (maps / "link.dat").symlink_to(maps / "a.dat")
    before = (maps / "a.dat").read_bytes()
    done = run("slabmark decomp", ["convert", "a.dat", "-o", "link.dat", "--overwrite"], ranks=ranks, cwd=maps)
    refused(done, "slabmark decomp")
    assert (maps / "a.dat").read_bytes() == before
    assert sorted(os.listdir(maps)) == ["a.dat", "link.dat"]


@pytest.mark.parametrize("place", ["/dev/full", "in/a.dat", "pipe"])
def test_records_go_only_where_records_belong_and_that_is_asked_first(run, sentence, maps, tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    before = (maps / "a.dat").read_bytes()
    done = run("e3sm_io", ["in/a.dat", "-o", "out.nc", "--json", place, *METHODS], cwd=tmp_path, timeout=30)
    assert done.returncode == 2 and done.stdout == "", (done.stdout, done.stderr)
    assert place in sentence(done, "e3sm_io")
    assert (maps / "a.dat").read_bytes() == before


@needs_pnetcdf
@pytest.mark.parametrize("bytes_of_name", [231, 240, 252])
def test_a_long_name_is_a_sentence_not_a_crash(run, refused, blob, each, bytes_of_name):
    """OMPIO aborts on them."""
    name = "n" * (bytes_of_name - 3) + ".nc"
    cases = {
        "decomp info": ["slabmark decomp", "info", name],
        "decomp convert": ["slabmark decomp", "convert", "a.nc", "-o", "out" + name[3:]],
        "e3sm_io": ["e3sm_io", name, "-o", "x.nc"],
        "e3sm_io -o": ["e3sm_io", "a.nc", "-o", "out" + name[3:]],
        "blob convert": ["slabmark blob", "convert", "b.blob", "-o", "out" + name[3:]],
    }

    def check(case, folder):
        for file in [name, "a.nc"]:
            (folder / file).write_bytes((blob.parent / "a.nc").read_bytes())
        (folder / "b.blob").write_bytes(blob.read_bytes())
        names = sorted(os.listdir(folder))
        program, *args = cases[case]
        environment = {**os.environ, "OMPI_MCA_io": "ompio"}
        done = run(program, args, cwd=folder, env=environment)
        refused(done, program)
        assert sorted(os.listdir(folder)) == names

    each(cases, check)


@pytest.mark.parametrize("program, option, name", [
    pytest.param("dat2nc", "-q", "ufs:out.nc", marks=needs_pnetcdf), ("e3sm_io", "--methods=hdf5-slab", "ufs:out_hdf5-slab.h5")])
def test_a_name_that_mpi_io_would_cut_is_refused(run, refused, maps, program, option, name):
    """ROMIO takes ufs:out.nc for out.nc on a Unix file system."""
    environment = {**os.environ, "OMPI_MCA_io": "^ompio"}
    done = run(program, ["a.dat", option, "-o", "ufs:out.nc"], cwd=maps, env=environment)
    assert name in refused(done, program)
    assert os.listdir(maps) == ["a.dat"]


@pytest.mark.parametrize("variable", ["HDF5_VOL_CONNECTOR", "HDF5_DRIVER"])
def test_an_hdf5_that_does_not_start_as_its_environment_asks_is_one_sentence_and_status_2(run, sentence, maps, each,
                                                                                          variable):
    out = ["-o", "out", "--trials", "1"]
    cases = {
        "dwrite_eval": ["-c", maps / "a.dat", *out],
        "e3sm_io": [maps / "a.dat", "--methods", "hdf5-slab", *out],
        "h5perf": ["-A", "phdf5", "-e", "1K"],
        "slabmark bench": ["decomp", "--map", maps / "a.dat", "--method", "hdf5-slab", "--trials", "1"],
        "slice_eval": ["--grid", "8,8,8", "-m", "append"],
    }

    def check(program, folder):
        done = run(program, cases[program], cwd=folder, env={**os.environ, variable: "nosuch"}, ranks=2)
        assert done.returncode == 2, (done.returncode, done.stderr)
        assert f"{variable} is 'nosuch'" in sentence(done, program)
        assert os.listdir(folder) == []

    each(cases, check)


@needs_pnetcdf
@pytest.mark.parametrize("ranks", [1, 4])
def test_a_damaged_file_of_the_private_layout_is_one_sentence_and_status_2(run, refused, blob, tmp_path, ranks):
    sound = blob.read_bytes()
    blob.write_bytes(sound[:len(sound) // 2])
    done = run("slabmark blob", ["convert", blob, "-o", tmp_path / "out.nc"], ranks=ranks, timeout=30)
    assert blob.name in refused(done, "slabmark blob")
    assert not (tmp_path / "out.nc").exists()


@needs_pnetcdf
def test_a_map_of_no_ranks_is_refused(run, refused, tmp_path):
    netCDF4 = pytest.importorskip("netCDF4")
    with netCDF4.Dataset(tmp_path / "none.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("num_procs", None)
        file.createDimension("max_nreqs", 4)
        file.createVariable("nreqs", "i4", ("num_procs",))
        file.createVariable("offsets", "i4", ("num_procs", "max_nreqs"))
        file.var_ndims = 1
        file.dim_len_0 = 4
    for command in (["slabmark decomp", "info"], ["e3sm_io", "-o", "out.nc"]):
        program, *args = command
        done = run(program, [*args, "none.nc"], cwd=tmp_path)
        assert "0 ranks" in refused(done, program), (done.stdout, done.stderr)


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("method", ["mpiio-rearranged", PNETCDF_REARRANGED])
def test_a_huge_map_of_which_little_is_owned_is_written_at_once(run, tmp_path, method, ranks):
    rows = [[1, 2**20], [2**39, 2**39 + 1], [2**40 - 1], [2**40]]
    lines = ["version 2001 npes 4 ndims 1 ", f"{2**40} "]
    for rank, entries in enumerate(rows):
        lines += [f"{rank} {len(entries)}", "".join(f"{entry} " for entry in entries)]
    (tmp_path / "huge.dat").write_text("\n".join(lines) + "\n\n")
    done = run("slabmark bench", ["decomp", "--map", "huge.dat", "--method", method, "--trials", "1",
                                  "--no-verify", "--no-bound", "--keep"], ranks=ranks, cwd=tmp_path, timeout=60)
    if "File too large" in done.stderr or done.returncode == 1:
        pytest.skip("the file system takes no file of 8 TiB: " + done.stderr.strip())
    assert done.returncode == 0, done.stderr
    [path] = tmp_path.glob("slabmark-*")
    path.unlink()


@pytest.mark.parametrize("method", ["posix", "blob", "floor", "mpiio-independent", "mpiio-rearranged", PNETCDF_REARRANGED])
def test_a_rank_that_alone_cannot_write_is_one_sentence_and_no_abort(run, sentence, make_map, tmp_path, method):
    script = tmp_path / "limit-rank-2"
    script.write_text('#!/bin/bash\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 2 ] && ulimit -f 8192\nexec "$@"\n')
    script.chmod(0o755)
    map_file = make_map(tmp_path, ne=4, ranks=4, map_index=3)
    out = tmp_path / "out"
    out.mkdir()
    bench = os.path.join(os.environ["SLABMARK_BIN"], "slabmark")
    done = run(script, [bench, "bench", "decomp", "--map", map_file, "--variables", "40", "--method", method, "--trials",
                        "1", "--no-bound", "-d", out], ranks=4)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert sentence(done, "slabmark bench").startswith("rank 2 on host")
    assert "MPI_ABORT" not in done.stderr
    assert os.listdir(out) == []
