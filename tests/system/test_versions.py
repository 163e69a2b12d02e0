"""Every compiled program says which one it is."""

import os
import pathlib
import re

import pytest

PROGRAMS = sorted(path.name for path in (pathlib.Path(__file__).resolve().parents[2] / "src/programs").iterdir()
                  if path.is_dir() and path.name != "slabmark")
VERBS = {"bench", "blob", "convert", "decomp", "log", "pattern", "probe"}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_names_itself_its_revision_and_its_libraries(run, program):
    pnetcdf = "no PnetCDF" if os.environ.get("SLABMARK_WITH_PNETCDF") == "0" else r"PnetCDF \d+\.\d+\.\d+"
    path, name = (f"../libexec/slabmark/{program}", f"slabmark {program}") if program in VERBS else (program, program)
    done = run(path, ["--version"])
    assert (done.returncode, done.stderr) == (0, "")
    first, second, third = done.stdout.splitlines()
    assert re.fullmatch(rf"{name} of Slabmark \d+\.\d+\.\d+, revision \S+", first)
    assert re.fullmatch(rf".*MPI.* v?\d+\..*, HDF5 \d+\.\d+\.\d+, {pnetcdf}", second)
    assert re.fullmatch(r"built by \w+ \d+\.\S+, \w+, for .*MPI.* \d+\.\S+", third)


def test_several_ranks_print_it_once_and_do_nothing_else(run, tmp_path):
    done = run("e3sm_io", ["--version", "no such map"], ranks=2, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.count("e3sm_io of Slabmark") == 1
    assert not list(tmp_path.iterdir())


def test_the_help_names_the_option(run):
    assert "--version" in run("dat2nc", ["--help"]).stdout


def test_the_version_is_that_of_the_lab_and_of_the_newest_changes(run):
    top = pathlib.Path(__file__).resolve().parents[2]
    version = re.search(r'__version__ = "(.+)"', (top / "lab/slabmark/__init__.py").read_text())[1]
    assert run("dat2nc", ["--version"]).stdout.startswith(f"dat2nc of Slabmark {version}, ")
    assert re.search(r"\n## (\S+?),? ", (top / "CHANGELOG.md").read_text())[1] == version
