"""Capture of HDF5, MPI-IO and POSIX: what is recorded is what the program asked for, element by element, and the program does
what it does without.

Programs print what they ask for: capture_hdf5.c, capture_mpiio.c, capture_posix.c. Files without these are those of
test_slablog_lives.py and test_slablog_calls.py."""

import collections
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import needs_pnetcdf
from seism_core import lines
from test_slablog_layouts import h5py_of_the_connector
from test_slablog_lives import contents

BIN = pathlib.Path(os.environ["SLABMARK_BIN"])
LIBRARIES = [BIN.parent / "lib" / f"libslabcapture_{level}.so" for level in ("mpiio", "posix")]
SOURCES = pathlib.Path(__file__).parents[2]
# What is preloaded with the sanitizers wants theirs before it: LD_PRELOAD="$(gcc -print-file-name=libasan.so):...". The programs below
# and the scripts run so, by hand. As tests they would fail by leaks of others: of Python, ROMIO, PnetCDF's ncmpi_buffer_attach.
sanitized = bool(os.environ.get("SLABMARK_SANITIZERS"))


@pytest.fixture(scope="session", autouse=True)
def pnetcdf():
    """Those tests that need PnetCDF say so."""


def environment(pattern, below="under_vol=0;under_info={}", **more):
    beside = filter(None, [os.environ.get("LD_PRELOAD")])
    preloaded = {} if sanitized else {"LD_PRELOAD": ":".join([*beside, *map(str, LIBRARIES)])}  # the sanitizers must come first
    return {"SLABMARK_CAPTURE": str(pattern), "HDF5_PLUGIN_PATH": str(BIN.parent / "plugins"),
            "HDF5_VOL_CONNECTOR": f"slabcapture {below}", **preloaded, **more}


@pytest.fixture
def captured(run, tmp_path):
    """captured(program, args, ranks, **environment) -> (the finished process, the events of each rank)

    With KILLED in the environment it is killed, and what is returned is what was seen until then."""
    numbers = itertools.count()

    def capture(program, args, ranks=1, launch=None, input=None, **more):
        pattern = tmp_path / f"{next(numbers)}.pattern"
        settings = [f"{name}={value}" for name, value in environment(pattern, **more).items()]
        words = [*settings, program if str(program).startswith("/") else BIN / program, *args]
        done = run("/usr/bin/env", words, ranks=ranks, launch=launch, input=input, cwd=tmp_path)
        assert (done.returncode != 0) == ("KILLED" in more), done.stderr
        merged = run("slabmark-pattern", ["merge", f"{pattern}.parts", "-o", pattern])
        assert merged.returncode == 0, merged.stderr
        shown = [run("slabmark-pattern", ["show", pattern, "--rank", rank]) for rank in range(ranks)]
        events = [[json.loads(line) for line in one.stdout.splitlines()] for one in shown]
        for of_rank in events:
            assert ("KILLED" in more) == ({"ended": "early"} in of_rank), merged.stdout
            of_rank[:] = [event for event in of_rank if "ended" not in event]
        return done, events

    return capture


def product(lengths):
    result = 1
    for length in lengths:
        result *= length
    return result


def coordinates(box):
    """Of the elements of one box, in the order of the array."""
    start, count, stride, block = box
    along = [[first + i * step + j for i in range(n) for j in range(size)]
             for first, n, step, size in zip(start, count, stride, block)]
    return itertools.product(*along)


def elements(selection, extent):
    """Numbers in the order of an array of that extent."""
    if selection == "all":
        return list(range(product(extent)))
    if selection == "nothing":
        return []
    ones = [[1] * len(extent)] * len(selection["starts"])
    boxes = zip(selection["starts"], selection["counts"], selection.get("strides", ones), selection.get("blocks", ones))
    found = []
    for box in boxes:
        for point in coordinates(box):
            number = 0
            for at, length in zip(point, extent):
                number = number * length + at
            found.append(number)
    return found


def runs(text):
    """"3-5 7-7" as [3, 4, 5, 7]."""
    return [n for word in text.split() for n in range(int(word.split("-")[0]), int(word.split("-")[1]) + 1)]


def asked_of_hdf5(path, rank):
    asked = []
    for line in pathlib.Path(f"{path}.asked.{rank}").read_text().splitlines():
        if not (found := re.match(r"(H5\w+)(?: (/group \d/set \d))?(?: (collective|independent))?(.*)", line)):
            continue
        call, name, how, rest = found.groups()
        if call == "H5Dset_extent":
            asked.append((call, name, [int(word) for word in rest.split()]))
        elif call == "H5Fflush":
            asked.append((call,))
        else:
            in_file, in_memory = rest.split("/")
            asked.append((call, name, how, runs(in_file), runs(in_memory)))
    return asked


def recorded_of_hdf5(events, extents):
    """In the words of asked_of_hdf5; `extents` by dataset, from the header."""
    found = []
    extents = dict(extents)
    for event in events:
        if event["call"] == "H5Dset_extent":
            extents[event["dataset"]] = event["arguments"]
            found.append((event["call"], event["dataset"], event["arguments"]))
        elif event["call"] == "H5Fflush":
            found.append((event["call"],))
        elif "selection" in event:
            in_file = elements(event["selection"], extents[event["dataset"]])
            memory = event.get("memory")
            in_memory = elements(memory, memory["extent"]) if memory else list(range(len(in_file)))
            how = "collective" if "collective" in event["flags"] else "independent"
            found.append((event["call"], event["dataset"], how, in_file, in_memory))
    return found


def extents_in(run, pattern):
    header = json.loads(run("slabmark-pattern", ["show", pattern]).stdout)
    return {one["name"]: one["extent"] for one in reversed(header["definitions"]) if one["kind"] == "dataset"}


@pytest.mark.parametrize("ranks, seeds", [(1, range(1, 4)), (3, range(6, 7))])
def test_random_calls_of_hdf5_are_recorded_element_by_element(run, captured, tmp_path, ranks, seeds):
    for number, seed in enumerate(seeds):
        _, events = captured("capture_hdf5", [tmp_path / "r.h5", seed, 40, *(["serial"] if ranks == 1 else [])], ranks)
        extents = extents_in(run, tmp_path / f"{number}.pattern")
        for rank in range(ranks):
            asked = asked_of_hdf5(tmp_path / "r.h5", rank)
            assert len(asked) > 20
            assert recorded_of_hdf5(events[rank], extents) == asked, (seed, rank)


