"""What is left of a log file whose writer is killed, at every write that it makes, and what becomes of it.

log_sessions.c says what the stages are that the file goes through, write_points.c how the writes are stopped.
"""

import contextlib
import fcntl
import os
import pathlib
import resource
import shutil
import subprocess

import pytest
from conftest import OWN_TMPDIR
from test_slablog_lives import CANONICAL

pytestmark = pytest.mark.long

BIN = pathlib.Path(os.environ["SLABMARK_BIN"])
CONNECTOR = {"HDF5_PLUGIN_PATH": str(BIN / ".." / "plugins"), "HDF5_VOL_CONNECTOR": "slablog under_vol=0;under_info={}"}
STOPPED = {"LD_PRELOAD": str(BIN / "write_points.so")}


def journal_of(path):
    return path.with_name(path.name + ".slablog-journal")


@pytest.fixture(scope="module")
def sessions(run):
    """sessions(mode, paths, *words, ranks=1, **environment): log_sessions through the connector."""

    def run_sessions(mode, paths, *words, ranks=1, **environment):
        return run("log_sessions", [mode, *paths, *words], ranks=ranks, launch="serial" not in words and mode == "write",
                   env={**os.environ, **CONNECTOR, **environment})

    return run_sessions


@pytest.fixture(scope="module")
def snapshots(sessions, tmp_path_factory):
    """snapshots(ranks, *words, **environment): the files that a kill would have left, from the first flush on."""

    def take(ranks, *words, **environment):
        folder = tmp_path_factory.mktemp("snapshots")
        (folder / "at").mkdir()
        done = sessions("write", [folder / "a.h5"], *words, ranks=ranks, WRITES_SNAPSHOTS=str(folder / "at"),
                        **STOPPED, **environment)
        assert done.returncode == 0, done.stderr
        files = sorted((folder / "at").glob("*.h5"))
        assert {completed(path) for path in files} == {0, 1, 2, 3, 4}
        return [path for path in files if completed(path) > 0]

    return take


@pytest.fixture(scope="module")
def killed(snapshots, tmp_path_factory):
    """killed(folder): a copy of a file whose writer was killed in the middle of a flush, with several records."""
    path = max(snapshots(1, "serial"), key=lambda path: journal_of(path).stat().st_size if journal_of(path).exists() else 0)

    def copy(folder):
        shutil.copy(journal_of(path), folder / "a.h5.slablog-journal")
        return pathlib.Path(shutil.copy(path, folder / "a.h5"))

    return copy


def completed(path):
    return int(path.stem.split("-")[2])


def expected(i, last):
    """Element i of /d after stage `last`."""
    stage = max((s for s in range(1, last + 1) if s % 3 == i % 3), default=0)
    return stage * 1000 + i if stage else 0


def stage_seen_by_h5py(path, own=("_slablog",)):
    """The stage that h5py, without the connector, finds the file in; all of it must be of that stage."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path) as file:
        last = int(file.attrs["step"])
        assert list(file["d"]) == [expected(i, last) for i in range(len(file["d"]))]
        assert set(file) == {*own, "d", *(f"g{s}" for s in range(1, last + 1))}
        for stage in range(1, last + 1):
            group = file[f"g{stage}"]
            assert group.attrs["stage"] == stage and group["scalar"][()] == stage
            assert set(group) == ({"n", "refs", "scalar"} if stage > last - 2 else {"scalar"})
            if stage > last - 2:
                assert list(group["n"]) == [stage * 100 + i for i in range(len(group["n"]))]
                assert not any(group["refs"])
    return last


def check_each(files, stages):
    assert len(files) == len(stages)
    for path, stage in zip(files, stages):
        assert stage in (completed(path), completed(path) + 1), path


@pytest.mark.parametrize("ranks, words, environment", [
    (1, ["serial", "latest"], {}),
    (1, [], {"SLABLOG_VIEW": "materialise"}),
    (2, ["collective", "latest"], {}),
    (4, [], {"OMPI_MCA_io": "^ompio"}),
])
def test_nothing_that_was_flushed_is_lost_at_any_write(snapshots, sessions, run, tmp_path, ranks, words, environment):
    files = snapshots(ranks, *words, **environment)
    opened = [tmp_path / path.name for path in files]
    for path, copy in zip(files, opened):
        shutil.copy(path, copy)
        if journal_of(path).exists():
            shutil.copy(journal_of(path), journal_of(copy))
    by_connector = sessions("check", opened)
    assert by_connector.returncode == 0, by_connector.stderr
    check_each(opened, [int(line) for line in by_connector.stdout.split()])

    repaired = run("slabmark log repair", files)
    assert repaired.returncode == 0, repaired.stderr
    check_each(files, [stage_seen_by_h5py(path) for path in files])
    assert not any(journal_of(path).exists() for path in [*files, *opened])


@contextlib.contextmanager
def memory_left(more):
    """So many bytes. HDF5 reads a free list that leads back to itself, as of metadata half written, until there is none."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("ranks, words", [(1, ["serial"]), (1, ["serial", "deflate"]), (2, ["deflate"]), (4, []), (4, ["deflate"])])
