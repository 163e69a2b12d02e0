"""slabmark capture: what is set, what is refused, and a program that is run and merged."""

import errno
import json
import os
import pathlib
import shlex
import signal
import stat
import subprocess
import sys

import pytest
from conftest import needs_pnetcdf
from slabmark import capture, programs
from slabmark.commands.capture import COMMAND
from slabmark.errors import InputError


@pytest.fixture
def arguments():
    return lambda *words: COMMAND.given(words)


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A folder as of a build, in which libraries are empty files."""
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    monkeypatch.delenv("HDF5_VOL_CONNECTOR", raising=False)
    monkeypatch.delenv("HDF5_PLUGIN_PATH", raising=False)
    for name in ("bin/slabmark", "lib/libslabcapture_pnetcdf.so", "lib/libslabcapture_mpiio.so", "plugins/libslabcapture.so"):
        path = tmp_path / "build" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("SLABMARK_BIN", str(tmp_path / "build/bin"))
    return tmp_path / "build"


def test_all_levels_that_are_built_are_stood_in_for(built, arguments):
    set_to = capture.settings(pathlib.Path("/r/run.pattern"), arguments())
    assert set_to["SLABMARK_CAPTURE"] == "/r/run.pattern"
    assert set_to["LD_PRELOAD"].split(":") == [str(built / "lib/libslabcapture_pnetcdf.so"), str(built / "lib/libslabcapture_mpiio.so")]
    assert set_to["HDF5_VOL_CONNECTOR"] == "slabcapture under_vol=0;under_info={}"
    assert set_to["HDF5_PLUGIN_PATH"] == str(built / "plugins")


def test_the_connector_stands_above_slablog_and_before_other_plugins(built, arguments, monkeypatch):
    monkeypatch.setenv("HDF5_VOL_CONNECTOR", "slablog under_vol=0;under_info={};layout=log")
    monkeypatch.setenv("HDF5_PLUGIN_PATH", "/others")
    set_to = capture.settings(pathlib.Path("/r/run.pattern"), arguments("--intercept", "hdf5"))
    assert set_to["HDF5_VOL_CONNECTOR"] == "slabcapture under_vol=6204;under_info={under_vol=0;under_info={};layout=log}"
    assert set_to["HDF5_PLUGIN_PATH"] == f"{built / 'plugins'}:/others"
    assert "LD_PRELOAD" not in set_to


@pytest.mark.parametrize(
    "words, environment, reason",
    [
        (["--intercept", "netcdf"], {}, "'netcdf' is no level"),
        (["--intercept", "posix"], {}, "libslabcapture_posix.so"),
        ([], {"HDF5_VOL_CONNECTOR": "other x"}, "cannot stand above"),
        (["--intercept", "pnetcdf", "--posix", "on"], {}, "which --intercept pnetcdf leaves out"),
        (["--intercept", "mpiio,hdf5", "--only-files", "*.nc"], {}, "which --intercept mpiio,hdf5 leaves out"),
        (["--posix", "off", "--only-files", "*.nc"], {}, "--posix off that nothing is"),
    ],
)
def test_what_cannot_work_is_refused(built, arguments, monkeypatch, words, environment, reason):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=reason):
        capture.settings(pathlib.Path("/r/run.pattern"), arguments(*words))


def test_of_nothing_that_was_captured_it_is_said_why(tmp_path, monkeypatch):
    spool = tmp_path / "run.pattern.parts"
    assert capture.why_nothing(spool, ["posix"]).endswith("was removed")
    spool.mkdir()
    assert "opened no file through a library that was intercepted (posix), or says above" in capture.why_nothing(spool, ["posix"])

    def full(**_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(capture.tempfile, "TemporaryFile", full)
    assert capture.why_nothing(spool, ["posix"]) == f"'{spool}' cannot be written: No space left on device"


def test_one_of_several_launches_is_chosen_where_they_are_merged_and_the_others_stay(tmp_path, arguments, monkeypatch):
    with pytest.raises(InputError, match="--run is for --merge"):
        capture.main(arguments("--run", "1", "--", "true"), None)
    spool = capture.make_room(tmp_path / "run.pattern", overwrite=False)
    asked = []
    monkeypatch.setattr(programs, "find", lambda name: name)
    monkeypatch.setattr(programs, "output_of", lambda words, **_: asked.append(words) or "")
    for words, stays in ((["--run", "2"], True), ([], False)):
        capture.main(arguments("--merge", str(spool), *words), None)
        assert spool.exists() == stays
    assert "--run=2" in asked[0] and not any(word.startswith("--run") for word in asked[1])


def test_a_capture_within_a_capture_is_refused(tmp_path, built, arguments, monkeypatch):
    monkeypatch.setenv("SLABMARK_CAPTURE", "/r/outer.pattern")
    with pytest.raises(InputError, match="outer.pattern' is set, .* unset the variable"):
        capture.main(arguments("-o", str(tmp_path / "inner.pattern"), "--", "true"), None)
    assert not list(tmp_path.glob("inner*"))


def test_a_spool_of_an_earlier_run_is_not_mixed_with_another(tmp_path):
    pattern = tmp_path / "run.pattern"
    spool = capture.make_room(pattern, overwrite=False)
    (spool / "host.spool").write_bytes(b"x")
    with pytest.raises(InputError, match="--merge"):
        capture.make_room(pattern, overwrite=False)
    assert not list(capture.make_room(pattern, overwrite=True).iterdir())


@pytest.fixture
def merged(monkeypatch):
    """The words of each merge, which does nothing."""
    asked = []
    monkeypatch.setattr(programs, "find", lambda name: name)
    monkeypatch.setattr(programs, "output_of", lambda words, **_: asked.append(words) or "")
    return asked


@pytest.mark.parametrize("link", [False, True])
def test_a_folder_that_is_merged_keeps_what_is_no_spool(tmp_path, arguments, merged, link):
    folder = tmp_path / "mydata"
    (folder / "more").mkdir(parents=True)
    (folder / "host.spool").write_bytes(b"x")
    (folder / "precious.txt").write_text("precious")
    named = tmp_path / "link" if link else folder
    if link:
        named.symlink_to(folder)
    with pytest.raises(InputError, match="the folder that is merged and then removed"):
        capture.main(arguments("--merge", str(named), "-o", str(folder / "more/run.pattern")), None)
    assert not merged
    capture.main(arguments("--merge", str(named), "-o", str(tmp_path / "run.pattern")), None)
    assert merged and sorted(path.name for path in folder.iterdir()) == ["more", "precious.txt"]


def test_what_captured_programs_leave_beside_spools_goes_with_them(tmp_path):
    for name in ("node1.spool", "node2.spool", "7034318.children", "shared-pointer.lock"):
        (tmp_path / "a.parts" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "a.parts" / name).touch()
    capture.clear(tmp_path / "a.parts")
    assert not (tmp_path / "a.parts").exists()


def test_a_folder_of_the_name_of_spools_keeps_what_is_none(tmp_path):
    folder = tmp_path / "run.pattern.parts"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/x.spool").write_text("precious")
    (folder / "host.spool").write_bytes(b"x")
    for overwrite in (True, False):
        assert [path.name for path in capture.make_room(tmp_path / "run.pattern", overwrite).iterdir()] == ["sub"]
    capture.clear(folder)
    assert (folder / "sub/x.spool").read_text() == "precious"


def test_names_with_a_dash_or_blanks_reach_the_program_and_the_line_to_type(tmp_path, arguments, merged, monkeypatch):
    monkeypatch.chdir(tmp_path)
    capture.main(arguments("--merge=-x.parts"), None)
    [words] = merged
    assert words[3:6] == ["./-x.parts", "-o", "./-x"]
    output = tmp_path / "a b.pattern"
    (capture.make_room(output, False) / "host.spool").touch()
    with pytest.raises(InputError) as error:
        capture.make_room(output, False)
    line = str(error.value).partition("of it: ")[2]
    assert shlex.split(line) == ["slabmark", "capture", "--merge", f"{output}.parts"]


def test_a_command_that_cannot_be_started_leaves_no_folder(tmp_path, built, arguments, monkeypatch):
    monkeypatch.delenv("SLABMARK_CAPTURE", raising=False)
    script = tmp_path / "script"
    script.write_text("true\n")  # and no line that says what is to run it
    script.chmod(0o755)
    for _ in range(2):
        with pytest.raises(InputError, match="script' cannot be started: Exec format error"):
            capture.main(arguments("-o", str(tmp_path / "run.pattern"), "--", str(script)), None)
    assert not list(tmp_path.glob("run*"))


# Sends each signal to what captures it, as a batch system would, and ends when it has had them all back.
SENDER = """
import os, signal, sys
wanted = list(map(int, sys.argv[1:]))
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
for number in wanted * 2:
    os.kill(os.getppid(), number)
    came = signal.sigtimedwait(wanted, 60)
    if not came or came.si_signo != number:
        sys.exit(1)
