"""Capture of HDF5, MPI-IO and POSIX: what is recorded is what the program asked for, element by element."""

import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest
from capturing import (
    BIN,
    LIBRARIES,
    asked_of_hdf5,
    asked_of_mpi_io,
    elements,
    extents_in,
    play,
    preloads,
    recorded_of_hdf5,
    recorded_of_mpi_io,
    recorded_of_posix,
    structure,
)
from conftest import long, needs_pnetcdf
from seism_core import lines

pytestmark = pytest.mark.long


@pytest.mark.parametrize("ranks, seeds", [(1, range(1, 4)), (3, range(6, 7))])
def test_random_calls_of_hdf5_are_recorded_element_by_element(run, captured, tmp_path, ranks, seeds):
    for number, seed in enumerate(seeds):
        _, events = captured("capture_hdf5", [tmp_path / "r.h5", seed, 40, *(["serial"] if ranks == 1 else [])], ranks)
        extents = extents_in(run, tmp_path / f"{number}.pattern")
        for rank in range(ranks):
            asked = asked_of_hdf5(tmp_path / "r.h5", rank)
            assert len(asked) > 20
            assert recorded_of_hdf5(events[rank], extents) == asked, (seed, rank)


@preloads
@pytest.mark.parametrize("words", ["refused", "refused-empty"])
def test_what_mpi_refuses_it_refuses_with_the_same_codes(run, captured, tmp_path, words):
    """By a code that the program gets, in Open MPI's own MPI-IO and in ROMIO; and the pattern is played."""
    romio = {"OMPI_MCA_io": "^ompio"} if words == "refused-empty" else {}
    native = run("/usr/bin/env", [*(f"{key}={value}" for key, value in romio.items()), BIN / "capture_mpiio", tmp_path / "own", words])
    assert native.returncode == 0, native.stderr
    done, [events] = captured("capture_mpiio", [tmp_path / "own", words], **romio)
    assert done.stdout == native.stdout
    failed = [event for event in events if "failed" in event.get("flags", ()) and "selection" in event]
    assert len(failed) > 3 and {event["selection"] for event in failed} == {"nothing"}
    assert [event["request"] for event in events if "request" in event] == [1]
    [played] = play(run, tmp_path, "mpiio", 1)
    assert played.stat().st_size == 40


@preloads
@pytest.mark.parametrize("ranks, seeds", [(1, range(1, 2)), (3, range(3, 4))])
def test_random_calls_of_mpi_io_are_recorded_byte_by_byte(captured, tmp_path, ranks, seeds):
    for seed in seeds:
        _, events = captured("capture_mpiio", [tmp_path / f"{seed}.bin", seed, 50], ranks, launch=True)
        shared = []
        for rank in range(ranks):
            recorded, of_rank = recorded_of_mpi_io(events[rank])
            assert recorded == asked_of_mpi_io(tmp_path / f"{seed}.bin", rank), (seed, rank)
            shared += of_rank
        assert {"uncaptured": "MPI_File_delete", "count": 1} in events[0]
        assert [event for event in events[0] if event.get("call") == "MPI_Request_free" and event.get("requests")]
        # Of the shared pointer it is known only that no byte is written twice, and none left out.
        expected = sum(4 * (15 + 2 * rank) for rank in range(ranks))
        assert sorted(shared) == list(range(1 << 19, (1 << 19) + expected))


@pytest.mark.fast
@preloads
def test_calls_of_mpi_io_are_recorded_in_programs_that_never_make_a_world(run, captured, tmp_path):
    """They speak to MPI by a session (MPI 4) alone."""
    if run("capture_mpiio", [tmp_path / "own", "sessions"], 2).returncode != 0:
        pytest.skip("this MPI has no sessions, or MPI-IO does not do with them alone")
    _, events = captured("capture_mpiio", [tmp_path / "own", "sessions"], 2)
    for rank in range(2):
        written = [event["selection"] for event in events[rank] if "writes" in event.get("flags", ())]
        assert written[0] == {"starts": [[32 * rank]], "counts": [[32]]}
        # Intel MPI has a world nevertheless, by which the ordered call is told, too.
        uncaptured = [event["uncaptured"] for event in events[rank] if "uncaptured" in event]
        assert written[1:] == ["nothing"] or uncaptured == ["MPI_File_write_ordered at a place that could not be found out"]