def test_in_the_canonical_layout_no_kill_changes_what_was_flushed_and_not_written_since(snapshots, ranks, words):
    h5py = pytest.importorskip("h5py")
    read, before = set(), None
    for path in snapshots(ranks, *words, **CANONICAL):
        last = completed(path)
        if ranks == 1 and last != before:  # it was taken between two flushes
            assert stage_seen_by_h5py(path, own=()) == last
        before = last
        try:
            with memory_left(1 << 30), h5py.File(path) as file:
                d, n, scalar = list(file["d"]), list(file[f"g{last}/n"]), file[f"g{last}/scalar"][()]
        except (OSError, KeyError, RuntimeError, MemoryError):
            continue  # of HDF5's metadata, or of a chunk, which has a checksum, a part was written
        assert n == [last * 100 + i for i in range(10 * ranks)] and scalar == last
        assert all(value in (expected(i, last), expected(i, last + 1)) for i, value in enumerate(d))
        read.add(last)
    assert read == {1, 2, 3, 4}


@pytest.mark.parametrize("ranks, at", [(2, 30), (4, 20)])
def test_in_the_canonical_layout_a_job_ends_when_a_rank_is_killed_in_a_flush(sessions, tmp_path, ranks, at):
    done = sessions("write", [tmp_path / "a.h5"], "deflate", ranks=ranks, WRITES_KILL=str(at), **STOPPED, **CANONICAL)
    assert done.returncode != 0 and [path.name for path in tmp_path.iterdir()] == ["a.h5"]


@pytest.mark.parametrize("ranks, at", [(1, 70), (2, 50), (4, 60)])
def test_a_killed_job_leaves_a_file_that_is_repaired(sessions, run, tmp_path, ranks, at):
    path = tmp_path / "a.h5"
    assert sessions("write", [path], ranks=ranks, WRITES_KILL=str(at), **STOPPED).returncode != 0
    assert journal_of(path).exists()
    assert run("slabmark log repair", [path]).returncode == 0
    assert stage_seen_by_h5py(path) in (1, 2, 3) and not journal_of(path).exists()


@pytest.mark.parametrize("program", ["slabmark log info", "slabmark log canonical"])
def test_a_program_that_only_reads_names_slablog_repair(killed, run, sentence, tmp_path, program):
    path = killed(tmp_path)
    before = path.read_bytes()
    done = run(program, [path, *([tmp_path / "b.h5"] if program == "slabmark log canonical" else [])])
    assert done.returncode == 1 and "slabmark log repair" in sentence(done, program)
    assert path.read_bytes() == before and journal_of(path).exists()


def test_the_connector_opens_it_read_only_no_more_and_names_slablog_repair(killed, write_log, tmp_path):
    done = write_log(killed(tmp_path), 2, "read")
    assert done.returncode != 0 and "'slabmark log repair' brings the file back" in done.stderr


