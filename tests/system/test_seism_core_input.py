"""The input of seism-core-slice, and every fault in it."""

import os
import pathlib
import shlex
import subprocess

import pytest
from conftest import OWN_TMPDIR
from seism_core import check, gaussian, lines, slice_, soon, value


def test_input_comes_in_any_order_with_comments_blank_lines_and_crlf(slice_, check):
    text = ("  # precreate is off here\r\n\r\ntime 7\r\n#DONE when ready\r\n\tdomain 18 8 8\r\nchunk 9 8 8 # small\r\n"
            "time 2\r\nprocessor 1 1 1\r\nDONE\r\nnonsense\r\n")
    done = slice_(text)
    assert done.returncode == 0, done.stderr
    assert value(done.stdout, "Pre-create") == "0" and value(done.stdout, "Number of time steps") == "2"
    assert check(ranks=1).returncode == 0


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


FAULTS = {
    "unknown keyword": ("precraete\n" + lines(4), "did you mean precreate?"),
    "done": (lines(4).replace("DONE", "done"), "did you mean DONE?"),
    "wrong product": (lines(1), "makes 1 processes, but there are 4 ranks"),
    "no processor": (lines(4).replace("processor", "#"), "no line with processor"),
    "no chunk": (lines(4).replace("chunk", "#"), "no line with chunk"),
    "no domain": (lines(4).replace("domain", "#"), "no line with domain"),
    "no time": (lines(4).replace("time", "#"), "no line with time"),
    "zero": (lines(4, domain="18 0 8"), 'Line 3 of the input: domain is "0"'),
    "zero steps": (lines(4, time=0), 'time is "0"'),
    "zero chunk": (lines(4, chunk="0 0 0"), 'chunk is "0"'),
    "negative": (lines(4, domain="18 -16 8"), 'domain is "-16", which is out of range'),
    "negative steps": (lines(4, time=-1), 'time is "-1", which is out of range'),
    "fraction": (lines(4, domain="18 1.5 8"), 'domain is "1.5", which is not a whole number'),
    "garbage": (lines(4, time="five"), 'time is "five"'),
    "overflow": (lines(4, domain="18 99999999999999999999 8"), "which is out of range"),
    "product overflows": (lines(4, domain="4294967296 4294967296 4294967296"), "63 bits"),
    "value missing": (lines(4, domain="18 8"), "domain takes 3 values on its line, but 2 follow"),
    "value on the next line": (lines(4, domain="18 8\n8"), "Line 3 of the input: domain takes 3 values"),
    "value too many": (lines(4, time="5 6"), "time takes 1 value on its line, but 2 follow"),
    "word after a value": (lines(4, "deflate 0 x"), "deflate takes 1 value on its line, but 2 follow"),
    "flag with a value": (lines(4, "precreate 0"), "precreate takes no value"),
    "end without DONE": (lines(4).replace("DONE\n", ""), "without DONE"),
    "nothing": ("", "without DONE"),
    "chunk beyond the dataset": (lines(4, chunk="19 8 8"), "The chunk is 19 x 8 x 8"),
    "deflate too high": (lines(4, "collective_write", "deflate 10"), "deflate"),
    "deflate without collective_write": (lines(4, "deflate 5"), "collective"),
    "zfp without the filter": (lines(4, "collective_write", "zfp 1"), "ZFP"),
    "subfile with precreate": (lines(4, "subfile 2", "precreate"), "precreate"),
    "missing directory": (lines(4, "filename nowhere/x.h5"), "nowhere"),
    "a directory": (lines(4, "filename ."), "not a regular file"),
    "filename missing": (lines(4, "filename"), "filename takes 1 value"),
    "filename too long": (lines(4, "filename " + 300 * "x"), "long"),
    "argc above argv": (lines(4, *gaussian(1, 1, argc=4)), "use_function_argc is 4, but use_function_argv holds 2"),
    "argument missing": (lines(4, *gaussian(1, 1, argc=2)), "gaussian takes 4 arguments"),
    "argument no number": (lines(4, *gaussian(1, 1, "x", 1)), 'argument 2 of gaussian is "x"'),
    "library missing": (lines(4, *gaussian(1, 1, 1, 1)).replace("libplugins.so", "libnone.so"), "libnone.so"),
    "library not named": (lines(4, "use_function_name gaussian"), "no use_function_lib"),
    "symbol missing": (lines(4, *gaussian(1, 1, 1, 1)).replace("name gaussian", "name gausian"), "no function"),
    "samples missing": (lines(4, *gaussian("none.bin", argc=1)).replace("name gaussian", "name sd"), "none.bin"),
}


def launcher_tells_where_the_input_ends():
    launcher = shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec"))
    try:
        return subprocess.run([OWN_TMPDIR, *launcher, "-n", "1", "cat"], stdin=subprocess.DEVNULL, timeout=10).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def test_wrong_input_is_one_sentence_within_5_seconds_and_leaves_no_file(slice_, sentence, each):
    def check(fault, folder):
        text, culprit = FAULTS[fault]
        done = slice_(text, 4, timeout=soon(), cwd=folder)
        assert done.returncode in (1, 2), (done.stdout, done.stderr)
        assert culprit in sentence(done, "seism-core-slice")
        assert "throughput" not in done.stdout
        assert list(folder.iterdir()) == []

    unended = [] if launcher_tells_where_the_input_ends() else [fault for fault in FAULTS if FAULTS[fault][1] == "without DONE"]
    each([fault for fault in FAULTS if fault not in unended], check)
    if unended:
        pytest.skip(f"this launcher does not tell programs where their input ends (docs/building.md, Open MPI 5): {unended}")


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_input_says_the_same_without_a_launcher(slice_, sentence, tmp_path, fault):
    text, culprit = FAULTS[fault]
    if fault == "wrong product":
        text, culprit = lines(4), "makes 4 processes, but there are 1 ranks"
    else:
        text = text.replace("processor 1 2 2", "processor 1 1 1")
    done = slice_(text, 1, timeout=soon())
    assert done.returncode in (1, 2), (done.stdout, done.stderr)
    assert culprit in sentence(done, "seism-core-slice")
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