def asked_of_mpi_io(path, rank):
    lines = pathlib.Path(f"{path}.asked.{rank}").read_text().splitlines()
    return [(line.split(" ")[0], *(runs(part) for part in line.partition(" ")[2].split("/"))) for line in lines]


def recorded_of_mpi_io(events):
    """In the words of asked_of_mpi_io, and the bytes that went by a shared pointer."""
    recorded, shared = [], []
    for event in events:
        assert event.get("uncaptured", "MPI_File_delete") == "MPI_File_delete"
        if "selection" not in event:
            continue
        in_file = elements(event["selection"], [1 << 40])
        if re.search("shared|ordered", event["call"]):
            shared += in_file
        else:
            memory = elements(event["memory"], [1 << 40]) if "memory" in event else list(range(len(in_file)))
            recorded.append((event["call"], in_file, memory))
    return recorded, shared


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
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


def recorded_of_posix(events):
    """In the words of the lines that capture_posix prints."""
    return [[event["call"], pathlib.Path(event["file"]).name, str(event["selection"]["starts"][0][0]),
             str(event["selection"]["counts"][0][0])] for event in events if "selection" in event]


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
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


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@pytest.mark.parametrize("seed", range(2))
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


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
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


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_a_program_in_a_locale_with_a_decimal_comma_is_captured(captured, tmp_path):
    try:
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no locale with a decimal comma can be made here")
    (tmp_path / "german.py").write_text(GERMAN)
    settings = {"LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8", "SLABMARK_CAPTURE_POSIX": "on"}
    _, [events] = captured(sys.executable, [tmp_path / "german.py", tmp_path / "data"], **settings)
    assert [event["call"] for event in events if "writes" in event.get("flags", ())] == ["write"]


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
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


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
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
    assert [event.get("call") for event in events].count("posix_fallocate") == 1


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


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_calls_of_the_c_library_that_fail_or_move_a_part_leave_the_others_as_they_are(captured, tmp_path):
    (tmp_path / "script.py").write_text(SELDOM)
    _, [events] = captured(sys.executable, ["-B", tmp_path / "script.py"], SLABMARK_CAPTURE_POSIX="on")
    moved = [(event["call"], *event["selection"]["starts"][0], *event["selection"]["counts"][0], "memory" in event)
             for event in events if event.get("selection", "nothing") != "nothing"]
    assert moved == [("writev", 0, 15, False), ("pwrite", 0, 100000, False), ("write", 15, 3, False), ("fread", 0, 142 * 700, False)]
    assert [event["call"] for event in events if event.get("call") == "close"] == []


WHILE_OTHERS_OPEN = """
import os, signal, sys, threading, time

os.mkdir("below")
os.chdir("below")
ends = False


def open_files():
    while not ends:
        os.close(os.open("a", os.O_CREAT | os.O_RDWR, 0o666))


threads = [threading.Thread(target=open_files) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(100):
    child = os.fork()
    if child == 0:
        os.open("b", os.O_CREAT | os.O_RDWR, 0o666)
        os.kill(os.getpid(), signal.SIGKILL)
    begin = time.monotonic()
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        time.sleep(0.0005)
        ends = ends or time.monotonic() > begin + 1
        if time.monotonic() > begin + 30:
            print("hangs", flush=True)
            os.kill(child, signal.SIGKILL)
            os._exit(0)
ends = True
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_the_child_of_a_fork_waits_for_no_thread_that_it_does_not_have(captured, tmp_path):
    (tmp_path / "script.py").write_text(WHILE_OTHERS_OPEN)
    done, _ = captured(sys.executable, ["-B", "-W", "ignore", tmp_path / "script.py"], SLABMARK_CAPTURE_POSIX="on")
    assert done.stdout == ""


FORKED = """
import os, signal, sys, time

file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
os.write(file, b"x" * 10)
parent, limit = os.getpid(), time.monotonic() + 60
if os.fork() > 0:
    if "KILLED" in os.environ:
        os.kill(parent, signal.SIGKILL)
    sys.exit()
while os.getppid() == parent and time.monotonic() < limit:
    time.sleep(0.01)
for i in range(3):
    os.write(file, b"x" * 5)
os.open(sys.argv[1] + "s", os.O_CREAT | os.O_RDWR)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@pytest.mark.parametrize("ends", [{}, {"KILLED": "1"}], ids=["exits", "killed"])
def test_what_a_child_moves_after_its_parent_ended_is_counted(captured, tmp_path, ends):
    (tmp_path / "script.py").write_text(FORKED)
    _, [events] = captured(sys.executable, ["-B", tmp_path / "script.py", tmp_path / "file"], SLABMARK_CAPTURE_POSIX="on", **ends)
    assert [event for event in events if "uncaptured" in event] == [{"uncaptured": "calls of the child of a fork", "count": 4}]
    written = [event["selection"]["counts"] for event in events if "writes" in event.get("flags", ())]
    assert written == [[[10]]] or ends and not written  # the last second of who is killed may be missing