@pytest.mark.parametrize("words", [["serial"], []])
def test_a_file_that_is_being_written_is_not_repaired(sessions, run, sentence, tmp_path, words):
    path = tmp_path / "a.h5"
    writer = subprocess.Popen([OWN_TMPDIR, BIN / "log_sessions", "write", path, "wait", *words], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env={**os.environ, **CONNECTOR}, text=True)
    try:
        assert writer.stdout.readline() == "waiting\n"
        before = path.read_bytes()
        done = run("slabmark log repair", [path])
        assert done.returncode == 1 and "is being written by another process" in sentence(done, "slabmark log repair")
        assert sessions("check", [path]).returncode != 0
        assert path.read_bytes() == before
        writer.communicate("\n", timeout=30)
    finally:
        writer.kill()
    assert writer.returncode == 0 and stage_seen_by_h5py(path) == 5


def test_nor_is_one_whose_writer_is_in_the_middle_of_a_flush(killed, sessions, run, sentence, tmp_path):
    path = killed(tmp_path)
    before = path.read_bytes()
    with open(journal_of(path), "r+") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        for program in ["slabmark log repair", "slabmark log info"]:
            assert "is being written by another process" in sentence(run(program, [path]), program)
        assert sessions("check", [path]).returncode != 0
        assert path.read_bytes() == before
    assert run("slabmark log repair", [path]).returncode == 0


def damage(journal):
    """One byte of the first record is another one."""
    content = bytearray(journal.read_bytes())
    content[100] ^= 1
    journal.write_bytes(content)


@pytest.mark.parametrize("change, why", [
    (lambda journal: journal.write_bytes(b"of something else, and longer than a header"), "is not a journal of slablog"),
    (damage, "is damaged"),
])
def test_a_journal_that_is_not_good_is_refused_and_both_files_are_left_alone(killed, run, sentence, tmp_path, change, why):
    path = killed(tmp_path)
    change(journal_of(path))
    before = [path.read_bytes(), journal_of(path).read_bytes()]
    done = run("slabmark log repair", [path])
    assert done.returncode == 1 and why in sentence(done, "slabmark log repair")
    assert [path.read_bytes(), journal_of(path).read_bytes()] == before


@pytest.mark.parametrize("left", [0, 20, 40])
def test_where_the_journal_was_cut_off_a_repair_that_fails_leaves_the_file_as_it_was(killed, run, tmp_path, left):
    path = killed(tmp_path)
    os.truncate(journal_of(path), left)  # like that of a writer that was killed between two flushes
    before = path.read_bytes()
    assert run("slabmark log repair", [path]).returncode == 1
    assert path.read_bytes() == before


def test_the_journal_of_another_file_is_refused(killed, sessions, run, sentence, tmp_path):
    path = tmp_path / "other.h5"
    assert sessions("write", [path], "serial").returncode == 0
    killed(tmp_path)
    journal_of(tmp_path / "a.h5").rename(journal_of(path))
    before = path.read_bytes()
    done = run("slabmark log repair", [path])
    assert done.returncode == 1 and "is of another file" in sentence(done, "slabmark log repair")
    assert sessions("check", [path]).returncode != 0 and path.read_bytes() == before


@pytest.mark.fast
def test_a_link_to_the_file_finds_the_journal(killed, run, tmp_path):
    path = killed(tmp_path)
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link.h5"
    link.symlink_to(path)
    assert run("slabmark log repair", [link]).returncode == 0
    assert stage_seen_by_h5py(link) > 0 and not journal_of(path).exists()


def test_a_new_file_in_the_place_of_a_killed_one_is_not_rolled_back(killed, sessions, tmp_path):
    path = killed(tmp_path)
    assert sessions("write", [path], "serial").returncode == 0
    assert stage_seen_by_h5py(path) == 5 and not journal_of(path).exists()


@pytest.mark.parametrize("ranks, words", [(1, ["serial"]), (2, []), (2, ["collective"])])
def test_where_the_journal_finds_no_space_the_flush_fails_and_the_file_goes_back(sessions, run, tmp_path, ranks, words):
    path = tmp_path / "a.h5"
    done = sessions("write", [path], *words, ranks=ranks, WRITES_FULL="6", **STOPPED)
    assert done.returncode == 1 and ("serial" in words or "No space left on device" in done.stderr)
    assert run("slabmark log repair", [path]).returncode == 0
    assert stage_seen_by_h5py(path) >= 1
