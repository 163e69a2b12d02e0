"""Hostile input: names, paths, outputs and damaged files, for all programs that share the rules of docs/files.md."""

import os
import struct

import pytest
from conftest import WITHOUT_PNETCDF, needs_pnetcdf, on_ranks

DIMS = [6, 2]
ROWS = [[3, 2, 1, 0, 7], [], [8, 9, 10, 11, 4, 5, 6]]
ESC = "\x1b[31m"
PNETCDF_REARRANGED = pytest.param("pnetcdf-rearranged", marks=needs_pnetcdf)
WAYS = ["--methods", "hdf5-slab"] if WITHOUT_PNETCDF else []  # of e3sm_io, whose defaults are PnetCDF's


@pytest.fixture
def maps(make_dat, tmp_path):
    """a.dat, an a.nc of many maps, and a file of the private layout, in a folder of their own."""
    folder = tmp_path / "in"
    folder.mkdir()
    make_dat(folder / "a.dat", DIMS, ROWS)
    return folder


@pytest.fixture
def blob(run, maps):
    """A sound file of the private layout."""
    run("dat2nc", ["-q", "a.dat"], cwd=maps)
    done = run("slabmark-bench", ["decomp", "--map", maps / "a.nc", "--method", "blob", "--keep", "--trials", "1",
                                  "-o", maps, "--no-bound", "--rounds", "2"])
    assert done.returncode == 0, done.stderr
    return maps / "slabmark-blob.blob"


# What reads a file, as a function of the file's name.
READERS = {
    "dat2nc": lambda path: ["dat2nc", path, "-o", "out.nc"],
    "dat2nc -i": lambda path: ["dat2nc", "-i", path, "-o", "out.nc"],
    "decomp info": lambda path: ["slabmark-decomp", "info", path],
    "decomp check": lambda path: ["slabmark-decomp", "check", path],
    "decomp convert": lambda path: ["slabmark-decomp", "convert", path, "-o", "out.nc"],
    "e3sm_io": lambda path: ["e3sm_io", path, "-o", "out.nc", *WAYS],
    "dwrite_eval": lambda path: ["dwrite_eval", "-c", path, "-o", "out"],
    "bench decomp": lambda path: ["slabmark-bench", "decomp", "--map", path, "--method", "posix"],
    "blob convert": lambda path: ["slabmark-blob", "convert", path, "-o", "out.nc"],
}


def make_input(kind, folder):
    path = folder / "input"
    if kind == "missing":
        pass
    elif kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        return "/dev/zero"
    elif kind == "circular link":
        path.symlink_to(path)
    elif kind == "empty":
        path.touch()
    elif kind == "name of 300 bytes":
        return "n" * 300
    elif kind == "name that controls the terminal":
        return f"line\nbreak{ESC}"
    elif kind == "name that is not UTF-8":
        return b"\xff\xfe"
    return path


KINDS = ["missing", "directory", "pipe", "device", "circular link", "empty", "name of 300 bytes",
         "name that controls the terminal", "name that is not UTF-8"]


@pytest.mark.parametrize("kind, ranks", on_ranks(KINDS, later=["pipe", "device", "empty"]))
def test_an_input_that_is_no_file_is_one_sentence_and_status_2(run, refused, each, kind, ranks):
    def check(reader, folder):
        work = folder / "work"
        work.mkdir()
        program, *args = READERS[reader](make_input(kind, folder))
        done = run(program, args, ranks=ranks, cwd=work, timeout=60)
        refused(done, program)
        assert "Internal error" not in done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert list(work.iterdir()) == []

    each(READERS if kind != "empty" else [r for r in READERS if r != "dat2nc -i"], check)


GENERATE = ["slabmark-decomp", "generate", "f", "--ne", "1", "--ranks", "2", "--levels", "2", "--map", "1", "--format"]
# What writes a file `out`, made from the map `a.dat`, and has the option --overwrite.
WRITERS = {
    "dat2nc to NetCDF": lambda out: ["dat2nc", "-q", "a.dat", "-o", out],
    "decomp convert to text": lambda out: ["slabmark-decomp", "convert", "a.dat", "-o", out, "--format", "dat"],
    "decomp convert to NetCDF": lambda out: ["slabmark-decomp", "convert", "a.dat", "-o", out, "--format", "nc"],
    "decomp generate text": lambda out: [*GENERATE, "dat", "-o", out],
    "decomp generate NetCDF": lambda out: [*GENERATE, "nc", "-o", out],
    "h5perf": lambda out: ["h5perf", "-A", "posix", "-e", "1K", "-B", "512", "-x", "1K", "-X", "1K", "-o", out],
}