@pytest.mark.fast
@preloads
@pytest.mark.parametrize("seed", [0, long(1)])
def test_calls_of_the_c_library_are_recorded_in_programs_that_use_no_other(captured, tmp_path, seed):
    done, [events] = captured("capture_posix", [tmp_path, seed])
    assert recorded_of_posix(events) == [line.split() for line in done.stdout.splitlines()]
    of_pieces = [event for event in events if event.get("call") in ("writev", "pwritev")]
    for event in of_pieces:
        length = event["selection"]["counts"][0][0] - 7
        assert (event["memory"]["starts"], event["memory"]["counts"]) == ([[0], [-150]], [[length], [7]])
    assert of_pieces
    assert [event["call"] for event in events if event.get("call") in ("close", "fclose")] == ["close", "fclose"]
    assert events[-1]["uncaptured"].startswith("fprintf")


@preloads
def test_memory_that_ranks_share_has_no_part_in_the_length_of_a_file(run, captured, tmp_path):
    """MPI has it in a file, which gets its length by ftruncate."""
    captured("capture_beside", ["window", tmp_path / "f", tmp_path / "log"], 2)
    [pattern] = tmp_path.glob("*.pattern")
    [found] = json.loads(run("slabmark decomp", ["info", pattern, "--json", "-"]).stdout)["maps"]
    assert found["elements"] == (tmp_path / "f").stat().st_size == (2 * 64 + 1) * 8


@pytest.mark.parametrize("program", ["capture_hdf5", "capture_mpiio", "capture_posix"])
def test_names_that_are_no_utf8_neither_end_the_program_nor_spoil_the_pattern(captured, tmp_path, program):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    _, [events] = captured(program, [folder if program == "capture_posix" else folder / "a", 1, 10], launch=True)
    assert {pathlib.Path(event["file"]).parent.name for event in events if "file" in event} == {"caf\ufffd"}


GERMAN = """
import locale, pathlib, sys
locale.setlocale(locale.LC_ALL, "")
assert locale.localeconv()["decimal_point"] == ","
pathlib.Path(sys.argv[1]).write_bytes(bytes(100))
"""


@preloads
def test_a_program_in_a_locale_with_a_decimal_comma_is_captured(captured, tmp_path):
    try:
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no locale with a decimal comma can be made here")
    (tmp_path / "german.py").write_text(GERMAN)
    settings = {"LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8", "SLABMARK_CAPTURE_POSIX": "on"}
    _, [events] = captured(sys.executable, [tmp_path / "german.py", tmp_path / "data"], **settings)
    assert [event["call"] for event in events if "writes" in event.get("flags", ())] == ["write"]


@preloads
@pytest.mark.parametrize("switch", ["auto", "on"])
def test_what_a_library_does_below_a_captured_call_is_not_recorded_again(captured, tmp_path, switch):
    """HDF5 writes by MPI-IO, and that by POSIX."""
    _, [events] = captured("capture_mpiio", [tmp_path / "f", 1, 10], launch=True, SLABMARK_CAPTURE_POSIX=switch)
    assert {event["call"][:3] for event in events if "call" in event} == {"MPI"}
    _, [events] = captured("capture_hdf5", [tmp_path / "f", 1, 10], launch=True, SLABMARK_CAPTURE_POSIX=switch)
    assert {event["call"][:2] for event in events} == {"H5"}