STREAMS = """
import ctypes, os, sys

libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
os.write(file, b"x" * 10)
stream = ctypes.c_void_p(libc.fdopen(file, b"r+"))
libc.fwrite(b"x" * 8, 1, 8, stream)
libc.fflush(stream)
os.write(file, b"x" * 7)
os.posix_fallocate(file, 0, 5000)
libc.fwrite(b"x" * 6, 1, 6, stream)
libc.fclose(stream)
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_a_stream_that_is_made_of_a_descriptor_is_played_with_it(run, captured, tmp_path):
    (tmp_path / "script.py").write_text(STREAMS)
    captured(sys.executable, ["-B", tmp_path / "script.py", tmp_path / "own"], SLABMARK_CAPTURE_POSIX="on")
    [played] = play(run, tmp_path, "posix", 1)
    assert played.stat().st_size == (tmp_path / "own").stat().st_size == 5000


def assert_with_the_last(recorded, asked):
    """What a program did is written once it goes on after it thought, with the call that it goes on with: the last one here."""
    assert len(asked) > 5 and recorded == asked


def test_a_program_that_is_killed_leaves_the_calls_of_hdf5_until_then(run, captured, tmp_path):
    """It has neither flushed nor closed its file. The call that it goes on with asks for the dataspace."""
    for number, seed in enumerate((2, 4)):
        _, [events] = captured("capture_hdf5", [tmp_path / "r.h5", seed, 12, "serial"], KILLED="1")
        asked = asked_of_hdf5(tmp_path / "r.h5", 0)
        recorded = recorded_of_hdf5(events, extents_in(run, tmp_path / f"{number}.pattern"))
        assert len(asked) > 5 and recorded in (asked, asked[:-1])


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_a_program_that_is_killed_leaves_the_calls_of_mpi_io_until_then(captured, tmp_path):
    _, events = captured("capture_mpiio", [tmp_path / "f", 2, 10], ranks=2, KILLED="1")
    for rank in range(2):
        asked = asked_of_mpi_io(tmp_path / "f", rank)
        recorded, shared = recorded_of_mpi_io(events[rank])
        assert_with_the_last(recorded, asked)
        assert not shared


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_a_program_that_is_killed_leaves_the_calls_of_the_c_library_until_then(captured, tmp_path):
    done, [events] = captured("capture_posix", [tmp_path, 1], KILLED="1")
    asked = [line.split() for line in done.stdout.splitlines()]
    assert_with_the_last(recorded_of_posix(events), asked)


WITHOUT_SPACE = {"hdf5": ("capture_hdf5", ["f", 3, 20, "serial"]), "mpiio": ("capture_mpiio", ["f", 3, 20]), "posix": ("capture_posix", [".", 3])}


@pytest.mark.parametrize("level", WITHOUT_SPACE)
def test_a_spool_without_space_is_told_once_and_the_program_goes_on(run, tmp_path, level):
    if sanitized and level != "hdf5":
        pytest.skip("the sanitizers must be the first library of a program")
    program, args = WITHOUT_SPACE[level]
    spool = tmp_path / "run.pattern.parts" / f"{os.uname().nodename}.spool"
    spool.parent.mkdir()
    spool.symlink_to("/dev/full")
    outcomes = []
    for settings in ({}, environment(tmp_path / "run.pattern")):
        folder = tmp_path / ("captured" if settings else "native")
        folder.mkdir()
        done = run("/usr/bin/env", [*(f"{key}={value}" for key, value in settings.items()), BIN / program, *args], cwd=folder)
        assert done.returncode == 0, done.stderr
        asked = folder / "f.asked.0"
        outcomes.append((done.stdout, asked.read_text() if asked.exists() else ""))
    assert outcomes[0] == outcomes[1] and any(outcomes[0])
    [told] = done.stderr.splitlines()
    assert told.startswith("slabmark capture: ") and "No space left" in told


FAILING_STORAGE = """
import os, random, resource, shutil, sys

how, parts, spool = sys.argv[1:]
random.seed(1)


def limit(what, number):
    resource.setrlimit(what, (number, resource.getrlimit(what)[1]))


if how == "folder":
    os.makedirs(spool)
elif how == "size":
    limit(resource.RLIMIT_FSIZE, 16 * 1024)
elif how == "disk":
    with open(parts + "/others", "wb", buffering=0) as others:
        while others.write(bytes(4096)) == 4096 and os.statvfs(parts).f_bavail > 3:
            pass
file = os.open("/dev/null", os.O_RDONLY)
os.close(file)
if how == "descriptors":
    limit(resource.RLIMIT_NOFILE, file + 1)
for step in range(20):
    assert os.open("data", os.O_CREAT | os.O_RDWR, 0o666) == file
    for _ in range(4000):
        assert os.pwrite(file, b"x" * random.randrange(1, 300), random.randrange(10000))
    os.close(file)
    if how == "removed" and step == 10:
        shutil.rmtree(parts)
if how == "disk":
    os.remove(parts + "/others")
print("went on")
"""
STORAGE = {"folder": "Is a directory", "size": "File too large", "descriptors": "Too many open files",
           "removed": "No such file or directory", "disk": "No space left on device"}


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@pytest.mark.parametrize("how", STORAGE)
def test_storage_of_the_spool_that_fails_is_told_once_and_the_program_goes_on(run, request, tmp_path, how):
    (tmp_path / "script.py").write_text(FAILING_STORAGE)
    parts, pattern = tmp_path / "disk/run.pattern.parts", tmp_path / "disk/run.pattern"
    parts.parent.mkdir()
    disk = {"preexec_fn": request.getfixturevalue("small_disk")(parts.parent)} if how == "disk" else {}
    settings = [f"{key}={value}" for key, value in environment(pattern, SLABMARK_CAPTURE_POSIX="on").items()]
    # What a disk of its own holds is seen by these processes alone.
    script = f'mkdir "{parts}"; "$@"; status=$?; [ {how} != disk ] || "{BIN}/slabmark-pattern" merge "{parts}" -o "{pattern}"; exit $status'
    done = run("/usr/bin/env", ["sh", "-c", script, "sh", "/usr/bin/env", *settings, sys.executable, "-B", tmp_path / "script.py", how, parts,
                                parts / f"{os.uname().nodename}.spool"], cwd=tmp_path, **disk)
    assert done.returncode == 0, done.stderr
    assert "went on" in done.stdout
    told = [line for line in done.stderr.splitlines() if line.startswith("slabmark capture: ")]
    assert len(told) == 1 and STORAGE[how] in told[0], done.stderr
    if how == "disk":
        assert "ended early" in done.stdout, done.stdout + done.stderr
    if how == "removed":
        assert not parts.exists()


SHORT_OF_MEMORY = """
import resource, sys
import h5py, numpy

