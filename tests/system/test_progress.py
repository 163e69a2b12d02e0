"""The line of progress on a terminal, and nothing of it elsewhere."""

import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios

import pytest
from conftest import OWN_TMPDIR, words_of

ERASE = "\r\x1b[K"  # what a line of progress begins with, and what removes it


@pytest.fixture
def standard_error(tmp_path):
    """standard_error(columns, **variables): what a short run of the bench prints on a terminal of this width, on standard error."""

    def run(columns=80, **variables):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        command = [OWN_TMPDIR, *words_of(pathlib.Path(os.environ["SLABMARK_BIN"]), "slabmark bench"), "transfer", "--bytes", "64K", "--block", "64K",
                   "--buffer", "64K", "--method", "posix", "--no-bound", "--trials", "2", "--output-dir", tmp_path]
        environment = {**os.environ, "TERM": "xterm", **variables}
        if "NO_COLOR" not in variables:
            environment.pop("NO_COLOR", None)
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, timeout=60)
        os.close(theirs)
        with os.fdopen(ours, "rb", buffering=0) as terminal:
            said = b""
            try:
                while part := terminal.read(65536):
                    said += part
            except OSError:  # Linux: nobody holds the other end
                pass
        assert done.returncode == 0, said
        return said.decode()

    return run


def test_a_terminal_shows_each_trial_and_about_how_long_the_rest_takes(standard_error):
    said = standard_error()
    lines = said[said.index(ERASE):].split(ERASE)
    assert lines[0] == lines[-1] == "", "the line is gone at the end"
    assert re.fullmatch(r"slabmark bench: warm-up posix", lines[1])
    assert re.fullmatch(r"slabmark bench: trial 2 posix, about 1 s left", lines[-2])


def test_the_line_fits_a_narrow_terminal(standard_error):
    said = standard_error(columns=20)
    assert [line for line in said[said.index(ERASE):].split(ERASE) if line] and max(map(len, said.split(ERASE)[1:])) == 19


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_control_sequence_is_sent_to_who_wants_none(standard_error, variables):
    said = standard_error(**variables)
    assert "\x1b" not in said and "trial" not in said, "a run of less than 30 seconds has nothing to say"