DESCRIPTORS = """
import ctypes, fcntl, mmap, os, subprocess, sys

os.chdir(sys.argv[1])


def made(name, more=0):
    return os.open(name, os.O_CREAT | os.O_RDWR | more, 0o666)


copies = made("copies")
others = [os.dup(copies), fcntl.fcntl(copies, fcntl.F_DUPFD, 100), os.dup2(copies, 200, inheritable=False)]
for descriptor in (copies, *others):
    os.write(descriptor, b"x" * 10)
os.closerange(min(copies, *others), 201)
pipe = os.pipe()
assert copies in pipe
os.write(pipe[1], b"x" * 1000)  # not what had the number before
ended = made("ended", os.O_APPEND)
os.write(ended, b"x" * 7)
os.pwrite(ended, b"x" * 5, 100)  # goes to the end, too
later = made("later")
other = os.dup(later)
fcntl.fcntl(other, fcntl.F_SETFL, os.O_APPEND)  # which all its numbers have now
os.write(later, b"x" * 7)
os.pwrite(later, b"x" * 5, 100)
fcntl.fcntl(later, fcntl.F_SETFL, 0)
os.pwrite(other, b"x" * 3, 100)
pieces = made("pieces")
os.pwritev(pieces, [b"x" * 6, b"x" * 3], 50, os.RWF_DSYNC)
target = made("target")
os.sendfile(target, pieces, 0, 20)
os.copy_file_range(pieces, target, 10)
os.splice(pipe[0], target, 500)
os.posix_fallocate(target, 0, 5000)
mmap.mmap(target, 5000, prot=mmap.PROT_READ)
output = os.dup(1)
subprocess.run(["true"], stdout=target)  # which the child of a vfork makes its standard output
os.write(1, b"printed")
os.write(target, b"x" * 4)
os.mkdir("below")
os.chdir("below")
os.write(made("copies"), b"x" * 2)
libc = ctypes.CDLL(None)
libc.fopen.restype = libc.freopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(libc.fopen(b"one", b"w"))
libc.fwrite(b"x" * 8, 1, 8, stream)
stream = ctypes.c_void_p(libc.freopen(b"two", b"w", stream))
libc.fwrite(b"x" * 9, 1, 9, stream)
libc.fputs(b"hello", stream)
libc.fflush(stream)
os._exit(0)
"""


@preloads
def test_whatever_moves_bytes_of_a_descriptor_is_recorded_or_counted_by_name(captured, tmp_path):
    """With all that `slabmark capture` preloads, in a program that uses none of the libraries."""
    (tmp_path / "script.py").write_text(DESCRIPTORS)
    preloaded = ":".join(map(str, [*(BIN.parent / "lib").glob("libslabcapture_pnetcdf.so"), *LIBRARIES]))
    done, [events] = captured(sys.executable, ["-B", tmp_path / "script.py", tmp_path], LD_PRELOAD=preloaded,
                              SLABMARK_CAPTURE_POSIX="auto")
    assert done.stdout == "printed"
    written = [(event["call"], os.path.relpath(tmp_path / event["file"], tmp_path), event["selection"]["starts"][0][0],
                event["selection"]["counts"][0][0]) for event in events if "writes" in event.get("flags", ())]
    assert written == [*(("write", "copies", 10 * i, 10) for i in range(4)), ("write", "ended", 0, 7), ("pwrite", "ended", 7, 5),
                       ("write", "later", 0, 7), ("pwrite", "later", 7, 5), ("pwrite", "later", 100, 3),
                       ("pwritev", "pieces", 50, 9), ("write", "target", 530, 4), ("write", "below/copies", 0, 2),
                       ("fwrite", "below/one", 0, 8), ("fwrite", "below/two", 0, 9)]
    uncaptured = {event["uncaptured"].split(",")[0]: event["count"] for event in events if "uncaptured" in event}
    assert uncaptured == {"sendfile": 1, "copy_file_range": 1, "splice": 1, "mmap for reading": 1, "fprintf": 1}
    assert "Not captured, and so not in the pattern: copy_file_range; fprintf" in done.notes
    assert [event.get("call") for event in events].count("posix_fallocate") == 1


OLD_HDF5 = """
#include <fcntl.h>
#include <unistd.h>
int old_create(const char* path) { return open(path, O_CREAT | O_WRONLY, 0600); }
"""


@preloads
@pytest.mark.parametrize("name, connector", [("libhdf5_old.so.103", "slabcapture"), ("libhdf5_old.so.103", "native"),
                                             ("libother.so", "slabcapture")])
