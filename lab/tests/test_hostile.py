"""What nobody should give it: each exception ends as one sentence, nothing hangs, nothing that was there is lost.

SLABMARK_FUZZ_SECONDS (default 3, for each of three inputs) and SLABMARK_FUZZ_SEED make the fuzzing longer, and other.
"""

import copy
import errno
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time

import pytest
from conftest import LAB, processes, record, write_records
from slabmark import command_line, decomposition, errors, files, launch
from test_sweep import DIRECTLY, STUDY, write_study

SECONDS = float(os.environ.get("SLABMARK_FUZZ_SECONDS", "3"))
SEED = int(os.environ.get("SLABMARK_FUZZ_SEED", "1"))
LONG = "n" * 300
ODD = [
    *(None, True, -1, 0, 1, 0.0, 1e-300, 1e308, 2**31, 2**64, 10**400, [], [[]], [None], {}, {"": {}}, {"x": 1}),
    *("", "x", LONG, "$\\frac{1$", "\x1b[31m", "a\nb", "\0", "{}", "{ranks:s}", "A=B", "'", "\u202e", "[red]", "../.."),
]


def told(capsys, *arguments):
    """(exit status, the sentence of the error) of a command that must end as promised."""
    status = command_line.main([str(word) for word in arguments])
    out, err = capsys.readouterr()
    assert status in (0, 1, 2) and "Internal error" not in err, err
    lines = [line for line in err.splitlines() if line.startswith("slabmark: error: ")]
    assert len(lines) <= 1 and (status == 0 or lines or out), (status, out, err)
    assert "\x1b[31m" not in out + err and len(err) < 2000
    return status, err


def places(value, path=()):
    """Every place in nested dictionaries and lists."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def bent(generator, value):
    """A copy with some place replaced, removed or repeated."""
    value = copy.deepcopy(value)
    *path, last = generator.choice([path for path in places(value) if path])
    at = value
    for key in path:
        at = at[key]
    if generator.random() < 0.15:
        del at[last]
    elif generator.random() < 0.1 and isinstance(at, dict):
        at[generator.choice([text for text in ODD if isinstance(text, str)])] = at[last]
    else:
        at[last] = generator.choice(ODD)
    return value


def until_the_time_is_over():
    last = time.monotonic() + SECONDS
    number = 0
    while time.monotonic() < last or number < 20:
        yield number
        number += 1


@pytest.mark.long
def test_no_record_ends_in_a_traceback(tmp_path, capsys):
    generator = random.Random(SEED)
    good = record([1.0, 1.1, 1.2])
    base = write_records(tmp_path / "base.jsonl", [good] * 6)
    new = tmp_path / "new.jsonl"
    for number in until_the_time_is_over():
        made = good
        for _ in range(generator.randrange(1, 4)):
            made = bent(generator, made)
        write_records(new, [made, good])
        if generator.random() < 0.1:
            data = bytearray(new.read_bytes())
            data[generator.randrange(len(data))] = generator.randrange(256)
            new.write_bytes(bytes(data[: generator.randrange(1, len(data))]))
        if number % 20:
            told(capsys, "compare", base, new, "--fail-on", "none", *generator.choice([[], ["--json", "-"]]))
        else:
            told(capsys, "report", new, base, "-o", tmp_path / "r.html", "--csv-dir", tmp_path, "--png-dir", tmp_path)
            told(capsys, "track", "add", tmp_path / "store", new)
            gates = ["--junit", tmp_path / "t.xml", "--openmetrics", tmp_path / "t.txt"]
            told(capsys, "track", "report", tmp_path / "store", "-o", tmp_path / "t.html", *gates)


@pytest.mark.long
def test_no_store_ends_in_a_traceback(tmp_path, capsys):
    generator = random.Random(SEED)
    made = [record([1.0, 1.1], started=f"2026-01-{day:02}T00:00:00Z") for day in range(1, 21)]
    store = tmp_path / "store"
    told(capsys, "track", "add", store, write_records(tmp_path / "good.jsonl", made))
    good = store.read_bytes()
    for _ in until_the_time_is_over():
        data = bytearray(good)
        for _ in range(generator.choice([1, 1, 10, 100])):
            data[generator.randrange(len(data))] = generator.randrange(256)
        store.write_bytes(bytes(data[: generator.choice([len(data), generator.randrange(1, len(data))])]))
        for action in (["report", store, "-o", tmp_path / "t.html"], ["query", store, "trials", "--json", "-"]):
            told(capsys, "track", *action)


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps("none" if value is None else value)


@pytest.mark.long
def test_no_study_ends_in_a_traceback(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SLABMARK_BIN", str(tmp_path))
    (tmp_path / "slabmark").write_text("""#!/bin/sh\necho '{"methods":[{"name":"a","options":[{"name":"o"}]}]}'\n""")
    (tmp_path / "slabmark").chmod(0o755)
    generator = random.Random(SEED)
    good = {
        "study": {"name": "s", "launches": 3, "trials": 2, "output": ".", "results": "r", "timeout": 3, "bound": True},
        "launch": {"template": DIRECTLY, "ranks_per_node": 2},
        "job": {"time": "1", "nodes": 4, "preamble": ["a"], "directives": ["x"]},
        "pattern": [{"name": "f", "command": "decomp", "options": {"map": "f.nc", "variables": [1, 2]}}],
        "axes": {"ranks": [1, 2], "method": ["a"], "hints": {"h": ["default", 1]}, "environment": {"E": "x"}},
    }
    for number in until_the_time_is_over():
        text = "\n".join(f"{name} = {toml(table)}" for name, table in bent(generator, good).items())
        if number % 5 == 0:
            place = generator.randrange(len(text))
            text = text[:place] + generator.choice(["\0", "[", '"', "=", "\n", "é", "."]) + text[place + 1 :]
        path = tmp_path / "s.toml"
        path.write_text(text)
        told(capsys, "sweep", path, *generator.choice([["--dry-run"], ["--job", "slurm"], ["--job", "pbs", "-r", tmp_path]]))


