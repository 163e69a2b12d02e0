"""The files of seism-core-slice: stripes, subfiles, filters, and what a run that fails leaves."""

import importlib.util
import json
import os
import pathlib
import re
import shlex
import signal
import stat
import subprocess
import time

import pytest
from conftest import OWN_TMPDIR, processes
from seism_core import check, elements, gaussian, lines, made, slice_, soon, value

pytestmark = pytest.mark.long


def skip_without_subfiling(done):
    if "MPI_THREAD_MULTIPLE" in done.stderr or "without its subfiling" in done.stderr:
        pytest.skip(done.stderr)


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("switches", [[], ["collective_write", "deflate 1", *gaussian(1, 90, 80, 70)], ["subfile 2"]])
def test_the_file_size_limit_is_a_sentence_and_leaves_no_file(slice_, file_size_limit, tmp_path, ranks, switches):
    text = lines(ranks, *switches, chunk="64 64 64", domain="128 64 64", time=16 // ranks)
    done = slice_(text, ranks, timeout=soon(), preexec_fn=file_size_limit)
    skip_without_subfiling(done)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "ulimit -f" in done.stderr and "throughput" not in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("switches", [[], ["subfile 2"]])
def test_a_run_that_fails_leaves_the_earlier_file_as_it_was(slice_, file_size_limit, tmp_path, switches):
    assert slice_(lines(4), 4).returncode == 0
    earlier = (tmp_path / "seism-test.h5").read_bytes()
    text = lines(4, *switches, chunk="64 64 64", domain="128 64 64", time=10)
    assert slice_(text, 4, timeout=soon(), preexec_fn=file_size_limit).returncode in (1, 2)
    assert (tmp_path / "seism-test.h5").read_bytes() == earlier
    assert slice_(lines(4), 4).returncode == 0, "a run that succeeds replaces it, as the original's did"
    assert (tmp_path / "seism-test.h5").stat().st_size > 4 * elements(4)


@pytest.mark.parametrize("ranks", [1, 4])
def test_what_is_no_hdf5_file_is_not_replaced(slice_, refused, tmp_path, ranks):
    (tmp_path / "thesis.txt").write_text("precious")
    done = slice_(lines(ranks, "filename thesis.txt"), ranks)
    assert "thesis.txt" in refused(done, "seism-core-slice"), done.stderr
    (tmp_path / "check.in").write_text(lines(ranks, "filename check.in"))
    done = slice_("", ranks, ["--input", "check.in"])
    assert "check.in" in refused(done, "seism-core-slice"), done.stderr
    assert (tmp_path / "thesis.txt").read_text() == "precious"
    assert (tmp_path / "check.in").read_text() == lines(ranks, "filename check.in")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["dangling", "loop", "link", "records.jsonl"])