def test_an_hdf5_that_takes_no_connector_is_named_wherever_it_comes_from(captured, tmp_path, name, connector):
    """As that of a module of Python, with which no program is linked."""
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / name, "-x", "c", "-"], input=OLD_HDF5, text=True, check=True)
    script = "import ctypes, os, sys; os.write(ctypes.CDLL(sys.argv[1]).old_create(b'data'), b'1234567')"
    done, [events] = captured(sys.executable, ["-B", "-c", script, tmp_path / name],
                              HDF5_VOL_CONNECTOR=f"{connector} under_vol=0;under_info={{}}", SLABMARK_CAPTURE_POSIX="on")
    assert [event["selection"]["counts"][0][0] for event in events if "writes" in event.get("flags", ())] == [7]
    is_named = (name, connector) == ("libhdf5_old.so.103", "slabcapture")
    assert (f"Not captured, and so not in the pattern: HDF5 ({name}), which took no connector." in done.notes) == is_named
    assert len([event for event in events if "uncaptured" in event]) == is_named


@preloads
def test_what_is_only_read_is_data_unless_it_is_code(captured, tmp_path):
    """By the ends of names: not every ".so" in one is that of a library."""
    data, code = ("flow.solution", "x.python.dat", "a.so.bin"), ("libx.so", "libx.so.6.1", "m.py", "m.pyc")
    for name in data + code:
        (tmp_path / name).write_bytes(bytes(100000))
    (tmp_path / "script.py").write_text("import sys\nfor name in sys.argv[1:]:\n    open(name, 'rb').read()\n")
    _, [events] = captured(sys.executable, ["-B", tmp_path / "script.py", *data, *code], SLABMARK_CAPTURE_POSIX="on")
    assert {event["file"] for event in events if "reads" in event.get("flags", ())} == set(data)


SELDOM = """
import ctypes, os, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.fopen.restype = ctypes.c_void_p
libc.fread.restype = ctypes.c_size_t


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


file = os.open("data", os.O_CREAT | os.O_RDWR, 0o666)
assert libc.dup2(999, file) == -1 and ctypes.get_errno() == 9
assert libc.dup3(file, file, 0) == -1 and ctypes.get_errno() == 22
data = ctypes.create_string_buffer(bytes(100000), 100000)
pieces = (Piece * 3)(Piece(None, 0), Piece(ctypes.addressof(data), 10), Piece(ctypes.addressof(data) + 10, 5))
assert libc.writev(file, pieces, 3) == 15
assert libc.writev(file, None, 1) == -1 and ctypes.get_errno() == 14
assert libc.pwrite(file, data, 100000, 0) == 100000
copy = os.dup(file)
os.dup2(copy, file, inheritable=False)
assert os.write(file, b"x" * 3) == 3
stream = ctypes.c_void_p(libc.fopen(b"data", b"r"))
assert libc.fread(data, 700, 1000, stream) == 142  # and 600 bytes more, which are no element
assert libc.fwrite(data, 1, 1, stream) == 0 and ctypes.get_errno() == 9
"""


@preloads
def test_calls_of_the_c_library_that_fail_or_move_a_part_leave_the_others_as_they_are(captured, tmp_path):
    (tmp_path / "script.py").write_text(SELDOM)
    _, [events] = captured(sys.executable, ["-B", tmp_path / "script.py"], SLABMARK_CAPTURE_POSIX="on")
    moved = [(event["call"], *event["selection"]["starts"][0], *event["selection"]["counts"][0], "memory" in event)
             for event in events if event.get("selection", "nothing") != "nothing"]
    assert moved == [("writev", 0, 15, False), ("pwrite", 0, 100000, False), ("write", 15, 3, False), ("fread", 0, 142 * 700, False)]
    assert [event["call"] for event in events if event.get("call") == "close"] == []