os.kill(os.getppid(), signal.SIGHUP)
sys.exit(17 if signal.getsignal(signal.SIGCHLD) == signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else 2)
"""


def test_each_signal_goes_on_to_the_command_and_none_that_is_ignored():
    wanted = [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2]
    script = f"""
import os, signal, sys
from slabmark import capture
for number in (signal.SIGHUP, signal.SIGCHLD):
    signal.signal(number, signal.SIG_IGN)
state = lambda: ([signal.getsignal(number) for number in signal.valid_signals()], signal.pthread_sigmask(signal.SIG_BLOCK, []))
before = state()
status = capture.run(sys.executable, ["python", "-c", {SENDER!r}, *{[str(int(number)) for number in wanted]}], os.environ)
assert state() == before
sys.exit(status)
"""
    done = subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": str(pathlib.Path(capture.__file__).parents[1])},
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 17, done.stderr


def slabmark(*words, **more):
    return subprocess.run([sys.executable, "-m", "slabmark", *map(str, words)], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"PYTHONPATH": str(pathlib.Path(capture.__file__).parents[1])}, **more)


@needs_pnetcdf
def test_a_program_is_captured_and_its_status_is_that_of_the_command(tmp_path):
    if not os.environ.get("SLABMARK_BIN"):
        pytest.skip("no programs are built")
    if os.environ.get("SLABMARK_SANITIZERS"):
        pytest.skip("the sanitizers must be the first library of a program")  # of sh
    program = programs.find("e3sm_io")
    programs.output_of([*programs.command("slabmark decomp"), "generate", "f", "--ne", "2", "--ranks", "2", "-o", str(tmp_path / "f.nc")])
    pattern = tmp_path / "run.pattern"
    words = ["sh", "-c", 'exec "$@"', "", program, "-q", tmp_path / "f.nc", "-n", "1", "-o", tmp_path]
    done = slabmark("capture", "-o", pattern, "--intercept", "pnetcdf", "--", *words)
    assert done.returncode == 0, done.stderr
    shown = json.loads(programs.output_of([*programs.command("slabmark pattern"), "show", str(pattern)]))
    assert shown["launch"] == [str(word) for word in words]
    assert pattern.exists() and not pathlib.Path(f"{pattern}.parts").exists()
    assert "run.pattern: 1 rank" in done.stderr
    done = slabmark("capture", "-o", tmp_path / "nothing.pattern", "--", "sh", "-c", "exit 7")
    assert done.returncode == 7
    assert done.stderr == "slabmark capture: error: Nothing was recorded: the program ended with status 7 before its first call.\n"
    ranks = [*shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec")), "-n", "2", programs.find("h5perf"), "--nothing-like-it"]
    done = slabmark("capture", "-o", pattern, "--overwrite", "--", *ranks)
    assert done.returncode == 2 and "Nothing was recorded: the program ended with status 2 before its first call." in done.stderr
    assert pattern.exists() and not pathlib.Path(f"{pattern}.parts").exists(), "what an earlier run recorded stays"
    done = slabmark("capture", "-o", pattern, "--", "true")
    assert done.returncode == 2 and "allow this with --overwrite" in done.stderr