each_writer = pytest.mark.parametrize(
    "writer", [pytest.param(writer, marks=needs_pnetcdf if "NetCDF" in writer else ()) for writer in WRITERS])


def output_name(writer):
    return "out.dat" if "text" in writer else "out.nc"


@each_writer
def test_what_exists_is_replaced_only_with_overwrite(run, refused, maps, writer):
    out = maps / output_name(writer)
    out.write_text("thesis")
    program, *args = WRITERS[writer](out.name)
    done = run(program, args, cwd=maps)
    assert "--overwrite" in refused(done, program)
    assert out.read_text() == "thesis"
    done = run(program, [*args, "--overwrite"], cwd=maps)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert not out.read_bytes().startswith(b"thesis")


@each_writer
def test_what_is_no_file_and_links_that_lead_nowhere_are_never_replaced(run, refused, maps, each, writer):
    name = output_name(writer)

    def check(kind, folder):
        (folder / "a.dat").write_bytes((maps / "a.dat").read_bytes())
        out = folder / name
        if kind == "directory":
            out.mkdir()
        elif kind == "pipe":
            os.mkfifo(out)
        else:
            out.symlink_to(out if kind == "circular link" else folder / "nothing")
        before = sorted((path.name, path.lstat().st_ino) for path in folder.iterdir())
        program, *args = WRITERS[writer](name)
        done = run(program, [*args, "--overwrite"], cwd=folder, timeout=30)
        assert name in refused(done, program)
        assert sorted((path.name, path.lstat().st_ino) for path in folder.iterdir()) == before

    each(["directory", "pipe", "circular link", "dangling link"], check)


@needs_pnetcdf
def test_dat2nc_replaces_a_netcdf_file_as_it_always_did(run, maps):
    for _ in range(2):
        assert run("dat2nc", ["-q", "a.dat"], cwd=maps).returncode == 0


@needs_pnetcdf
@pytest.mark.parametrize("ranks", [1, 4])
def test_an_output_that_is_an_input_is_refused_and_the_input_stays(run, refused, blob, each, ranks):
    cases = {
        "list": ("list.txt", ["dat2nc", "-i", "list.txt", "-o", "list.txt"]),
        "list, overwritten": ("list.txt", ["dat2nc", "-i", "list.txt", "-o", "list.txt", "--overwrite"]),
        "map": ("a.nc", ["slabmark-decomp", "convert", "a.nc", "-o", "a.nc", "--overwrite"]),
        "map by a link": ("a.nc", ["slabmark-decomp", "convert", "a.nc", "-o", "link.nc", "--overwrite"]),
        "map of a pattern": ("a_vard.nc", ["e3sm_io", "a_vard.nc", "--methods", "vard", "-o", "a.nc", "--overwrite"]),
        "private layout": ("b.blob", ["slabmark-blob", "convert", "b.blob", "-o", "b.blob", "--overwrite"]),
        "private layout by a hard link": ("b.blob", ["slabmark-blob", "convert", "b.blob", "-o", "hard", "--overwrite"]),
        "records": ("a.nc", ["e3sm_io", "a.nc", "-o", "x.nc", "--json", "a.nc"]),
    }

    def check(case, folder):
        victim, (program, *args) = cases[case]
        netcdf = (blob.parent / "a.nc").read_bytes()
        (folder / "a.nc").write_bytes(netcdf)
        (folder / "a_vard.nc").write_bytes(netcdf)
        (folder / "link.nc").symlink_to(folder / "a.nc")
        (folder / "b.blob").write_bytes(blob.read_bytes())
        os.link(folder / "b.blob", folder / "hard")
        (folder / "list.txt").write_text(str(blob.parent / "a.dat") + "\n")
        names = sorted(os.listdir(folder))
        before = (folder / victim).read_bytes()
        done = run(program, args, ranks=ranks, cwd=folder)
        refused(done, program)
        assert (folder / victim).read_bytes() == before
        assert sorted(os.listdir(folder)) == names

    each(cases, check)


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_text_map_that_is_also_an_output_is_refused_and_stays(run, refused, maps, ranks):
    (maps / "link.dat").symlink_to(maps / "a.dat")
    before = (maps / "a.dat").read_bytes()
    for command in (["slabmark-decomp", "convert", "a.dat", "-o", "a.dat", "--overwrite"],
                    ["slabmark-decomp", "convert", "a.dat", "-o", "link.dat", "--overwrite"],
                    ["slabmark-bench", "decomp", "--map", "a.dat", "--method", "posix", "--json", "a.dat"]):
        program, *args = command
        refused(run(program, args, ranks=ranks, cwd=maps), program)
        assert (maps / "a.dat").read_bytes() == before
        assert sorted(os.listdir(maps)) == ["a.dat", "link.dat"]