def test_it_stands_above_the_log_connector(run, captured, tmp_path):
    below = "under_vol=6204;under_info={under_vol=0;under_info={}}"
    _, events = captured("capture_hdf5", [tmp_path / "r.h5", 6, 20], ranks=2, below=below)
    extents = extents_in(run, tmp_path / "0.pattern")
    for rank in range(2):
        assert recorded_of_hdf5(events[rank], extents) == asked_of_hdf5(tmp_path / "r.h5", rank)
    import h5py

    with h5py.File(tmp_path / "r.h5") as file:
        assert "_slablog" in file


H5PY = """
import random, sys
import h5py, numpy

random.seed(int(sys.argv[2]))
written = []
with h5py.File(sys.argv[1], "w") as file:
    for number in range(3):
        shape = tuple(random.randint(2, 6) for _ in range(random.randint(1, 3)))
        dataset = file.create_dataset(f"g/{number}", shape, "f4", chunks=random.choice([None, True]))
        dataset.attrs["units"] = "m"
        for _ in range(6):
            index = [slice(*sorted(random.sample(range(n + 1), 2)), random.randint(1, 2)) for n in shape]
            at = random.randrange(len(shape))
            if random.random() < .3:
                index[at] = sorted(random.sample(range(shape[at]), random.randint(1, shape[at])))
            elif random.random() < .3:
                index[at] = random.randrange(shape[at])
            elements = numpy.arange(dataset.size).reshape(shape)[tuple(index)].ravel().tolist()
            dataset[tuple(index)] = numpy.ones(numpy.empty(shape)[tuple(index)].shape)
            print(dataset.name, *elements)
    print(file["g"].visititems(lambda name, item: print("#", item[()].sum()) if name == "0" else None))
"""


@preloads
def test_h5py_is_captured_with_the_hdf5_that_it_brings(run, captured, tmp_path):
    """The operator that visititems calls reads, which is the program's own call, too."""
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(H5PY)
    for seed in range(2):
        done, [events] = captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5", seed])
        extents = extents_in(run, tmp_path / f"{seed}.pattern")
        asked, recorded = collections.Counter(), collections.Counter()
        for line in done.stdout.splitlines():
            if line.startswith("/"):
                name, *numbers = line.split()
                asked.update((name, int(number)) for number in numbers)
        for event in events:
            if "writes" in event.get("flags", ()):
                recorded.update((event["dataset"], n) for n in elements(event["selection"], extents[event["dataset"]]))
        assert recorded == asked
        assert [event["dataset"] for event in events if "reads" in event.get("flags", ())] == ["/g/0"]


NETCDF = """
import sys
import netCDF4, numpy

with netCDF4.Dataset(sys.argv[1], "w") as file:
    file.createDimension("time", None)
    file.createDimension("x", 12)
    field = file.createVariable("T", "f4", ("time", "x"))
    field.units = "K"
    fixed = file.createVariable("fixed", "i2", ("x",))
    for step in range(3):
        field[step] = numpy.arange(12) + step + 1
    fixed[2:9] = 7
"""


@pytest.mark.fast
@preloads
def test_netcdf_4_is_captured_once_by_what_it_asks_of_hdf5(run, captured, tmp_path):
    """NetCDF-C calls HDF5, and that the C library: of each element one of these calls is recorded."""
    pytest.importorskip("netCDF4")
    (tmp_path / "script.py").write_text(NETCDF)
    _, [events] = captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.nc"])
    assert all(event.get("call", event.get("uncaptured")).startswith("H5") for event in events)
    written = [(event["dataset"], element) for event in events if "writes" in event.get("flags", ())
               for element in elements(event["selection"], [12] if event["dataset"] == "/fixed" else [3, 12])]
    assert written == [("/T", element) for element in range(36)] + [("/fixed", element) for element in range(2, 9)]
    [played] = play(run, tmp_path, "hdf5", 1)
    assert {"T", "fixed", "time", "x"} <= structure(played).keys()


def owners(events, extents):
    """Of the elements that each rank wrote: (dataset, number) of all its calls together."""
    found = set()
    for event in events:
        if "writes" in event.get("flags", ()):
            found.update((event["dataset"], n) for n in elements(event["selection"], extents[event["dataset"]]))
    return found


