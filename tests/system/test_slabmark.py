"""The command slabmark: it starts its verbs, wherever it was installed, linked or launched from."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.fast
BIN = pathlib.Path(os.environ["SLABMARK_BIN"])
EARLIER = {"slabmark-bench": "bench", "slabmark-blob": "blob", "slabmark-decomp": "decomp", "slabmark-pattern": "pattern",
           "slabmark-probe": "probe", "slablog-canonical": "log canonical", "slablog-info": "log info", "slablog-repair": "log repair"}


@pytest.fixture
def prefix(tmp_path):
    """A prefix with the command and stand-ins for a verb and for the lab, which print what they get."""
    for folder in ("bin", "libexec/slabmark", "share/man/man1"):
        (tmp_path / "first" / folder).mkdir(parents=True)
    shutil.copy(BIN / "slabmark", tmp_path / "first/bin")
    for name, text in {"bench": 'echo "$0" "$@"; echo $$', "lab": 'echo lab "$@"; echo "$SLABMARK_BIN:$SLABMARK_BEFORE_PYTHONPATH:$PYTHONIOENCODING"'}.items():
        script = tmp_path / "first/libexec/slabmark" / name
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
    return (tmp_path / "first").rename(tmp_path / "moved")


def started(command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=20, **more)


def test_a_verb_is_started_in_place_of_the_command_from_a_moved_prefix_and_through_links(prefix, tmp_path):
    (tmp_path / "link").symlink_to(prefix / "bin/slabmark")
    for way in (prefix / "bin/slabmark", tmp_path / "link"):
        process = subprocess.Popen([way, "bench", "decomp", "a b"], stdout=subprocess.PIPE, text=True)
        out, _ = process.communicate(timeout=20)
        assert out.splitlines() == [f"{prefix}/libexec/slabmark/bench decomp a b", str(process.pid)]


def test_the_lab_finds_its_programs_and_what_was_in_the_environment(prefix):
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": "/mine", "PYTHONIOENCODING": "junk"}
    for words in (["report", "r.jsonl"], ["decomp", "show", "map.nc"]):
        done = started([prefix / "bin/slabmark", *words], env=environment)
        assert done.stdout.splitlines() == ["lab " + " ".join(words), f"{prefix}/bin:/mine:"]


@pytest.mark.parametrize("words, said", [
    ([], "A verb is missing"),
    (["benhc"], "There is no verb 'benhc'; did you mean 'bench'?"),
    (["forecast"], "There is no verb 'forecast'; 'slabmark --help' lists all."),
    (["--nothing"], "There is no option '--nothing'"),
    (["e3sm_io"], "'e3sm_io' is a program of its own"),
    (["help", "bensh"], "There is no manual page on 'bensh'; did you mean 'bench'?"),
    (["line\nbreak"], "There is no verb 'line\\nbreak'"),
    (["probe"], "libexec/slabmark/probe' cannot be started"),
])
def test_what_cannot_be_started_is_one_sentence_and_status_2(prefix, words, said):
    done = started([prefix / "bin/slabmark", *words])
    assert (done.returncode, done.stdout) == (2, "") and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("slabmark: error: ") and said in done.stderr


def test_a_lab_that_is_not_there_is_told_or_taken_from_the_path(prefix, tmp_path):
    (prefix / "libexec/slabmark/lab").rename(tmp_path / "slabmark-lab")
    done = started([prefix / "bin/slabmark", "report"])
    assert done.returncode == 2 and "belongs to the lab" in done.stderr
    done = started([prefix / "bin/slabmark", "report"], env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.stdout.startswith("lab report\n")


def test_the_lab_is_not_started_in_a_folder_that_was_removed(prefix, tmp_path):
    (tmp_path / "gone").mkdir()
    done = started(["sh", "-c", f"cd {tmp_path}/gone && rmdir ../gone && exec {prefix}/bin/slabmark report"])
    assert done.returncode == 2 and "has been removed" in done.stderr and len(done.stderr.splitlines()) == 1


def test_help_opens_the_manual_page_or_prints_the_help(prefix, tmp_path):
    assert started([prefix / "bin/slabmark", "help", "bench", "decomp"]).stdout.startswith(f"{prefix}/libexec/slabmark/bench decomp --help\n")
    (prefix / "share/man/man1/slabmark-bench.1").touch()
    (tmp_path / "man").write_text('#!/bin/sh\necho man "$1"\n')
    (tmp_path / "man").chmod(0o755)
    done = started([prefix / "bin/slabmark", "help", "bench"], env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    page, = done.stdout.split()[1:]
    assert os.path.samefile(page, prefix / "share/man/man1/slabmark-bench.1")


def test_an_earlier_name_says_once_what_to_type_and_does_the_same(run):
    assert {path.name for path in BIN.iterdir() if path.is_symlink() and os.readlink(path) == "slabmark"} == EARLIER.keys()
    for name, now in EARLIER.items():
        done, same = run(name, ["--help"]), run(f"slabmark {now}", ["--help"])
        assert done.returncode == 0 and done.stdout == same.stdout
        assert done.stderr == f"slabmark: '{name}' is now 'slabmark {now}'; the old name goes with the next release.\n"
    done = run("slabmark-bench", ["methods"], ranks=2)
    assert done.stderr.count("is now 'slabmark bench'") == 1 and done.returncode == 0


def test_ranks_print_help_versions_and_errors_once(run):
    assert run("slabmark", ["--help"], ranks=2).stdout.count("Usage: slabmark") == 1
    assert run("slabmark", ["--version"], ranks=2).stdout.startswith("slabmark ")
    assert run("slabmark", ["benhc"], ranks=2).stderr.count("slabmark: error: ") == 1


def test_the_overview_has_each_verb_and_program_and_fits_a_terminal(run):
    text = run("slabmark", ["--help"]).stdout
    assert max(map(len, text.splitlines())) <= 80
    described = json.loads(run("slabmark", ["--describe-options"]).stdout)
    for each in described["commands"]:
        assert each["name"] == "slabmark help" or f"  {each['name'].removeprefix('slabmark ')} " in text
    programs = pathlib.Path(__file__).resolve().parents[2] / "src/programs"
    for folder in programs.iterdir():
        assert not folder.is_dir() or folder.name == "slabmark" or f"\n  {folder.name} " in text


def test_the_command_needs_none_of_the_libraries_of_its_verbs():
    libraries = subprocess.run(["ldd", BIN / "slabmark"], capture_output=True, text=True, check=True).stdout
    assert not [name for name in ("mpi", "hdf5", "pnetcdf", "fmt", "python") if name in libraries.lower()]
