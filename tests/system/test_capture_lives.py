"""Captured programs do what they do without, and nothing they asked for is lost in silence: where they leave ids open, close in another order, fork,
are killed, or have no place for what is recorded.

Files without a program of that name are those of test_slablog_lives.py and test_slablog_calls.py."""

import collections
import json
import os
import pathlib
import sys

import pytest
from capturing import (
    BIN,
    asked_of_hdf5,
    asked_of_mpi_io,
    environment,
    extents_in,
    preloads,
    recorded_of_hdf5,
    recorded_of_mpi_io,
    recorded_of_posix,
    sanitized,
)
from test_slablog_lives import contents

pytestmark = pytest.mark.long

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


@preloads
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


@preloads
@pytest.mark.parametrize("ends", [{}, {"KILLED": "1"}], ids=["exits", "killed"])
def test_what_a_child_moves_after_its_parent_ended_is_counted(captured, tmp_path, ends):
    (tmp_path / "script.py").write_text(FORKED)
    _, [events] = captured(sys.executable, ["-B", tmp_path / "script.py", tmp_path / "file"], SLABMARK_CAPTURE_POSIX="on", **ends)
    assert [event for event in events if "uncaptured" in event] == [{"uncaptured": "calls of the child of a fork", "count": 4}]
    written = [event["selection"]["counts"] for event in events if "writes" in event.get("flags", ())]
    assert written == [[[10]]] or ends and not written  # the last second of who is killed may be missing


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


@preloads
def test_a_program_that_is_killed_leaves_the_calls_of_mpi_io_until_then(captured, tmp_path):
    _, events = captured("capture_mpiio", [tmp_path / "f", 2, 10], ranks=2, KILLED="1")
    for rank in range(2):
        asked = asked_of_mpi_io(tmp_path / "f", rank)
        recorded, shared = recorded_of_mpi_io(events[rank])
        assert_with_the_last(recorded, asked)
        assert not shared


@preloads
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


@preloads
@pytest.mark.parametrize("how", STORAGE)
def test_storage_of_the_spool_that_fails_is_told_once_and_the_program_goes_on(run, request, tmp_path, how):
    (tmp_path / "script.py").write_text(FAILING_STORAGE)
    parts, pattern = tmp_path / "disk/run.pattern.parts", tmp_path / "disk/run.pattern"
    parts.parent.mkdir()
    disk = {"preexec_fn": request.getfixturevalue("small_disk")(parts.parent)} if how == "disk" else {}
    settings = [f"{key}={value}" for key, value in environment(pattern, SLABMARK_CAPTURE_POSIX="on").items()]
    # What a disk of its own holds is seen by these processes alone.
    script = f'mkdir "{parts}"; "$@"; status=$?; [ {how} != disk ] || "{BIN}/slabmark" pattern merge "{parts}" -o "{pattern}"; exit $status'
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
        used = int(file_of_sizes.read().split()[5]) * resource.getpagesize()
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (used + (12 << 20), most))  # of addresses there may be reserved ones
    try:
        dataset.id.write(memory, space, values)
    except OSError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    dataset[5] = 7
"""


@preloads
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


@preloads
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
    run("slabmark pattern", merge).check_returncode()
    shown = run("slabmark pattern", ["show", tmp_path / "run.pattern", "--rank", 1]).stdout.splitlines()
    calls = collections.Counter(json.loads(line).get("call") for line in shown)
    expected = {"hdf5": ("H5Dwrite", 3), "mpiio": ("MPI_File_write_at_all", 3), "ordered": ("MPI_File_write_ordered", 4)}[level]
    assert calls[expected[0]] == expected[1]


def test_a_driver_of_the_environment_that_names_no_communicator_is_hdf5_s_own(captured):
    """HDF5 begins MPI itself then."""
    _, [events] = captured("log_calls", ["links"], HDF5_DRIVER="mpio")
    assert "H5Fcreate" in {event.get("call") for event in events}


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
            run("slabmark pattern", ["merge", f"{pattern}.parts", "-o", pattern]).check_returncode()
            shown = run("slabmark pattern", ["show", pattern, "--rank", "0"]).stdout.splitlines()
            events = [event for event in map(json.loads, shown) if "writes" in event.get("flags", ())]
            written = [event["file"] for event in events if event["call"].startswith("H5")]
            assert collections.Counter(written) == SEEN[words]
            assert '{"ended": "early"}' not in shown

    each([("log_lives", words) for words in LIVES] + [("log_calls", words) for words in CALLS], check)