@pytest.mark.long
def test_no_map_text_ends_in_a_traceback(tmp_path):
    generator = random.Random(SEED)
    good = "version 2001 npes 2 ndims 2 \n4 2 \n0 5\n1 2 0 5 6 \n1 3\n3 8 7 \n"
    path = tmp_path / "m.dat"
    for _ in until_the_time_is_over():
        place = generator.randrange(len(good))
        path.write_text(good[:place] + generator.choice(["", "9", "-", "x", " ", "\n", "99999999999999999999"]) + good[place + 1 :])
        try:
            entry = {"dims": generator.choice([[2, 4], [8], [1] * 70 + [8], [2**40], []]), "ranks": generator.choice([0, 2])}
            decomposition.read_owners(path, 1, entry)
        except errors.LabError as error:
            assert "cannot be drawn" in str(error)


@pytest.fixture
def odd_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / os.fsdecode(b"latin\xe9\n")).write_bytes(b"\xff\xfe\0")
    return [*sorted(tmp_path.iterdir()), "/dev/zero", "/dev/full", "/proc/self/mem", tmp_path / "absent" / "x", LONG, tmp_path]


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        ["report", "FILE"],
        ["compare", "FILE", "FILE"],
        ["sweep", "FILE", "--dry-run"],
        ["decomp", "show", "FILE"],
        ["report", "GOOD", "-o", "FILE"],
        ["report", "GOOD", "--csv-dir", "FILE"],
        ["track", "report", "FILE"],
        ["track", "add", "STORE", "FILE"],
        ["sweep", "STUDY", "--job", "slurm", "-r", "FILE"],
    ],
)
def test_no_odd_file_hangs_is_changed_or_ends_in_a_traceback(odd_files, tmp_path, monkeypatch, capsys, command):
    good = write_records(tmp_path / "good.jsonl", [record([1.0])])
    study = write_study(tmp_path, STUDY)
    monkeypatch.chdir(tmp_path)
    for name in odd_files:
        named = {"FILE": name, "GOOD": good, "STUDY": study, "STORE": tmp_path / "store"}
        words = [named.get(word, word) for word in command]
        before = os.readlink(name) if os.path.islink(name) else None
        status, error = told(capsys, *words)
        if name != tmp_path or command[-1] != "FILE":
            assert status or command[:2] == ["sweep", "STUDY"] or "--csv-dir" in command or name == LONG, (words, error)
        assert before is None or os.readlink(name) == before