count = 1 << 20
with h5py.File(sys.argv[1], "w") as file:
    dataset = file.create_dataset("x", (count,), "i4")
    dataset[0] = 1
    space, memory = dataset.id.get_space(), h5py.h5s.create_simple((count,))
    space.select_elements(numpy.arange(count - 1, -1, -1).reshape(-1, 1))
    values = numpy.arange(1, count + 1, dtype="i4")
    with open("/proc/self/statm") as file_of_sizes:
        used = int(file_of_sizes.read().split()[0]) * resource.getpagesize()
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + (12 << 20), most))
    try:
        dataset.id.write(memory, space, values)
    except OSError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    dataset[5] = 7
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_a_call_for_whose_record_there_is_no_memory_is_made_and_counted(run, captured, tmp_path):
    """HDF5 has too little, too, which it says by a code."""
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(SHORT_OF_MEMORY)
    native = run(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5"])
    done, [events] = captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5"])
    assert done.stdout == native.stdout
    assert {"uncaptured": "calls for which capture had no memory", "count": 1} in events
    assert [event.get("call") for event in events].count("H5Dwrite") == 2


EACH_ITS_OWN = """
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 0 ] || export SLABMARK_CAPTURE="$FULL"
exec "$@"
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@pytest.mark.parametrize("level", ["hdf5", "mpiio", "ordered"])
def test_a_rank_without_space_for_its_spool_holds_up_no_other(run, tmp_path, level):
    """What capture asks the ranks of a file together, it goes on asking where it no longer records on one of them."""
    (tmp_path / "script").write_text(EACH_ITS_OWN)
    full = tmp_path / "full.pattern"
    spool = pathlib.Path(f"{full}.parts") / f"{os.uname().nodename}.spool"
    spool.parent.mkdir()
    spool.symlink_to("/dev/full")
    settings = [f"{key}={value}" for key, value in environment(tmp_path / "run.pattern", FULL=str(full)).items()]
    words = ["capture_mpiio", tmp_path / "f", 3, 30] if level == "ordered" else ["capture_beside", level, tmp_path / "f", tmp_path / "log", 3]
    done = run("/usr/bin/env", [*settings, "sh", tmp_path / "script", BIN / words[0], *words[1:]], ranks=2)
    assert done.returncode == 0, done.stderr
    assert "No space left" in done.stderr
    merge = ["merge", f"{tmp_path / 'run.pattern'}.parts", "-o", tmp_path / "run.pattern", "--allow-missing"]
    run("slabmark-pattern", merge).check_returncode()
    shown = run("slabmark-pattern", ["show", tmp_path / "run.pattern", "--rank", 1]).stdout.splitlines()
    calls = collections.Counter(json.loads(line).get("call") for line in shown)
    expected = {"hdf5": ("H5Dwrite", 3), "mpiio": ("MPI_File_write_at_all", 3), "ordered": ("MPI_File_write_ordered", 4)}[level]
    assert calls[expected[0]] == expected[1]


LIVES = [("closed-first", "0"), ("closed-first", "3"), ("left-open", "dataset"), ("left-open", "attribute", "flush"),
         ("left-open", "file"), ("twice", "open"), ("twice", "reopen"), ("mounted",), ("mounted", "closed", "stays"),
         ("external",), ("external", "open"), ("linked-first",), ("aligned", "65536", "1048576", "100000"), ("elsewhere",),
         ("ended",), ("forked",), ("chosen",), ("unclosed",)]
# How often some of them are seen to write which file by HDF5. One that chooses its connector is seen below it, too.
SEEN = {("ended",): {"a.h5": 2, "b.h5": 1}, ("forked",): {"a.h5": 2}, ("chosen",): {"b.h5": 1}, ("unclosed",): {"a.h5": 2},
        ("elsewhere",): {"a.h5": 3}, ("left-open", "file"): {"a.h5": 1}}
CALLS = [("links", "tracked"), ("unlink", "NAME", "INC"), ("own-memory",), ("referenced",), ("mapped",), ("storage",),
         ("properties", "sizes-16"), ("properties", "userblock"), ("properties", "page-buffer")]


def readable(path, words):
    """What is in a file; None where HDF5 1.14 itself cannot read what it has made with lengths of 16 bytes."""
    try:
        return contents(path)
    except RuntimeError:
        if words[-1] != "sizes-16":
            raise
        return None


def test_programs_do_and_say_what_they_do_without_it(run, each):
    """Ids left open, files closed in another order, mounted, linked; error stacks are printed to stderr."""

    def check(case, folder):
        program, words = case
        outcomes = []
        for name in ("native", "captured"):
            (folder / name).mkdir()
            settings = {} if name == "native" else environment(folder / "run.pattern")
            done = run("/usr/bin/env", [*(f"{key}={value}" for key, value in settings.items()), BIN / program, *words],
                       cwd=folder / name)
            files = {path.name: readable(path, words) for path in sorted((folder / name).glob("*.h5"))}
            outcomes.append((done.returncode, done.stdout, done.stderr, files))
        assert outcomes[1] == outcomes[0]
        assert outcomes[0][3]
        pattern = folder / "run.pattern"
        assert any(pathlib.Path(f"{pattern}.parts").glob("*.spool"))
        if words in SEEN:
            run("slabmark-pattern", ["merge", f"{pattern}.parts", "-o", pattern]).check_returncode()
            shown = run("slabmark-pattern", ["show", pattern, "--rank", "0"]).stdout.splitlines()
            events = [event for event in map(json.loads, shown) if "writes" in event.get("flags", ())]
            written = [event["file"] for event in events if event["call"].startswith("H5")]
            assert collections.Counter(written) == SEEN[words]
            assert '{"ended": "early"}' not in shown

    each([("log_lives", words) for words in LIVES] + [("log_calls", words) for words in CALLS], check)


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


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
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


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
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
    run("slabmark-decomp", ["generate", "f", "--ne", "2", "--ranks", "4", "-o", maps]).check_returncode()
    _, events = captured("slabmark-bench", ["decomp", "--map", maps, "--method", method, "--trials", "1", "--no-verify", "--no-bound",
                                            "-o", tmp_path], ranks=4)
    extents = extents_in(run, tmp_path / "0.pattern")
    for rank in range(4):
        written = owners(events[rank], extents)
        for number, name in enumerate(sorted(extents), 1):
            assert {element for dataset, element in written if dataset == name} == elements_of_map(maps, number, rank), (rank, name)


@needs_pnetcdf
def test_dwrite_eval_is_captured_as_the_maps_that_it_was_given(run, captured, tmp_path):
    maps = tmp_path / "f.nc"
    run("slabmark-decomp", ["generate", "f", "--ne", "2", "--ranks", "4", "-o", maps]).check_returncode()
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


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@pytest.mark.parametrize("interface", ["posix", "mpiio", "phdf5"])
def test_h5perf_is_captured_through_each_of_its_interfaces(run, captured, tmp_path, interface):
    """Two ranks write 4 KiB each of one dataset in transfers of 1 KiB."""
    args = ["-A", interface, "-e", "4K", "-x", "1K", "-X", "1K", "-B", "1K", "-i", "1", "-w", "-p", "2", "-P", "2"]
    _, events = captured("h5perf", args, ranks=2, SLABMARK_CAPTURE_POSIX="on", HDF5_PARAPREFIX=str(tmp_path))
    for rank in range(2):
        written = [element for event in events[rank] if "writes" in event.get("flags", ())
                   for element in elements(event["selection"], [8192])]
        assert written == list(range(4096 * rank, 4096 * (rank + 1)))


def structure(path):
    """What a file holds but for its elements: of those, which were written (not the fill value)."""
    h5py = pytest.importorskip("h5py")
    found = {}

    def visit(name, item):
        attributes = sorted((key, value.shape, str(value.dtype)) for key, value in item.attrs.items())
        if not isinstance(item, h5py.Dataset):
            found[name] = attributes
            return
        creation = item.id.get_create_plist()
        filters = [creation.get_filter(i)[0] for i in range(creation.get_nfilters())]
        written = (item[...] != item.fillvalue).tolist()
        found[name] = (item.shape, item.maxshape, str(item.dtype), item.chunks, filters, attributes, written)

    with h5py.File(path) as file:
        visit("/", file)
        file.visititems(visit)
    return found


def play(run, tmp_path, level, ranks, *options):
    """The files that as-captured leaves."""
    folder = tmp_path / "played"
    folder.mkdir()
    done = run("slabmark-bench", ["captured", "--pattern", tmp_path / "0.pattern", "--method", "as-captured", "--trials", "1", "--no-bound",
                                  "--keep", *options, "-o", folder], ranks=ranks, launch=True)
    assert done.returncode == 0, done.stderr
    assert "HDF5-DIAG" not in done.stderr, "the pattern file is closed before HDF5 ends"
    verified = "" if "--no-verify" in options else "yes"
    assert re.search(rf"^as-captured-{level} .*{verified}", done.stdout, re.M), done.stdout
    return list(folder.iterdir())


@pytest.mark.parametrize("level", ["hdf5", "mpiio", "posix", "defined"])
def test_what_a_program_moves_beside_its_library_is_not_what_is_played(run, captured, tmp_path, level):
    """All are linked with HDF5 and write a log by POSIX; two look by MPI-IO at a file that was there, and at what they have made of it."""
    if sanitized and level in ("mpiio", "posix"):
        pytest.skip("the sanitizers must be the first library of a program")
    (tmp_path / "own").touch()
    captured("capture_beside", [level, tmp_path / "own", tmp_path / "log"], 2, launch=True)
    is_hdf5 = level in ("hdf5", "defined")
    played = play(run, tmp_path, "hdf5" if is_hdf5 else level, 2)
    if is_hdf5:
        assert [structure(file) for file in played] == [structure(tmp_path / "own")]
    else:  # without a library above it, the log is one of the program's files
        assert {file.stat().st_size for file in played} == ({1000, 1024} if level == "posix" else {1032})


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_calls_of_hdf5_made_again_leave_the_same_file(run, captured, tmp_path, ranks):
    captured("scattered", [tmp_path / "own.h5", 10, 4, 3], ranks, launch=True)
    [played] = play(run, tmp_path, "hdf5", ranks)
    assert structure(played) == structure(tmp_path / "own.h5")


def test_a_captured_program_is_played_without_a_word_of_hdf5(run, captured, tmp_path):
    """The pattern file is closed before MPI ends, and HDF5 with it."""
    captured("scattered", [tmp_path / "own.h5", 10, 4, 2], launch=True)
    done = run("slabmark-bench", ["captured", "--pattern", tmp_path / "0.pattern", "--method", "hdf5-union,posix", "--trials", "1", "--no-bound",
                                  "-o", tmp_path])
    assert done.returncode == 0 and "HDF5" not in done.stderr, done.stderr


@pytest.mark.parametrize("seed", [2, 3])
def test_random_calls_of_hdf5_made_again_write_the_same_elements(run, captured, tmp_path, seed):
    """Not verified: where an element is written twice, the bench expects what the pattern wrote last."""
    captured("capture_hdf5", [tmp_path / "own.h5", seed, 30, "serial"])
    [played] = play(run, tmp_path, "hdf5", 1, "--no-verify")
    assert structure(played) == structure(tmp_path / "own.h5")


AGAIN = """
import sys
import h5py, numpy

first, second = sys.argv[1:]
with h5py.File(first, "w") as a, h5py.File(second, "w") as b:
    x = a.create_dataset("x", (0, 6), "f8", maxshape=(None, 6), chunks=(1, 6))
    y = b.create_dataset("g/y", (8,), "i4")
    for owner in (b, b["g"], b.create_group("g/h")):
        owner.attrs["numbers"] = numpy.arange(len(owner.name))
    h5py.h5a.create(b.id, b"by_name", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((3,)), obj_name=b"g/h")
    for step in range(3):
        x.resize(step + 1, 0)
        x[step] = numpy.arange(6) + 1
        y[step * 2 : step * 2 + 2] = x[step, :2]
with h5py.File(first, "a") as a:
    a["x"].resize(5, 0)
    a["x"][3:5] = 1
    a.create_dataset("z", (4,), "u2")[1:3] = 7
    del a["z"]
    a.create_dataset("z", (4,), "u2")[1:4] = 7
with h5py.File(second, "r+") as b:
    b["g/y"][6:] = b["g/y"][:2] + 1
    b["g/y"].attrs["number"] = 5
    h5py.h5a.create(b.id, b"late", h5py.h5t.NATIVE_INT32, h5py.h5s.create(h5py.h5s.SCALAR), obj_name=b"g/y")
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_files_of_hdf5_that_are_opened_again_are_made_again_each_as_it_was(run, captured, tmp_path):
    """Two that are open at once; datasets that grow, are read in between, replaced, and get attributes, as groups do."""
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(AGAIN)
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5", tmp_path / "b.h5"])
    played = sorted((structure(path) for path in play(run, tmp_path, "hdf5", 1)), key=str)
    assert played == sorted((structure(tmp_path / name) for name in ("a.h5", "b.h5")), key=str)


OUTSIDE = """
import sys
import h5py

with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("x", (10,), "f8", external=[(sys.argv[2], 0, 80)])[...] = 1
    file.attrs["a"] = 1
    del file.attrs["a"]
    h5py.h5t.STD_I8LE.copy().commit(file.id, b"type")
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_elements_in_files_of_the_program_are_left_alone(run, captured, tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(OUTSIDE)
    _, [events] = captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5", tmp_path / "raw"])
    assert [event["uncaptured"] for event in events if "uncaptured" in event] == ["H5Adelete", "H5Tcommit"]
    before = (tmp_path / "raw").read_bytes()
    done = run("slabmark-bench", ["captured", "--pattern", tmp_path / "0.pattern", "--method", "as-captured", "--trials", "1",
                                  "-o", tmp_path])
    assert done.returncode == 0 and "lie in files that the program names" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "raw").read_bytes() == before


KINDS = """
import sys
import h5py, numpy

path, reads = sys.argv[1:]
point = numpy.dtype([("id", "i4"), ("x", ">f8", (3,)), ("kind", "S3")], align=True)
kinds = {"compound": point, "nested": numpy.dtype([("p", point), ("ok", "?")]), "complex": "c16", "bool": "?",
         "enum": h5py.enum_dtype({"red": 3, "green": 7}, basetype="u2"), "big": ">i4", "big_real": ">f4", "half": "f2",
         "opaque": "V5", "text": "S6", "letter": "S1"}
with h5py.File(path, "r" if reads else "w") as file:
    for name, kind in kinds.items():
        if reads:
            file[name][1:7, 2:5], file[name][0, ::2], file[name + "_grown"][1], file[name + "_one"][()]
            continue
        fixed = file.create_dataset(name, (9, 6), kind)
        fixed[1:7, 2:5] = numpy.zeros((6, 3), fixed.dtype)
        fixed[0, ::2] = numpy.zeros(3, fixed.dtype)
        grown = file.create_dataset(name + "_grown", (0, 6), kind, maxshape=(None, 6), chunks=(2, 4), compression=1)
        for step in range(3):
            grown.resize(step + 1, 0)
            grown[step, :] = numpy.zeros(6, grown.dtype)
        file.create_dataset(name + "_one", (), kind)[()] = numpy.zeros((), fixed.dtype)
    if not reads:  # 12 of 16 bits
        few = h5py.h5t.STD_I16LE.copy()
        few.set_precision(12)
        h5py.h5d.create(file.id, b"few_bits", few, h5py.h5s.create_simple((8,))).write(
            h5py.h5s.ALL, h5py.h5s.ALL, numpy.zeros(8, "i2"))
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_elements_of_any_fixed_type_are_played_by_the_program_s_own_calls_and_others(run, captured, tmp_path):
    """The program's own calls make the program's types; what others write, and what is read, has a dimension of bytes."""
    h5py = pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(KINDS)
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own.h5", ""])
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own.h5", "reads"])
    [played] = play(run, tmp_path, "hdf5", 1)
    with h5py.File(played) as made, h5py.File(tmp_path / "own.h5") as own:
        assert {name: made[name].id.get_type() for name in made} == {name: own[name].id.get_type() for name in own}
    for pattern, more in (("0.pattern", []), ("1.pattern", ["--read"])):
        done = run("slabmark-bench", ["captured", "--pattern", tmp_path / pattern, "--method", "as-captured,hdf5-union,hdf5-rearranged",
                                      "--trials", "1", "--no-bound", "-o", tmp_path, *more])
        assert done.returncode == 0, done.stderr
        assert len(re.findall(r"^\S+ .* yes$", done.stdout, re.M)) == 3, done.stdout


MOVED_AGAIN = """
import sys
import h5py, numpy

path, reads = sys.argv[1:]
point = numpy.dtype([("id", "i4"), ("x", "f8")])
with h5py.File(path, "r" if reads else "w") as file:
    def move(name, shape, kind, *selections):
        dataset = file[name] if reads else file.create_dataset(name, shape, kind)
        for selection in selections:
            if reads:
                dataset[selection]
            else:
                dataset[selection] = numpy.zeros(1, dataset.dtype)[0]
    move("whole_and_part", (9, 6), "f4", numpy.s_[...], numpy.s_[2:4, ::3])
    move("backwards", (9, 6), "f4", numpy.s_[5:9, 1:4], numpy.s_[2:7, 2:6], numpy.s_[0, ::2])
    move("one", (), "i4", (), ())
    move("points", (20,), point, numpy.s_[12:18], numpy.s_[3:14])
    if not reads:
        file["points"][3:7, "x"] = numpy.ones(4)
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_elements_that_are_moved_again_in_a_round_are_moved_once_by_other_methods(run, captured, tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(MOVED_AGAIN)
    for pattern, more in (("0.pattern", []), ("1.pattern", ["--read"])):
        captured(sys.executable, [tmp_path / "script.py", tmp_path / "own.h5", "reads" if more else ""])
        done = run("slabmark-bench", ["captured", "--pattern", tmp_path / pattern, "--method",
                                      "as-captured,hdf5-union,hdf5-slab,hdf5-rearranged,mpiio-independent,mpiio-rearranged,posix",
                                      "--trials", "1", "--no-bound", "-o", tmp_path, *more])
        assert done.returncode == 0, done.stderr
        assert len(re.findall(r"^\S+ .* yes$", done.stdout, re.M)) == 7, done.stdout
        assert "some elements more than once in a round" in done.stdout
        elements = 54 * 4 + (12 + 20 - 4 + 3) * 4 + 4 + 15 * 12
        assert f"{elements} B a trial" in done.stdout, done.stdout


MOVED_BY_ALL = """
import sys
import h5py, numpy
from mpi4py import MPI

rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
with h5py.File(sys.argv[1], "w", driver="mpio", comm=MPI.COMM_WORLD) as file:
    file["time"] = 3.5
    file["levels"] = numpy.arange(30.0)
    rows = slice(4 * rank, 4 * rank + 6)  # two of them are of the next rank, too
    file.create_dataset("halo", (4 * ranks + 2, 6), "f4")[rows] = 1
    packed = file.create_dataset("packed", (4 * ranks + 2, 6), "f4", chunks=(3, 6), compression="gzip")
    with packed.collective:
        packed[rows] = numpy.ones((6, 6), "f4")
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_elements_that_several_ranks_write_are_written_by_all_methods(run, captured, tmp_path):
    (tmp_path / "script.py").write_text(MOVED_BY_ALL)
    captured(h5py_of_the_connector(), [tmp_path / "script.py", tmp_path / "own.h5"], 3)
    methods = ["hdf5-union", "hdf5-log", "hdf5-rearranged", "mpiio-independent", "mpiio-rearranged", "posix"]
    if os.environ.get("SLABMARK_WITH_PNETCDF") != "0":
        methods.append("pnetcdf-rearranged")
    for ranks, more in ((3, ["as-captured"]), (2, []), (4, [])):
        done = run("slabmark-bench", ["captured", "--pattern", tmp_path / "0.pattern", "--method", ",".join(methods + more),
                                      "--trials", "1", "--no-bound", "-o", tmp_path], ranks=ranks, launch=True)
        assert done.returncode == 0, done.stderr
        assert len(re.findall(r"^\S+ .* yes$", done.stdout, re.M)) == len(methods + more), done.stdout


RENAMED = """
import os, sys
import h5py

folder, library = sys.argv[1:]
for step in range(3):
    name = f"{folder}/restart.tmp"
    if library == "hdf5":
        with h5py.File(name, "w") as file:
            file.create_dataset("x", (10 - step,), "i4")[...] = 1
    else:
        with open(name, "wb", buffering=0) as file:
            file.write(b"x" * (2000 - step))
    os.rename(name, f"{folder}/restart.{step}")
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@pytest.mark.parametrize("library", ["hdf5", "posix"])
def test_what_got_another_name_is_another_file_than_what_is_made_under_the_old_one(run, captured, tmp_path, library):
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(RENAMED)
    (tmp_path / "own").mkdir()
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own", library])
    played = play(run, tmp_path, library, 1)
    assert len(played) == 3
    if library == "posix":
        assert sorted(path.stat().st_size for path in played) == [1998, 1999, 2000]


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@pytest.mark.parametrize("level", ["hdf5", "mpiio"])
def test_what_one_rank_renames_is_another_file_for_all_that_open_it_together(run, refused, captured, tmp_path, level):
    (tmp_path / "own").mkdir()
    _, events = captured("capture_beside", [level, tmp_path / "own/f", tmp_path / "log", 3], 3)
    for of_rank in events:
        files = dict.fromkeys(pathlib.Path(event["file"]).name for event in of_rank if "writes" in event.get("flags", ()))
        assert list(files) == ["f.tmp", "f.tmp (2)", "f.tmp (3)"]
    [played] = play(run, tmp_path, level, 3)  # in a trial there is one of three like steps
    own = [tmp_path / "own/f.0", tmp_path / "own/f.2"]
    if level == "hdf5":
        assert [structure(path) for path in own] == [structure(played)] * 2
    else:
        assert [path.stat().st_size for path in own] == [played.stat().st_size] * 2
    done = run("slabmark-bench", ["captured", "--pattern", tmp_path / "0.pattern", "--method", "null", "--trials", "5", "-o", tmp_path])
    assert "has 3 files, each of which is a trial" in refused(done, "slabmark-bench")


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@needs_pnetcdf
def test_what_one_rank_renames_is_another_file_for_all_that_open_it_by_pnetcdf(run, captured, tmp_path):
    (tmp_path / "own").mkdir()
    preloaded = ":".join(map(str, [BIN.parent / "lib/libslabcapture_pnetcdf.so", *LIBRARIES]))
    _, events = captured("captured_steps", [tmp_path / "own/f", 3, "renamed"], 3, LD_PRELOAD=preloaded)
    for of_rank in events:
        files = dict.fromkeys(pathlib.Path(event["file"]).name for event in of_rank if "writes" in event.get("flags", ()))
        assert list(files) == ["f", "f (2)", "f (3)"]
    [played] = play(run, tmp_path, "pnetcdf", 3)
    assert [path.stat().st_size for path in (tmp_path / "own").iterdir()] == [played.stat().st_size] * 3


EACH_FOR_ITSELF = """
import os, sys, time
import h5py

rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"])
path = sys.argv[1]
deadline = time.monotonic() + 50
if rank == 0:
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (20,), "i4")[:10] = 1
    os.mkdir(path + ".made")