@pytest.mark.parametrize("program, args", [
    ("e3sm_io", ["a.dat", "--trials", ""]),
    ("e3sm_io", ["a.dat", "--json", ""]),
    ("h5perf", ["-p", ""]),
    ("slabmark-decomp", ["info", "a.dat", "--map", ""]),
    ("slabmark-decomp", ["info", ""]),
])
def test_an_empty_value_is_not_taken_for_none(run, refused, maps, program, args):
    done = run(program, args, cwd=maps)
    refused(done, program)


@pytest.mark.parametrize("place", ["/dev/full", "in/a.dat", "pipe"])
def test_records_go_only_where_records_belong_and_that_is_asked_first(run, sentence, maps, tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    before = (maps / "a.dat").read_bytes()
    done = run("e3sm_io", ["in/a.dat", "-o", "out.nc", "--json", place, *WAYS], cwd=tmp_path, timeout=30)
    assert done.returncode == 2 and done.stdout == "", (done.stdout, done.stderr)
    assert place in sentence(done, "e3sm_io")
    assert (maps / "a.dat").read_bytes() == before


def test_a_huge_culprit_is_cut_and_the_remedy_stays(run, refused, maps):
    done = run("slabmark-decomp", ["info", "a.dat", "--ranks", "9" * 100_000], cwd=maps)
    message = refused(done, "slabmark-decomp")
    assert len(message) < 2200 and message.startswith("--ranks is") and "give a whole number" in message


@needs_pnetcdf
@pytest.mark.parametrize("bytes_of_name", [231, 240, 252])
def test_a_long_name_is_a_sentence_not_a_crash(run, refused, blob, each, bytes_of_name):
    """OMPIO aborts on them."""
    name = "n" * (bytes_of_name - 3) + ".nc"
    cases = {
        "decomp info": ["slabmark-decomp", "info", name],
        "decomp convert": ["slabmark-decomp", "convert", "a.nc", "-o", "out" + name[3:]],
        "e3sm_io": ["e3sm_io", name, "-o", "x.nc"],
        "e3sm_io -o": ["e3sm_io", "a.nc", "-o", "out" + name[3:]],
        "blob convert": ["slabmark-blob", "convert", "b.blob", "-o", "out" + name[3:]],
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
        "slabmark-bench": ["decomp", "--map", maps / "a.dat", "--method", "hdf5-slab", "--trials", "1"],
        "slice_eval": ["--grid", "8,8,8", "-m", "append"],
    }

    def check(program, folder):
        done = run(program, cases[program], cwd=folder, env={**os.environ, variable: "nosuch"}, ranks=2)
        assert done.returncode == 2, (done.returncode, done.stderr)
        assert f"{variable} is 'nosuch'" in sentence(done, program)
        assert os.listdir(folder) == []

    each(cases, check)


def patch(data, offset, *numbers):
    packed = struct.pack(f"={len(numbers)}Q", *numbers)
    return data[:offset] + packed + data[offset + len(packed):]


def index_of_rank_0(data):
    """Offset of its numbers: count of maps, then for each its runs; count of entries, then five numbers each."""
    table = struct.unpack_from("=Q", data, 48)[0]
    return struct.unpack_from("=Q", data, table)[0]


def first_entry(data):
    at = index_of_rank_0(data)
    maps, at = struct.unpack_from("=Q", data, at)[0], at + 8
    for _ in range(maps):
        at += 8 + 16 * struct.unpack_from("=Q", data, at)[0]
    return at + 8


# Head: mark, version, ranks, rounds, offset and bytes of the description, offset of the table.
DAMAGES = {
    **{f"{what} {value:#x}": (lambda data, at=at, value=value: patch(data, at, value))
       for what, at in [("ranks", 16), ("offset of the description", 32), ("bytes of the description", 40),
                        ("offset of the table", 48)]
       for value in [2**20, 2**32, 2**61, 2**64 - 1]},
    **{f"{what} of an entry {value:#x}": (lambda data, at=at, value=value: patch(data, first_entry(data) + at, value))
       for what, at in [("dataset", 0), ("map", 16), ("offset", 24), ("round", 32)]
       for value in [2**20, 2**32, 2**61, 2**64 - 1]},
    **{f"count of maps {value:#x}": (lambda data, value=value: patch(data, index_of_rank_0(data), value))
       for value in [2**20, 2**61]},
    **{f"a run at {value:#x}": (lambda data, value=value: patch(data, index_of_rank_0(data) + 16, value))
       for value in [2**20, 2**63, 2**64 - 1]},
    "no ranks": lambda data: patch(data, 16, 0),
    "no datasets": lambda data: data.replace(b'"datasets":[', b'"datasets":[],"x":['),
    "no known type": lambda data: data.replace(b'"type":4', b'"type":99'),
    "not JSON": lambda data: data.replace(b'{"attributes"', b'["attributes"'),
    "cut": lambda data: data[:len(data) // 2],
    "head only": lambda data: data[:56],
    "another version": lambda data: patch(data, 8, 2),
}


# Ranks all read the head, and each the indices of some.
ON_SEVERAL_RANKS = ["ranks 0x2000000000000000", "bytes of the description 0x2000000000000000",
                    "offset of the table 0x2000000000000000", "dataset of an entry 0x2000000000000000",
                    "round of an entry 0x2000000000000000", "count of maps 0x100000", "a run at 0x8000000000000000", "cut"]


@needs_pnetcdf
def test_a_damaged_file_of_the_private_layout_is_one_sentence_and_status_2(run, refused, blob, each):
    sound = blob.read_bytes()

    def check(case, folder):
        damage, ranks = case
        damaged = DAMAGES[damage](sound)
        assert damaged != sound
        (folder / "in.blob").write_bytes(damaged)
        done = run("slabmark-blob", ["convert", "in.blob", "-o", "out.nc"], ranks=ranks, cwd=folder, timeout=30)
        assert "in.blob" in refused(done, "slabmark-blob")
        assert os.listdir(folder) == ["in.blob"]

    each(on_ranks(DAMAGES, later=ON_SEVERAL_RANKS), check)


@needs_pnetcdf
def test_rounds_that_hold_nothing_take_no_time(run, blob, tmp_path):
    (tmp_path / "in.blob").write_bytes(patch(blob.read_bytes(), 24, 2**62))
    done = run("slabmark-blob", ["convert", "in.blob", "-o", "out.nc"], cwd=tmp_path, timeout=30)
    assert done.returncode == 0, done.stderr
    assert run("slabmark-blob", ["convert", blob, "-o", "sound.nc"], cwd=tmp_path).returncode == 0
    assert (tmp_path / "out.nc").read_bytes() == (tmp_path / "sound.nc").read_bytes()


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
    for command in (["slabmark-decomp", "info"], ["e3sm_io", "-o", "out.nc"]):
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
    done = run("slabmark-bench", ["decomp", "--map", "huge.dat", "--method", method, "--trials", "1",
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
    map_file = make_map(tmp_path, ne=4, ranks=4, map=3)
    out = tmp_path / "out"
    out.mkdir()
    bench = os.path.join(os.environ["SLABMARK_BIN"], "slabmark-bench")
    done = run(script, [bench, "decomp", "--map", map_file, "--variables", "40", "--method", method, "--trials",
                        "1", "--no-bound", "-o", out], ranks=4)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert sentence(done, "slabmark-bench").startswith("rank 2 on host")
    assert "MPI_ABORT" not in done.stderr
    assert os.listdir(out) == []
