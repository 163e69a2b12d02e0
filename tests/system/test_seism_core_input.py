"""The input of seism-core-slice, and mistakes in it."""

import os
import pathlib
import shlex
import subprocess

import pytest
from conftest import OWN_TMPDIR
from seism_core import check, gaussian, lines, slice_, soon, value

pytestmark = pytest.mark.long


def test_input_comes_in_any_order_with_comments_blank_lines_and_crlf(slice_, check):
    text = ("  # precreate is off here\r\n\r\ntime 7\r\n#DONE when ready\r\n\tdomain 18 8 8\r\nchunk 9 8 8 # small\r\n"
            "time 2\r\nprocessor 1 1 1\r\nDONE\r\nnonsense\r\n")
    done = slice_(text)
    assert done.returncode == 0, done.stderr
    assert value(done.stdout, "Pre-create") == "0" and value(done.stdout, "Number of time steps") == "2"
    assert check(ranks=1).returncode == 0


@pytest.mark.fast
def test_input_comes_from_a_file_too(slice_, tmp_path):
    """Of blocks so small that the original's hint for their size would be no buffer."""
    (tmp_path / "check.in").write_text(lines(4, "filename out.h5", "collective_write", chunk="4 4 4", domain="4 4 4"))
    done = slice_("", 4, ["--input", "check.in"])
    assert done.returncode == 0 and (tmp_path / "out.h5").exists(), done.stderr


def test_a_heredoc_in_a_script_works(tmp_path):
    program = pathlib.Path(os.environ["SLABMARK_BIN"]) / "seism-core-slice"
    script = f"cd {tmp_path}\n{program} <<EOF\n{lines()}EOF\n"
    assert subprocess.run(["bash", "-c", script], capture_output=True, timeout=60).returncode == 0


def test_a_user_at_a_terminal_sees_a_mistake_at_once(tmp_path):
    program = pathlib.Path(os.environ["SLABMARK_BIN"]) / "seism-core-slice"
    process = subprocess.Popen([OWN_TMPDIR, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, cwd=tmp_path)
    process.stdin.write("processor 1 1 1\nprecraete\n")
    process.stdin.flush()  # and the input stays open
    try:
        assert process.wait(20) == 2
        assert "Line 2" in process.stderr.read()
    finally:
        process.kill()
        process.communicate()


# Each mistake is found differently: in a line, by all ranks after the input, in a library, or at the end of the input, of which
# the launcher must tell the program. tests/programs tests the other error messages.
MISTAKES = {
    "unknown keyword": ("precraete\n" + lines(4), "did you mean precreate?"),
    "wrong product": (lines(1), "makes 1 processes, but there are 4 ranks"),
    "end without DONE": (lines(4).replace("DONE\n", ""), "without DONE"),
    "symbol missing": (lines(4, *gaussian(1, 1, 1, 1)).replace("name gaussian", "name gausian"), "no function"),
}


def launcher_tells_where_the_input_ends():
    launcher = shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec"))
    try:
        return subprocess.run([OWN_TMPDIR, *launcher, "-n", "1", "cat"], stdin=subprocess.DEVNULL, timeout=10).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def test_wrong_input_is_one_sentence_within_5_seconds_and_leaves_no_file(slice_, sentence, each):
    def check(mistake, folder):
        text, culprit = MISTAKES[mistake]
        done = slice_(text, 4, timeout=soon(), cwd=folder)
        assert done.returncode in (1, 2), (done.stdout, done.stderr)
        assert culprit in sentence(done, "seism-core-slice")
        assert "throughput" not in done.stdout
        assert list(folder.iterdir()) == []

    unended = [] if launcher_tells_where_the_input_ends() else [mistake for mistake in MISTAKES if MISTAKES[mistake][1] == "without DONE"]
    each([mistake for mistake in MISTAKES if mistake not in unended], check)
    if unended:
        pytest.skip(f"this launcher does not tell programs where their input ends (docs/how-to/install.md, Open MPI 5): {unended}")


@pytest.mark.fast
def test_wrong_input_says_the_same_without_a_launcher(slice_, sentence, tmp_path):
    done = slice_("precraete\n" + lines(), 1, timeout=soon())
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "did you mean precreate?" in sentence(done, "seism-core-slice")
    assert "throughput" not in done.stdout and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", [225, 235, 250, 1000])
def test_a_long_path_is_written_or_refused_in_a_sentence(slice_, refused, tmp_path, length):
    name = (length // 2 * "./" + "x.h5")[-length:].removeprefix("/")
    done = slice_(lines(1, f"filename {name}"))
    if done.returncode == 0:
        assert (tmp_path / "x.h5").exists()
    else:  # Open MPI's OMPIO would crash
        assert "longer than 230 bytes" in refused(done, "seism-core-slice")
        assert list(tmp_path.iterdir()) == []
