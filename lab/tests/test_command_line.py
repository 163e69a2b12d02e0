"""Command lines of the lab: what they load, how they look, and what is refused."""

import json
import os
import subprocess
import sys

import pytest
from conftest import LAB, record, write_records
from slabmark import command_line
from slabmark.commands import LAB as ALL

HEAVY = {"h5py", "jinja2", "junitparser", "matplotlib", "netCDF4", "numpy", "prometheus_client", "pydantic", "rich", "scipy"}


def described(commands=None):
    for command in ALL.describe(ALL.make_context("slabmark", ["doctor"]))["commands"] if commands is None else commands:
        yield command
        yield from described(command["commands"])


@pytest.mark.fast
def test_neither_help_nor_the_version_nor_an_error_of_usage_loads_what_takes_long():
    commands = [["--version"], ["--help"], ["--describe-options"], ["compare"], ["swep"], ["apply", "--check"], ["track", "prune", "x"]]
    commands += [[*command["name"].split()[1:], "--help"] for command in described()]
    script = "import sys; from slabmark.command_line import main; print([main(words) for words in eval(sys.argv[1])]); print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", script, repr(commands)], env=os.environ | {"PYTHONPATH": str(LAB)}, capture_output=True, text=True)
    *_, statuses = [line for line in done.stdout.splitlines() if line.startswith("[0")]
    assert set(eval(statuses)) == {0, 2} and not HEAVY & set(done.stdout.splitlines()), done.stderr


@pytest.mark.fast
def test_all_help_fits_80_columns_and_names_every_option_and_argument(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for command in described():
        assert command_line.main([*command["name"].split()[1:], "--help"]) == 0
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= 80 and "\x1b" not in out
        for option in command["options"]:
            names = ", ".join(option["names"])
            assert f"{names} {option['value']}".strip() in out or f"{names}[={option['value']}]" in out  # which may be left out
            assert option["help"].split()[0][0].isupper() and not option["help"].endswith("."), option
        assert all(argument["name"] in out for argument in command["arguments"])


@pytest.mark.fast
@pytest.mark.parametrize(
    "words, sentence",
    [
        ("compar a b", '\'compar\' is no command of slabmark. Did you mean "compare"?'),
        ("track reprt x", '\'reprt\' is no command of slabmark track. Did you mean "report"?'),
        ("track", "ACTION is missing. See 'slabmark track --help'."),
        ("compare a", "NEW is missing. See 'slabmark compare --help'."),
        ("compare a b c", "'c' is not expected. See 'slabmark compare --help'."),
        ("compare --toleranc 1 a b", '\'--toleranc\' is not an option of slabmark compare. Did you mean "--tolerance"?'),
        ("compare --tol 1 a b", '\'--tol\' is not an option of slabmark compare. Did you mean "--tolerance"?'),
        ("compare -z a b", "'-z' is not an option of slabmark compare. See 'slabmark compare --help'."),
        ("compare --tolerance 1_0 a b", '--tolerance is "1_0"; give a number from 0 to 10.'),
        ("compare --tolerance inf a b", '--tolerance is "inf"; give a number from 0 to 10.'),
        ("compare --tolerance -1 a b", '--tolerance is "-1"; give a number from 0 to 10.'),
        ("compare --per-cell=yes a b", "--per-cell has no value; leave out 'yes'."),
        ("compare --junit --per-cell a b", "--junit is given without a value; give it one, or leave it out."),
        ("compare a b --junit", "--junit is given without a value; give it one, or leave it out."),
        ("compare --fail-on slower,mising a b", '--fail-on is "mising". Did you mean "missing"?'),
        ("advise x -n 1.5 --pio", '-n/--ranks is "1.5"; give a whole number from 1 to 16777216.'),
        ("advise x --type flaot64 --pio", '--type is "flaot64". Did you mean "float64"?'),
        ("track query x --since 31.1.2026", '--since is "31.1.2026"; give a day such as 2026-01-31.'),
        ("track prune x", "--before is missing. See 'slabmark track prune --help'."),
        ("sweep x --job slrum", '--job is "slrum". Did you mean "slurm"?'),
        ("apply --env 1=2 -- true", '--env is "1=2"; give a variable such as NAME=VALUE.'),
        ("apply --with x -- true", "--with is \"x\": 'x' is none of pnetcdf, canonical, log, nothing."),
        ("apply --check", "COMMAND is missing. See 'slabmark apply --help'."),
    ],
)
def test_wrong_usage_is_one_sentence_with_a_remedy(capsys, words, sentence):
    assert command_line.main(words.split()) == 2
    assert capsys.readouterr().err == f"slabmark: error: {sentence}\n"


@pytest.mark.parametrize(
    "words, hint",
    [
        ("advise x --pio --map 1", "slabmark advise: --map is now --map-index."),
        ("advise x --launch mpiexec -ofolder", "slabmark advise: -o is now -d."),
        ("advise x --launch mpiexec --time=9", "slabmark advise: --time is now --time-limit."),
        ("decomp show x --map 1", "slabmark decomp show: --map is now --map-index."),
        ("report x --png a --png b", "slabmark report: --png is now --png-dir."),
        ("report x --csv=a", "slabmark report: --csv is now --csv-dir."),
        ("capture --levels posix,odd --show", "slabmark capture: --levels is now --intercept."),
        ("capture --files x --posix off --show", "slabmark capture: --files is now --only-files."),
        ("apply --files x -- true", "slabmark apply: --files is now --check-dir."),
        ("compare x y --json", "slabmark compare: --json is now --json -."),
        ("compare x --json --per-cell y", "slabmark compare: --json is now --json -."),
        ("doctor -o absent", "slabmark doctor: -o is now -d."),
    ],
)
def test_a_retired_name_works_and_says_so_once(capsys, tmp_path, monkeypatch, words, hint):
    monkeypatch.chdir(tmp_path)
    assert command_line.main(words.split()) == 2
    told, error = capsys.readouterr().err.splitlines()
    assert told == hint and " is not an option " not in error and "missing" not in error


def test_words_of_a_command_are_its_own(capfd):
    for words in (["--", "echo", "--report", "-h", "--", "a"], ["echo", "--report", "-h", "--", "a"]):
        script = f"from slabmark.command_line import main; main(['apply', '--with=nothing', *{words!r}])"
        subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": str(LAB)}, check=True)
        assert capfd.readouterr().out == "--report -h -- a\n"


def test_json_is_printed_or_appended_a_line_each(tmp_path, capsys):
    path = write_records(tmp_path / "r.jsonl", [record([1.0] * 6)])
    assert command_line.main(["compare", str(path), str(path), "--json", "-"]) == 0
    printed = capsys.readouterr().out
    appended = tmp_path / "all.jsonl"
    for _ in range(2):
        assert command_line.main(["compare", str(path), str(path), "--json", str(appended)]) == 0
        assert "Verdicts" in capsys.readouterr().out
    assert appended.read_text() == printed * 2 and json.loads(printed)["cells"]
    (tmp_path / "mine").write_text("mine")
    for other in (path, tmp_path / "mine", tmp_path / "absent/x"):
        before = other.read_bytes() if other.exists() else None
        assert command_line.main(["compare", str(path), str(path), "--json", str(other)]) == 2
        assert before == (other.read_bytes() if other.exists() else None)