def elements_of_map(path, number, rank):
    """What a rank has of map `number` of a NetCDF file, by its own numbers."""
    with pytest.importorskip("netCDF4").Dataset(path) as file:
        requests = file[f"D{number}.nreqs"][:].tolist()
        first, last = sum(requests[:rank]), sum(requests[: rank + 1])
        pairs = zip(file[f"D{number}.offsets"][first:last].tolist(), file[f"D{number}.lengths"][first:last].tolist())
        return {element for begin, length in pairs for element in range(begin, begin + length)}


@needs_pnetcdf
@pytest.mark.parametrize("method", ["hdf5-points", "hdf5-multi"])
def test_methods_write_the_elements_of_the_map_that_they_were_given(run, captured, tmp_path, method):
    maps = tmp_path / "f.nc"
    run("slabmark decomp", ["generate", "f", "--ne", "2", "--ranks", "4", "-o", maps]).check_returncode()
    _, events = captured("slabmark bench", ["decomp", "--map", maps, "--method", method, "--trials", "1", "--no-verify", "--no-bound",
                                            "-d", tmp_path], ranks=4)
    extents = extents_in(run, tmp_path / "0.pattern")
    for rank in range(4):
        written = owners(events[rank], extents)
        for number, name in enumerate(sorted(extents), 1):
            assert {element for dataset, element in written if dataset == name} == elements_of_map(maps, number, rank), (rank, name)


@needs_pnetcdf
def test_dwrite_eval_is_captured_as_the_maps_that_it_was_given(run, captured, tmp_path):
    maps = tmp_path / "f.nc"
    run("slabmark decomp", ["generate", "f", "--ne", "2", "--ranks", "4", "-o", maps]).check_returncode()
    _, events = captured("dwrite_eval", ["-c", maps, "-n", "3", "-o", tmp_path / "out", "--no-verify"], ranks=4)
    extents = extents_in(run, tmp_path / "0.pattern")
    assert sorted(extents) == ["/D_0", "/D_1", "/D_2"]
    for rank in range(4):
        files = collections.defaultdict(list)
        for event in events[rank]:
            if "writes" in event.get("flags", ()) and event["call"].startswith("H5D"):
                files[pathlib.Path(event["file"]).name].append(event)
        assert {"ndwrite.h5", "dwrite.h5"} <= set(files)
        for written in files.values():
            for number, name in enumerate(sorted(extents), 1):
                owned = {element for dataset, element in owners(written, extents) if dataset == name}
                assert owned == elements_of_map(maps, number, rank)


def test_seism_core_slice_is_captured_as_the_blocks_that_it_was_told(run, captured):
    """Two steps of 1 x 2 x 2 blocks of 18 x 8 x 8."""
    _, events = captured("seism-core-slice", [], ranks=4, input=lines(4, "collective_write", time=2))
    for rank in range(4):
        written = [event for event in events[rank] if "writes" in event.get("flags", ()) and event["dataset"] == "/chunked"]
        places = [((step * 18 + x) * 16 + rank // 2 * 8 + y) * 16 + rank % 2 * 8 + z
                  for step in range(2) for x in range(18) for y in range(8) for z in range(8)]
        assert [element for event in written for element in elements(event["selection"], [2, 18, 16, 16])] == places


@preloads
@pytest.mark.parametrize("interface", ["posix", "mpiio", "phdf5"])
def test_h5perf_is_captured_through_each_of_its_interfaces(run, captured, tmp_path, interface):
    """Two ranks write 4 KiB each of one dataset in transfers of 1 KiB."""
    args = ["-A", interface, "-e", "4K", "-x", "1K", "-X", "1K", "-B", "1K", "-i", "1", "-w", "-p", "2", "-P", "2"]
    _, events = captured("h5perf", args, ranks=2, SLABMARK_CAPTURE_POSIX="on", HDF5_PARAPREFIX=str(tmp_path))
    for rank in range(2):
        written = [element for event in events[rank] if "writes" in event.get("flags", ())
                   for element in elements(event["selection"], [8192])]
        assert written == list(range(4096 * rank, 4096 * (rank + 1)))