else:
    while not os.path.exists(path + ".made") and time.monotonic() < deadline:
        time.sleep(0.02)
    with h5py.File(path, "r+") as file:
        file["x"][10:] = 1
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_a_file_that_one_rank_makes_for_another_by_itself_is_a_row_of_the_table(run, captured, tmp_path):
    """The program has its own way of saying when it is there, which a pattern does not have."""
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(EACH_FOR_ITSELF)
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own.h5"], ranks=2)
    done = run("slabmark-bench", ["captured", "--pattern", tmp_path / "0.pattern", "--method", "as-captured,hdf5-union",
                                  "--trials", "1", "--no-bound", "-o", tmp_path], ranks=2)
    assert done.returncode == 0 and "own.h5' by itself, which another one had made" in done.stdout, done.stdout + done.stderr
    assert re.search(r"^hdf5-union .* yes$", done.stdout, re.M), done.stdout


LINKED = """
import sys
import h5py

with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("x", (10,), "i4")[...] = 1
    if sys.argv[2] == "anew":
        del file["x"]
        file.create_dataset("x", (12,), "i4")[...] = 1
    elif sys.argv[2] == "lengths":
        file.create_dataset("v", (2,), h5py.vlen_dtype("i4"))[0] = [1, 2, 3]
    elif sys.argv[2] == "texts":
        file.create_dataset("v", (2,), [("n", "i4"), ("text", h5py.string_dtype())])[0] = (1, "a")
    elif sys.argv[2] == "cut":
        cut = file.create_dataset("c", (10,), "i4", maxshape=(None,), chunks=(5,))
        cut[2:9] = 1
        cut.resize((8,))
    else:
        file["l"] = h5py.SoftLink("/x")
        file["l"][...] = 2
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@pytest.mark.parametrize("way, words", [("anew", "dataset 'x' was made anew, with another shape or type"),
                                        ("lengths", "the elements of dataset '/v' are of variable length"),
                                        ("texts", "the elements of dataset '/v' are of variable length"),
                                        ("cut", "wrote elements of dataset '/c' and cut them off afterwards"),
                                        ("linked", "opened dataset '/l', which it did not make under that name")])
def test_datasets_that_cannot_be_made_again_are_a_row_of_the_table_beside_others(run, captured, tmp_path, way, words):
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(LINKED)
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5", way])
    done = run("slabmark-bench", ["captured", "--pattern", tmp_path / "0.pattern", "--method", "as-captured,hdf5-union",
                                  "--trials", "1", "--no-bound", "-o", tmp_path])
    assert done.returncode == 0 and words in done.stdout, done.stdout + done.stderr
    assert re.search(r"^hdf5-union .* yes$", done.stdout, re.M), done.stdout
    assert ("The elements of 'v' hold addresses" in done.stdout) == (way in ("lengths", "texts"))


WITH_NOTHING = """
import sys
import h5py, numpy