def test_neither_a_link_nor_the_record_file_is_replaced(slice_, refused, tmp_path, name):
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "mine").write_bytes(b"")
    (tmp_path / "link").symlink_to("mine")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = slice_(lines(4, f"filename {name}"), 4, ["--json", "records.jsonl"])
    assert name in refused(done, "seism-core-slice")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_input_that_is_no_file_is_refused_at_once(slice_, refused, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = slice_("", 2, ["--input", "pipe"], timeout=soon())
    assert "'pipe' cannot be read: it is no regular file" in refused(done, "seism-core-slice")


@pytest.mark.fast
def test_files_of_the_user_beside_the_output_stay(slice_, tmp_path):
    for name in ("seism-test.h5.partial", "seism-test.h5.partial-notes", f"seism-test.h5.partial-{os.getpid()}"):
        (tmp_path / name).write_text("precious")
    (tmp_path / "seism-test.h5").touch()  # holds nothing that could be lost
    assert slice_(lines(4), 4).returncode == 0
    assert [path.read_text() for path in tmp_path.iterdir() if path.name != "seism-test.h5"] == 3 * ["precious"]


# ---- subfiles


def has_data(folder):
    """Whether files are past their creation."""
    return any((folder / name).stat().st_size > 1 << 16 for name in made(folder))


@pytest.fixture
def stopped(tmp_path):
    """stopped(switches, how): starts a run of 4 ranks in tmp_path, and ends it when it writes to its files, of which it
    gives the names; how(launcher's process, the ranks' ids)."""

    def stop(switches, how):
        program = pathlib.Path(os.environ["SLABMARK_BIN"]) / "seism-core-slice"
        launcher = shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec"))
        text = lines(4, "never_fill", *switches, time=200000)  # for longer than all this takes
        (tmp_path / "long.in").write_text(text)
        process = subprocess.Popen([OWN_TMPDIR, *launcher, "-n", "4", program, "--input", tmp_path / "long.in"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   cwd=tmp_path, start_new_session=True)
        try:
            needed = 4 if switches else 1
            # How subfiles are called is known when they are there, so they are removed in an emergency from then on.
            while (len(made(tmp_path)) < needed or not has_data(tmp_path)) and process.poll() is None:
                time.sleep(0.02)
            names = made(tmp_path)
            ranks = processes(lambda words: words[0] == str(program) and str(tmp_path / "long.in") in words)
            if process.poll() is None:  # it may have said that it cannot
                how(process, ranks)
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
            process.communicate()
        if "MPI_THREAD_MULTIPLE" in errors or "without its subfiling" in errors:
            pytest.skip(errors)
        assert len(names) == needed and len(ranks) == 4 and process.returncode != 0, (names, ranks, errors)
        end = time.monotonic() + 20
        while any(pathlib.Path(f"/proc/{rank}/exe").exists() for rank in ranks) and time.monotonic() < end:
            time.sleep(0.02)
        return names

    return stop


STOPS = {
    "the launcher is interrupted": lambda launcher, ranks: launcher.send_signal(signal.SIGINT),
    "the launcher is terminated": lambda launcher, ranks: launcher.send_signal(signal.SIGTERM),
    "a rank is killed": lambda launcher, ranks: os.kill(ranks[2], signal.SIGKILL),
}


@pytest.fixture
def replaced(slice_, check, tmp_path):
    """replaced(switches, left): the next run removes the files of these names, and its own are whole."""

    def is_replaced(switches, left):
        assert slice_(lines(4, *switches), 4).returncode == 0
        names = made(tmp_path)
        assert len(names) == len(left) and not set(names) & set(left)
        assert check().returncode == 0

    return is_replaced


@pytest.mark.parametrize("switches", [[], ["subfile 2"]])
@pytest.mark.parametrize("event", STOPS)
def test_a_run_that_is_stopped_leaves_no_file(stopped, replaced, others_are_told, tmp_path, switches, event):
    left = stopped(switches, STOPS[event])
    if event == "a rank is killed" and not others_are_told:  # nobody was left to remove them
        assert "seism-test.h5" not in made(tmp_path)
        replaced(switches, left)
    else:
        assert made(tmp_path) == []


@pytest.mark.parametrize("switches", [[], ["subfile 2"]])
def test_what_a_killed_launcher_leaves_is_replaced_by_the_next_run(stopped, replaced, switches):
    replaced(switches, stopped(switches, lambda launcher, ranks: launcher.kill()))


@pytest.fixture
def zfp_filter(tmp_path_factory, monkeypatch):
    """The ZFP filter for HDF5 alone out of all that the Python package brings."""
    package = importlib.util.find_spec("hdf5plugin")
    if package is None:
        pytest.skip("there is no Python package hdf5plugin, whose ZFP filter HDF5 could load")
    folder = tmp_path_factory.mktemp("filters")
    (folder / "libh5zfp.so").symlink_to(pathlib.Path(package.origin).parent / "plugins/libh5zfp.so")
    monkeypatch.setenv("HDF5_PLUGIN_PATH", str(folder))


@pytest.mark.parametrize("ranks", [1, 4])
def test_zfp_compresses_without_loss_where_hdf5_finds_the_filter(run, slice_, check, zfp_filter, tmp_path, ranks):
    h5py = pytest.importorskip("h5py")
    done = slice_(lines(ranks, "collective_write", "zfp 1", *gaussian(1, 50, 50, 50)), ranks)
    assert done.returncode == 0, done.stderr
    assert value(done.stdout, "ZFP") == "1"
    assert value(done.stdout, "Verified") == f"yes, {elements(ranks)} elements"
    assert int(value(done.stdout, "Compressed size in bytes")) < 0.8 * 4 * elements(ranks)
    assert f"{elements(ranks)} correct / 0 incorrect" in check(ranks=3).stdout
    assert run("seism-read", ["seism-test.h5"], ranks=2, cwd=tmp_path).returncode == 0
    with h5py.File(tmp_path / "seism-test.h5") as file:
        assert file["chunked"].id.get_create_plist().get_filter(0)[0] == 32013


def test_subfiles_are_written_checked_read_and_replaced(run, slice_, check, tmp_path):
    for chunk in ("", "chunk 9 8 8"):
        text = lines(4, "subfile 2", "never_fill").replace("chunk 9 8 8", chunk)
        done = slice_(text, 4)
        skip_without_subfiling(done)
        assert done.returncode == 0, done.stderr
        names = made(tmp_path)
        assert len([name for name in names if name.endswith("_of_2")]) == 2, names
        assert len(names) == 4, "the stub, its configuration and two subfiles, and none of an earlier run"
        assert f"{elements(4)} correct / 0 incorrect" in check(ranks=3).stdout
        read = run("seism-read", ["seism-test.h5"], ranks=3, cwd=tmp_path)
        assert read.returncode == 0 and value(read.stdout, "Total bytes read") == str(4 * elements(4)), read.stderr
    assert slice_(lines(4), 4).returncode == 0
    assert made(tmp_path) == ["seism-test.h5"], "an ordinary file takes the place of the stub and of its subfiles"


# ---- Lustre


@pytest.fixture
def lfs(tmp_path_factory, monkeypatch):
    """A stand-in for Lustre's program that notes its words and makes the file."""
    folder = tmp_path_factory.mktemp("lustre")
    log = folder / "log"
    program = folder / "lfs"
    program.write_text(f"""#!/bin/bash
printf '%s\\n' "$#" "$@" >> {log}
case $1 in
  setstripe) for last; do :; done; [ -e {folder}/broken ] && {{ echo 'error: no Lustre' >&2; exit 5; }}; : > "$last" ;;
  getstripe) echo "lmm_stripe_count: 2" ;;
esac
""")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return log


def test_stripes_are_set_without_a_shell_and_recorded(slice_, check, lfs, tmp_path):
    name = "x.h5;touch${IFS}F"
    stripes = ["lfs_stripe_count 2", "lfs_stripe_size 1048576", f"filename {name}"]
    for switches in ([], ["precreate"]):
        done = slice_(lines(4, *stripes, *switches), 4, ["--json", "r.jsonl"])
        assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == ["r.jsonl", name]
        assert check(name).returncode == 0
    words = lfs.read_text().splitlines()
    at = words.index("setstripe")
    assert words[at - 1: at + 5] == ["6", "setstripe", "-S", "1048576", "-c", "2"]
    assert words[at + 5].startswith(str(tmp_path / name) + ".partial-")
    records = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert records[0]["effective"]["lustre"] == {"striping": "lmm_stripe_count: 2"}
    assert value(done.stdout, "stripe size") == "1048576" and value(done.stdout, "stripe count") == "2"


def test_what_lfs_refuses_is_a_sentence_that_holds_its_words(slice_, sentence, lfs, tmp_path):
    (lfs.parent / "broken").touch()
    done = slice_(lines(4, "lfs_stripe_count 2"), 4, timeout=10)
    assert done.returncode == 1 and "error: no Lustre" in sentence(done, "seism-core-slice")
    assert "throughput" not in done.stdout and list(tmp_path.iterdir()) == []


def test_without_lfs_a_message_says_so_and_the_default_applies(slice_, check):
    done = slice_(lines(4, "lfs_stripe_count 2"), 4)
    assert done.returncode == 0 and done.stderr.count("no command lfs") == 1
    assert check().returncode == 0