@pytest.mark.parametrize("name", [LONG, "a\nb", "\x1b[31m", os.fsdecode(b"\xe9"), "é" * 40_000, "\u202e"])
def test_a_culprit_is_named_on_one_line_without_control_characters_and_not_at_length(capsys, name):
    for command in ("report", "sweep", name):
        status, error = told(capsys, command, name)
        assert status == 2 and error.count("\n") == 1 and error.isascii() == ("é" not in name) and len(error) < 700


@pytest.mark.parametrize("words", ("report --png-dir", "report -o", "report --csv-dir", "track report -o", "sweep -r", "capture -o"))
def test_an_option_without_a_value_is_not_taken_for_one_that_was_left_out(tmp_path, capsys, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    write_records(tmp_path / "records.jsonl", [record([1.0, 1.1])])
    status, err = told(capsys, *words.split(), "", "records.jsonl")
    assert status == 2 and words.split()[-1] in err and "is given without a value" in err
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]


def test_a_line_break_in_a_name_breaks_no_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "x\nslabmark: error: y"
    good = str(write_records(tmp_path / name, [record([1.0], started="2026-01-01T00:00:00Z"), {"odd": 1}]))
    for words in (
        ["report", good, "-o", f"{name}.html"],
        ["track", "add", f"{name}.db", good],
        ["track", "query", f"{name}.db", "--csv", f"{name}.csv"],
        ["track", "copy", f"{name}.db", f"{name}.copy"],
        ["track", "prune", f"{name}.db", "--before", "2026-01-01"],
        ["track", "report", f"{name}.db", "-o", f"{name}.track.html"],
    ):
        assert command_line.main(words) == 0
        out = capsys.readouterr().out
        assert "x\\nslabmark" in out and not any(line.startswith("slabmark: error") for line in out.splitlines()), out


@pytest.mark.parametrize(
    "error, status",
    [(OSError(28, "No space left on device", "f"), 1), (OSError(2, "No such file", "f"), 2), (RecursionError(), 2), (KeyError("x"), 1)],
)
def test_every_exception_is_a_sentence_and_a_status(error, status):
    try:
        raise error
    except Exception as raised:
        found, sentence = errors.explained(raised)
    assert found == status and sentence.endswith(".") and "\n" not in sentence


