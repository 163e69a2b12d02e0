"""A file system without locks, which no_locks.c makes of any folder: all goes on, and a line says what cannot be told there."""

import os
import pathlib

import pytest

pytestmark = pytest.mark.long

BIN = pathlib.Path(os.environ["SLABMARK_BIN"])
TOP = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def without_locks(request, run, tmp_path):
    if os.environ.get("SLABMARK_SANITIZERS"):
        pytest.skip("the sanitizers must be the first library of a program")
    environment = os.environ | {
        "LD_PRELOAD": str(BIN / "no_locks.so"), "NO_LOCKS_FOLDER": str(tmp_path), "NO_LOCKS_ERRNO": str(request.param)
    }
    return lambda program, words, **more: run(program, words, cwd=tmp_path, env=environment | more.pop("env", {}), **more)


@pytest.mark.parametrize("without_locks", [524, 37], indirect=True)
def test_set_up_goes_on(without_locks, tmp_path):
    script = f"set -e; . {TOP}/setup/surroundings.sh; exec 9>lock; take_lock waiting; echo it goes on"
    done = without_locks("/bin/bash", ["-c", script])
    assert done.stdout == "it goes on\n" and done.stderr.count("without locks") == 1 and "waiting" not in done.stderr
    holder = "exec 8>lock 2>said; flock 8; (until grep -q waiting said; do sleep 0.05; done; flock -u 8) &"
    done = without_locks("/bin/bash", ["-c", f"{holder} {script}"], env={"NO_LOCKS_FOLDER": "/absent"})
    assert done.stdout == "it goes on\n" and (tmp_path / "said").read_text() == "slabmark: waiting\n"


@pytest.mark.parametrize("without_locks", [37], indirect=True)  # ENOLCK, for which SQLite waits
def test_records_are_measured_and_kept(without_locks, make_dat, tmp_path):
    make_dat(tmp_path / "a.dat", [4], [[1, 2, 3, 4]])
    (tmp_path / "s.toml").write_text("""
        [study]
        name = "s"
        launches = 1
        trials = 1
        [launch]
        template = "env RANKS={ranks} {command}"
        [[pattern]]
        name = "p"
        command = "decomp"
        options = { map = "a.dat" }
        [axes]
        ranks = [1]
        method = ["posix"]
    """)
    done = without_locks("slabmark", ["sweep", "s.toml"])
    assert done.returncode == 0 and done.stderr.count("without locks") == 1, done.stdout + done.stderr
    done = without_locks("slabmark", ["track", "add", "t.db", "s-results"])
    assert done.returncode == 0 and done.stderr.count("without locks") == 1 and "1 launch added" in done.stdout, done.stderr


@pytest.mark.parametrize("without_locks", [524], indirect=True)  # of Cray's DVS; it has no name
def test_a_program_is_captured_and_played_and_a_log_written_and_read(without_locks, tmp_path):
    h5py = pytest.importorskip("h5py")
    log = {"SLABLOG_VIEW": "vds", "HDF5_VOL_CONNECTOR": "slablog under_vol=0;under_info={}", "HDF5_PLUGIN_PATH": str(BIN.parent / "plugins")}
    done = without_locks("log_writer", ["a.h5"], ranks=2, env=log)
    assert done.returncode == 0 and done.stderr.count("without locks") == 1, done.stderr
    with h5py.File(tmp_path / "a.h5", locking=False) as file:
        assert list(file["d"]) == list(range(200))
    done = without_locks("slabmark", ["capture", "--", BIN / "slab_output", "b.h5"])
    assert done.returncode == 0 and (tmp_path / "run.pattern").exists(), done.stderr
    done = without_locks("slabmark bench", ["captured", "--pattern", "run.pattern", "--method", "posix", "--trials", "1"])
    assert done.returncode == 0, done.stderr