with h5py.File(sys.argv[1], "w") as file:
    file["two\\nlines"] = numpy.arange(5)
    for name, space in ((b"empty", h5py.h5s.create_simple((0,))), (b"null", h5py.h5s.create(h5py.h5s.NULL))):
        h5py.h5d.create(file.id, name, h5py.h5t.NATIVE_INT32, space).write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.zeros(1, "i4"))
    points = file.create_dataset("points", (4, 6), "i4")
    space, memory = points.id.get_space(), h5py.h5s.create_simple((9,))
    space.select_elements([(3, 1), (0, 5), (2, 2)])
    memory.select_elements([(8,), (0,), (4,)])
    points.id.write(memory, space, numpy.arange(9, dtype="i4"))
    trimmed = file.create_dataset("trimmed", (10,), "i4", maxshape=(None,), chunks=(5,))
    trimmed[:7] = 1
    trimmed.resize((7,))
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_points_in_any_order_datasets_without_elements_names_of_two_lines_and_trimmed_ends_are_played(run, captured, tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(WITH_NOTHING)
    _, [events] = captured(sys.executable, [tmp_path / "script.py", tmp_path / "a.h5"])
    assert ["nothing"] == [event["selection"] for event in events if event.get("dataset") == "/null" and "selection" in event]
    assert [[3]] == [event["arguments"] for event in events if event.get("dataset") == "/points" and "writes" in event["flags"]]
    methods = "as-captured,hdf5-union" + ",pnetcdf-varn" * (os.environ.get("SLABMARK_WITH_PNETCDF") != "0")
    done = run("slabmark-bench", ["captured", "--pattern", tmp_path / "0.pattern", "--method", methods, "--trials", "1", "--no-bound",
                                  "-o", tmp_path])
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(\S+) .* yes$", done.stdout, re.M) == ["as-captured-hdf5", "hdf5-union"], done.stdout
    assert ("pnetcdf-varn: not run" in done.stdout) == ("pnetcdf" in methods)
    assert run("slabmark-decomp", ["info", tmp_path / "0.pattern"]).returncode == 0


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_random_calls_of_mpi_io_made_again_are_verified(run, captured, tmp_path):
    captured("capture_mpiio", [tmp_path / "own", 1, 30], ranks=2)
    [played] = play(run, tmp_path, "mpiio", 2)
    assert played.stat().st_size == (tmp_path / "own").stat().st_size


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@pytest.mark.parametrize("seed", range(2))
def test_random_calls_of_the_c_library_made_again_are_verified(run, captured, tmp_path, seed):
    done, _ = captured("capture_posix", [tmp_path, seed])
    calls = [line.split() for line in done.stdout.splitlines()]
    stream = max(int(first) + int(size) for call, _, first, size in calls if call == "fwrite")  # fprintf is not made again
    played = sorted(path.stat().st_size for path in play(run, tmp_path, "posix", 1))
    assert played == sorted([(tmp_path / "fd").stat().st_size, stream])


OWN_FILES = """
import os, sys

rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"])
together = os.open(sys.argv[1] + "/together", os.O_CREAT | os.O_RDWR, 0o666)
for step in range(2):
    with open(f"{sys.argv[1]}/part.{rank}.{step}", "wb", buffering=0) as own:
        own.write(b"x" * (1000 + 100 * rank + step))
        own.seek(5000 + 10 * rank)
        own.write(b"x" * 10)
    os.pwrite(together, b"y" * 50, 100 * rank + 50 * step)
os.close(together)
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_files_that_each_process_has_for_itself_are_made_again(run, captured, tmp_path):
    (tmp_path / "script.py").write_text(OWN_FILES)
    (tmp_path / "own").mkdir()
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own"], ranks=2)
    played = play(run, tmp_path, "posix", 2)
    sizes = [sorted(path.stat().st_size for path in files) for files in (played, (tmp_path / "own").iterdir())]
    assert sizes[0] == sizes[1]
    assert len(played) == 5


OWN_DATASETS = """
import os, sys
import h5py

rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"])
for step in range(2):
    with h5py.File(f"{sys.argv[1]}/part.{rank}.{step}.h5", "w") as own, h5py.File(f"{sys.argv[1]}/more.{rank}.{step}.h5", "w") as more:
        if rank == 1:
            own.create_dataset("y", (5,), "i4")[1:] = 1
            continue
        own.create_dataset("x", (12,), "i4")[rank:10] = 1
        more.create_dataset("x", (12,), "i4")[...] = 1
        own.create_dataset("g/x", (12,), "i4")[::2] = 1
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
def test_the_map_of_files_that_each_rank_has_for_itself_has_them_beside_each_other(run, captured, tmp_path):
    """What the first file of a rank holds is owned by that rank alone."""
    pytest.importorskip("h5py")
    (tmp_path / "script.py").write_text(OWN_DATASETS)
    captured(sys.executable, [tmp_path / "script.py", tmp_path], ranks=4)
    for ranks in (1, 2, 3):
        done = run("slabmark-decomp", ["info", tmp_path / "0.pattern", "--json"], ranks=ranks)
        assert done.returncode == 0, done.stderr
        described = json.loads(done.stdout)
        maps = dict(zip(re.findall(r"D\d is (/[^,)]*)", described["layout"]), described["maps"]))
        assert maps.keys() == {"/x of 3 files", "/g/x of 3 files", "/y"}, described["layout"]
        assert [(one["recorded_ranks"], one["owned_by_several"]) for one in maps.values()] == [(4, 0)] * 3
        first, second, third = (maps[name] for name in ("/x of 3 files", "/g/x of 3 files", "/y"))
        assert [(one["dims"], one["owned"]) for one in (first, second, third)] == [([3, 12], 10 + 8 + 7), ([3, 12], 18), ([5], 4)]
        assert first["elements_per_rank"]["max"] == 10


GROUPS = """
import sys
import h5py

with h5py.File(sys.argv[1], "w") as file:
    for n, name in enumerate(("g/x", "g.x", "g/h/x", "x", "g.h/x"), 1):
        file.create_dataset(name, (10 * n,), "i4")[n:] = 1
"""


@pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")
@needs_pnetcdf
def test_methods_of_pnetcdf_move_the_datasets_of_groups(run, captured, tmp_path):
    """NetCDF's classic formats have no groups, and none of two names becomes the other."""
    pytest.importorskip("h5py")
    netcdf = pytest.importorskip("netCDF4")
    (tmp_path / "script.py").write_text(GROUPS)
    captured(sys.executable, [tmp_path / "script.py", tmp_path / "own.h5"])
    methods = ["pnetcdf-varn", "pnetcdf-vara", "pnetcdf-rearranged"]
    arguments = ["captured", "--pattern", tmp_path / "0.pattern", "--method", ",".join(methods), "--trials", "1", "--no-bound", "-o", tmp_path]
    for more in (["--read"], ["--keep"]):
        done = run("slabmark-bench", [*arguments, *more])
        assert done.returncode == 0, done.stderr
        assert re.findall(r"^(\S+) .* yes$", done.stdout, re.M) == methods, done.stdout
    for method in methods:
        with netcdf.Dataset(tmp_path / f"slabmark-{method}.nc") as file:
            lengths = {name: variable.shape for name, variable in file.variables.items()}
        assert lengths == {"g.x_": (10,), "g.x": (20,), "g.h.x": (30,), "x": (40,), "g.h.x_": (50,)}