@pytest.mark.long
@pytest.mark.parametrize("name", ["MPLBACKEND", "SOURCE_DATE_EPOCH", "PYTHONIOENCODING", "COLUMNS", "TERM"])
def test_no_variable_of_the_environment_ends_it(tmp_path, name):
    path = write_records(tmp_path / "r.jsonl", [record([1.0] * 6)])
    words = ["-m", "slabmark", "report", str(path), "-o", str(tmp_path / "r.html"), "--png-dir", str(tmp_path)]
    surroundings = os.environ | {"PYTHONPATH": str(LAB), name: "junk"}
    if name == "PYTHONIOENCODING":  # no Python starts with it; setup/python, which the command goes through, takes it away
        python = [LAB.parent / "setup" / "python"]
    else:
        python = [sys.executable]
    done = subprocess.run([*python, *words], env=surroundings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_no_file_of_the_working_folder_is_run_or_changes_a_picture(run, small_map, tmp_path):
    for name in ("numpy", "statistics", "slabmark/__init__", "slabmark/__main__"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text("raise SystemExit(99)")
    (tmp_path / "matplotlibrc").write_bytes(b"\xff")
    done = run("slabmark", ["decomp", "show", small_map.name, "-o", "m.svg"], cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr and (tmp_path / "m.svg").exists(), (done.returncode, done.stderr)


@pytest.mark.long
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_end_nothing_and_nothing_is_printed_into_a_file(run, tmp_path, closed):
    path = write_records(tmp_path / "r.jsonl", [record([1.0] * 6)])
    program = os.environ["SLABMARK_BIN"] + "/slabmark"
    words = ["report", path, "-o", tmp_path / "r.html", "--csv-dir", tmp_path]
    script = f'"$0" --version {closed} && "$0" "$@" {closed} || exit; "$0" absent {closed}; [ $? = 2 ]'
    done = run("/bin/sh", ["-c", script, program, *words])
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert (tmp_path / "r.html").read_text().rstrip().endswith("</html>")


@pytest.mark.long
def test_an_interruption_while_the_lab_is_loaded_ends_it_without_a_traceback(tmp_path):
    (tmp_path / "click").mkdir()
    (tmp_path / "click/__init__.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    environment = os.environ | {"PYTHONPATH": f"{LAB}:{tmp_path}"}
    done = subprocess.run([sys.executable, "-P", "-m", "slabmark", "--version"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_signals_that_are_ignored_stay_so_as_nohup_wants_it():
    script = """
import signal
from slabmark import command_line
command_line.main()
print(*(getattr(signal.getsignal(number), "__name__", "ignored") for number in command_line.SIGNALS))
"""

    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    done = subprocess.run([sys.executable, "-c", script, "--version"], env=os.environ | {"PYTHONPATH": str(LAB)}, capture_output=True, text=True, preexec_fn=ignore)
    assert done.stdout.splitlines()[-1:] == ["_interrupt _interrupt ignored"], done.stdout + done.stderr


def test_a_working_folder_that_is_gone_is_one_sentence(run, sentence, tmp_path):
    program = os.environ["SLABMARK_BIN"] + "/slabmark"
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    for command in ([program], [sys.executable, "-P", "-m", "slabmark"]):
        done = run("/bin/sh", ["-c", script, "sh", *command, "describe", "x.toml"], cwd=tmp_path,
                   env=os.environ | {"PYTHONPATH": str(LAB)})
        assert done.returncode == 2 and "has been removed; change to another" in sentence(done, "slabmark")


def test_a_file_that_is_replaced_keeps_its_mode_and_one_that_may_not_be_written_is_bad_input(tmp_path, monkeypatch):
    path = tmp_path / "f"
    files.write(path, b"one")
    path.chmod(0o604)
    files.write(path, b"two")
    assert path.read_bytes() == b"two" and stat.S_IMODE(path.stat().st_mode) == 0o604

    def refuse(number):
        def replace(*_):
            raise OSError(number, os.strerror(number))

        return replace

    for number, kind in ((errno.EACCES, 2), (errno.EPERM, 2), (errno.ENOSPC, 1), (errno.EROFS, 1)):
        monkeypatch.setattr(files.os, "replace", refuse(number))
        with pytest.raises(errors.LabError, match="cannot be written") as error:
            files.write(path, b"three")
        assert error.value.status == kind
    assert path.read_bytes() == b"two" and list(tmp_path.iterdir()) == [path]


def test_a_file_is_durable_before_it_replaces_another(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(files.os, "fsync", lambda descriptor: done.append(stat.S_ISDIR(os.fstat(descriptor).st_mode)))
    replace = os.replace
    monkeypatch.setattr(files.os, "replace", lambda *names: (done.append("replaced"), replace(*names)))
    files.write(tmp_path / "f", b"x")
    assert done == [False, "replaced", True]


def test_a_remedy_is_one_that_the_command_has(tmp_path, capsys):
    path = tmp_path / "f"
    path.touch()
    for more, remedy in (({}, "or remove it."), ({"overwrite": False}, "allow this with --overwrite.")):
        with pytest.raises(errors.InputError) as error:
            files.check_output(path, **more)
        assert str(error.value).endswith(remedy)
    good = write_records(tmp_path / "good.jsonl", [record([1.0])])
    status, error = told(capsys, "compare", good, good, "--junit", path)
    assert status == 2 and "remove it" in error


@pytest.mark.long
def test_programs_of_a_launch_find_the_variables_that_the_user_has(run, tmp_path):
    """What our wrapper, Python and Matplotlib need is for the lab alone."""
    bench = tmp_path / "slabmark"
    bench.write_text(f"#!/bin/sh\nexec env -0 >'{tmp_path}/found'\n")
    bench.chmod(0o755)
    given = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SLABMARK_BIN": str(tmp_path), "PYTHONPATH": "/other", "MPLBACKEND": "junk"}
    given |= {name: os.environ[name] for name in ("SLABMARK_PYTHON", "SLABMARK_CACHE") if name in os.environ}
    given["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    done = run("slabmark", ["doctor"], env=given)
    found = dict(entry.split("=", 1) for entry in (tmp_path / "found").read_text().split("\0") if entry)
    assert given.items() <= found.items(), done.stderr
    assert not {name for name in found if name.startswith(("PYTHON", "SLABMARK", "MPL", "LC_"))} - set(given)


# Stands for slabmark bench: says what there is to try, and never ends a launch, whatever it is told.
STUBBORN = f"""#!{sys.executable}
import json, signal, sys, time
if "environment" in sys.argv:
    method = {{"name": "hdf5-slab", "kind": "general", "format": "hdf5", "missing": None}}
    print(json.dumps({{"mpi_io": "ROMIO", "libraries": {{"hdf5": "2.2.0"}}, "methods": [method]}}))
    sys.exit()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[sys.argv.index("--output-dir") + 1] + "/measured", "w").close()
time.sleep(1000)
"""


def test_an_interruption_while_a_launch_begins_ends_it(monkeypatch):
    started, popen = [], subprocess.Popen

    def interrupt(*_):
        raise command_line.Interrupted(signal.SIGTERM)

    def begin(*words, **more):
        started.append(popen(*words, **more))
        os.kill(os.getpid(), signal.SIGTERM)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", begin)
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        with pytest.raises(command_line.Interrupted):
            launch.run(["sleep", "1000"], 1000, {}, subprocess.DEVNULL)
        is_ended = started[0].poll() is not None
    finally:
        signal.signal(signal.SIGTERM, before)
        started[0].kill()
    assert is_ended


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_advice_leaves_nothing_and_nobody(tmp_path, number):
    (tmp_path / "slabmark").write_text(STUBBORN)
    (tmp_path / "slabmark").chmod(0o755)
    output = tmp_path / "output"
    output.mkdir()
    # Ranks are in process groups of their own.
    launch = """bash -c 'set -m; "$@" & wait' {ranks} {command}"""
    words = ["-m", "slabmark", "advise", "decomp --map x", "--launch", launch, "-d", str(output)]
    own = {"PYTHONPATH": str(LAB), "SLABMARK_BIN": str(tmp_path), "TMPDIR": str(output)}
    process = subprocess.Popen([sys.executable, *words], env=os.environ | own, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    last = time.monotonic() + 60
    while not list(output.glob("slabmark-advise-*/measured")):
        assert process.poll() is None and time.monotonic() < last, process.communicate()
        time.sleep(0.05)

    def is_started(words):
        return str(tmp_path / "slabmark") in words

    assert processes(is_started)
    process.send_signal(number)
    process.communicate(timeout=60)
    left = processes(is_started)
    for stubborn in left:
        os.kill(stubborn, signal.SIGKILL)
    assert process.returncode == 128 + number and not left
    assert list(output.iterdir()) == []


