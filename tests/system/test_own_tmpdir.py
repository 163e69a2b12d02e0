"""setup/own-tmpdir: each launch has a folder of its own for temporary files, which goes however the launch ends."""

import os
import signal
import subprocess
import time

import pytest
from conftest import OWN_TMPDIR


def launched(folder, script, **more):
    return subprocess.run([OWN_TMPDIR, "bash", "-c", script], env=os.environ | {"TMPDIR": str(folder)},
                          capture_output=True, text=True, **more)


def soon_empty(folder):
    """What waits for the end of a launch removes its folder a moment later."""
    last = time.monotonic() + 30
    while list(folder.iterdir()) and time.monotonic() < last:
        time.sleep(0.02)
    return not list(folder.iterdir())


def test_two_launches_have_two_folders_and_their_own_status(tmp_path):
    done = [launched(tmp_path, 'touch "$TMPDIR/x"; echo "$TMPDIR"; exit 7') for _ in range(2)]
    assert [one.returncode for one in done] == [7, 7]
    assert done[0].stdout != done[1].stdout and all(one.stdout.startswith(str(tmp_path)) for one in done)
    assert soon_empty(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_launch_that_is_killed_leaves_no_folder(tmp_path, number):
    assert launched(tmp_path, f'touch "$TMPDIR/x"; kill -{int(number)} $$').returncode == -number
    assert soon_empty(tmp_path)


def test_the_folder_stays_while_a_rank_lives(tmp_path):
    done = launched(tmp_path, 'cd "$TMPDIR"; (sleep 0.3; touch alive && echo "still there") & echo begun')
    assert done.stdout == "begun\nstill there\n"
    assert soon_empty(tmp_path)
