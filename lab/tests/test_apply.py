"""slabmark apply: what launchers are told, what is refused, and a program that has the drop-in through each of them."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from conftest import LAB
from slabmark import apply, launch
from slabmark.advise import answers, candidates, command, confirming, ending
from slabmark.commands.advise import COMMAND

VARIABLES = {"LD_PRELOAD": "/opt/lib/libx.so", "SLABMARK_REPORT": "1"}
OPEN_MPI = "-x LD_PRELOAD=/opt/lib/libx.so -x SLABMARK_REPORT=1"


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """fake(name, version, text): a program of that name in the PATH that says so; else it does what the text says."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def make(name, version="", text=""):
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ echo "{version}"; exit; }}\n{text}\n')
        path.chmod(0o755)
        return path

    return make


@pytest.mark.parametrize(
    "version, given, told",
    [
        ("mpiexec (OpenRTE) 4.1.4", "mpiexec -n 2 ./p a", f"mpiexec {OPEN_MPI} -n 2 ./p a"),
        ("mpirun (Open MPI) 5.0.3", "mpirun -n 1 ./p : -n 3 ./q", f"mpirun {OPEN_MPI} -n 1 ./p : {OPEN_MPI} -n 3 ./q"),
        (
            "HYDRA build details: Version 4.0.2",
            "mpiexec -n 1 ./p : -n 3 ./q",
            "mpiexec -genv LD_PRELOAD /opt/lib/libx.so -genv SLABMARK_REPORT 1 -n 1 ./p : -n 3 ./q",
        ),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2021.9",
            "mpiexec -n 1 ./p",
            "mpiexec -genv LD_PRELOAD /opt/lib/libx.so -genv SLABMARK_REPORT 1 -n 1 ./p",
        ),
        ("", "jsrun -n 2 ./p", "jsrun -E LD_PRELOAD=/opt/lib/libx.so -E SLABMARK_REPORT=1 -n 2 ./p"),
        ("", "flux run -n 2 ./p", "flux run --env=LD_PRELOAD=/opt/lib/libx.so --env=SLABMARK_REPORT=1 -n 2 ./p"),
        ("", "srun -n 2 ./p", "srun --export=ALL,LD_PRELOAD=/opt/lib/libx.so,SLABMARK_REPORT=1 -n 2 ./p"),
        ("", "srun --export HOME ./p", "srun --export HOME,LD_PRELOAD=/opt/lib/libx.so,SLABMARK_REPORT=1 ./p"),
        ("", "srun --export=HOME -n 2 ./p", "srun --export=HOME,LD_PRELOAD=/opt/lib/libx.so,SLABMARK_REPORT=1 -n 2 ./p"),
        ("", "srun --label --export NONE ./p", "srun --label --export LD_PRELOAD=/opt/lib/libx.so,SLABMARK_REPORT=1 ./p"),
        *(
            ("", f"srun {own} ./p --export=csv", f"srun --export=ALL,LD_PRELOAD=/opt/lib/libx.so,SLABMARK_REPORT=1 {own} ./p --export=csv")
            for own in ("-n 2", "-n2 --label", "--ntasks 2 -l", "--mem=1 -lu", "-ln 2 --pty", "--")
        ),
    ],
)
def test_a_launcher_is_told_in_its_own_words(fake, monkeypatch, version, given, told):
    monkeypatch.delenv("SLURM_EXPORT_ENV", raising=False)
    words = given.split()
    fake(words[0], version)
    assert launch.forward(words, VARIABLES) == (told.split(), {})


@pytest.mark.parametrize("given, told", [("ALL", "ALL,"), ("NONE", ""), ("HOME", "HOME,")])
def test_srun_is_only_told_the_names_of_values_that_it_would_split(monkeypatch, given, told):
    monkeypatch.setenv("SLURM_EXPORT_ENV", given)
    variables = {"OMPI_MCA_btl": "tcp,self", "A": "x"}
    expected = ["srun", f"--export={told}OMPI_MCA_btl,A=x", "-n", "2", "./p"]
    assert launch.forward(["srun", "-n", "2", "./p"], variables) == (expected, {"OMPI_MCA_btl": "tcp,self"})


@pytest.mark.parametrize("given", ["./p a", "mpiexec -n 2 ./p", "sh run.sh", "flux-like run ./p"])
def test_what_is_no_known_launcher_gets_it_in_its_environment(fake, given):
    fake("mpiexec", "a launcher that nobody knows")
    assert launch.forward(given.split(), VARIABLES) == (given.split(), VARIABLES)


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A folder of programs with a library beside it."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").mkdir()
    path = tmp_path / "lib" / apply.LIBRARY
    path.touch()
    monkeypatch.setenv("SLABMARK_BIN", str(tmp_path / "bin"))
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    monkeypatch.delenv("SLABMARK_DROPIN", raising=False)
    return path


@pytest.mark.parametrize("name", ["plain", "a=b"])
def test_variables_reach_a_program_of_any_path(tmp_path, name):
    program = tmp_path / name
    program.write_text('#!/bin/sh\necho "$GIVEN" "$1"\n')
    program.chmod(0o755)
    words = launch.fill("nice -n {ranks} {command}", [str(program), "first word"], 1, environment={"GIVEN": "its value"})
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "its value first word\n"


def test_what_is_preloaded_already_stays(library, monkeypatch):
    assert apply.settings() == {"LD_PRELOAD": str(library)}
    monkeypatch.setenv("LD_PRELOAD", "libother.so")
    assert apply.settings(report=True) == {"LD_PRELOAD": f"{library}:libother.so", "SLABMARK_REPORT": "1"}


def test_the_connector_of_hdf5_is_put_into_a_program_by_variables(library, monkeypatch):
    monkeypatch.delenv("HDF5_PLUGIN_PATH", raising=False)
    plugins = library.parents[1] / "plugins"
    plugins.mkdir()
    (plugins / apply.PLUGIN).touch()
    for layout in ("canonical", "log"):
        expected = {"HDF5_VOL_CONNECTOR": f"slablog under_vol=0;under_info={{}};layout={layout}", "HDF5_PLUGIN_PATH": str(plugins)}
        assert apply.settings(layout) == expected
    monkeypatch.setenv("HDF5_PLUGIN_PATH", "/filters")
    assert apply.settings("canonical")["HDF5_PLUGIN_PATH"] == f"{plugins}:/filters"
    assert apply.settings("nothing") == {}


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
@pytest.mark.parametrize(
    "text, flags, culprit",
    [
        ("PnetCDF library version 1.2.3", [], "libpnetcdf.a"),
        ("PnetCDF library version 1.2.3", ["-static"], "libpnetcdf.a"),
        ("PnetCDF library version 1.2.3 SLABMARK_DROPIN", [], "already"),
        ("nothing of it", [], None),
    ],
)
def test_a_program_with_a_static_pnetcdf_is_refused(library, sentence, tmp_path, text, flags, culprit):
    program = tmp_path / "model"
    source = f'#include <stdio.h>\nint main(void) {{ return puts("{text}") < 0; }}\n'
    subprocess.run(["cc", "-s", *flags, "-o", program, "-x", "c", "-"], input=source, text=True, check=True)
    done = subprocess.run([sys.executable, "-m", "slabmark", "apply", "--", "env", program], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(pathlib.Path(apply.__file__).parents[1])})
    if culprit:
        assert done.returncode == 2 and culprit in sentence(done, "slabmark") and not done.stdout
    else:
        assert (done.returncode, done.stdout) == (0, text + "\n"), done.stderr


@pytest.mark.parametrize(
    "arguments, settings, culprit",
    [
        ([], {}, "COMMAND is missing"),
        (["--"], {}, "COMMAND is missing"),
        (["--overlap=0", "--", "true"], {}, "--overlap is"),
        (["--overlap", "--overlap-memory", "much", "--", "true"], {}, "--overlap-memory is"),
        (["--overlap-memory", "1G", "--", "true"], {}, "add --overlap"),
        (["--overlap", "--with", "log", "--", "true"], {}, "leave out --overlap"),
        (["--", "./absent"], {}, "'./absent'"),
        (["--", "true"], {"SLABMARK_DROPIN": "off"}, "SLABMARK_DROPIN=off"),
        (["--with", "canonical", "--report", "--", "true"], {}, "--report"),
        (["--env", "SLABMARK_DROPIN=off", "--", "true"], {}, "SLABMARK_DROPIN=off"),
        (["--with", "log", "--env", "HDF5_VOL_CONNECTOR=native", "--", "true"], {}, "HDF5_VOL_CONNECTOR itself"),
        (["--with", "canonical", "--", "true"], {"SLABMARK_BIN": "/absent/bin"}, apply.PLUGIN),
        (["--env", "MORE", "--", "true"], {}, '--env is "MORE"'),
        (["--", "true"], {"SLABMARK_BIN": "/absent/bin"}, apply.LIBRARY),
    ],
)
def test_what_cannot_work_is_one_sentence(run, sentence, arguments, settings, culprit):
    done = run("slabmark", ["apply", *arguments], env=os.environ | settings)
    assert done.returncode == 2 and culprit in sentence(done, "slabmark")


def test_a_command_that_cannot_be_started_is_one_sentence(run, sentence, fake, tmp_path):
    fake("model").write_text("#!/absent/interpreter\n")
    done = run("slabmark", ["apply", "--with", "nothing", "--", tmp_path / "model"])
    assert done.returncode == 2 and "/model' cannot be started: No such file or directory." in sentence(done, "slabmark")


def built_library():
    if os.environ.get("SLABMARK_SANITIZERS"):
        pytest.skip("the sanitizers must be the first library of a program")
    found = pathlib.Path(os.environ["SLABMARK_BIN"]).parent / "lib" / apply.LIBRARY
    if not found.exists():
        pytest.skip("this build has no drop-in")
    return found


def test_the_command_finds_its_environment_and_ends_as_it_would_alone(run):
    built_library()
    script = "echo $LD_PRELOAD; echo $SLABMARK_REPORT; echo ${MPLBACKEND-none}; echo ${PYTHONPATH-none}; kill -PIPE $$"
    clean = {name: value for name, value in os.environ.items() if name not in ("MPLBACKEND", "PYTHONPATH", "LD_PRELOAD")}
    done = run("slabmark", ["apply", "--report", "--", "sh", "-c", script], env=clean)
    assert done.returncode in (-13, 128 + 13), "killed by a signal that Python would have it ignore"
    assert done.stdout.split() == [str(built_library()), "1", "none", "none"], done.stderr
    assert run("slabmark", ["apply", "--", "sh", "-c", "exit 7"]).returncode == 7


def test_what_the_line_preloads_is_preloaded_beside_the_drop_in_and_plugins_beside_the_connector(run):
    library = built_library()
    clean = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "HDF5_PLUGIN_PATH")}
    words = ["--env", "LD_PRELOAD=libm.so.6", "--", "sh", "-c", "echo $LD_PRELOAD"]
    done = run("slabmark", ["apply", *words], env=clean)
    assert done.stdout.split() == [f"{library}:libm.so.6"], done.stderr
    words = ["--with", "canonical", "--env", "HDF5_PLUGIN_PATH=/filters", "--", "sh", "-c", "echo $HDF5_PLUGIN_PATH"]
    done = run("slabmark", ["apply", *words], env=clean)
    assert done.stdout.strip().endswith(":/filters") and not done.stdout.startswith("/filters"), done.stderr


@pytest.mark.long
@pytest.mark.parametrize("command", [["apply", "--with", "nothing", "--"], ["capture", "--"]])
def test_the_command_finds_the_variables_that_the_user_has_and_no_others_but_those_of_its_way(run, tmp_path, command):
    """As setup/lab and Python would have it otherwise: LC_CTYPE where there is no locale, SLABMARK_BIN, PYTHONPATH."""
    if command[0] == "capture" and os.environ.get("SLABMARK_SANITIZERS"):
        pytest.skip("the sanitizers must be the first library of a program")  # of env
    own = ("SLABMARK_CAPTURE", "LD_PRELOAD", "HDF5_")
    given = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONPATH": f"{LAB}:/other",
        "PYTHONIOENCODING": "junk",
        "MPLBACKEND": "junk",
        "SOURCE_DATE_EPOCH": "junk",
        "TWO": "lines\nof it",
    }
    done = run("slabmark", [*command, "env", "-0"], env=given, cwd=tmp_path)
    found = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if entry)
    changing = ("_", "PWD", "SHLVL", "OLDPWD", "TMPDIR")  # by the shells in between, and by the fixture
    more = {name for name in found if name not in given and not name.startswith(own) and name not in changing}
    assert not more and given.items() <= found.items(), (found, done.stderr)
    again = run("slabmark", [*command, "env", "-0"], env=given | {"SLABMARK_BIN": os.environ["SLABMARK_BIN"]}, cwd=tmp_path)
    assert f"SLABMARK_BIN={os.environ['SLABMARK_BIN']}\0" in again.stdout


@pytest.mark.parametrize("words, told", [(["--overlap"], "on "), (["--overlap=2", "--overlap-memory", "1G"], "2 1G")])
def test_overlap_may_have_a_number_behind_an_equals_sign_alone(run, words, told):
    done = run("slabmark", ["apply", *words, "--", "sh", "-c", 'echo "$SLABMARK_OVERLAP $SLABMARK_OVERLAP_MEMORY"'])
    assert done.stdout == told + "\n", done.stderr


def test_variables_of_the_line_reach_the_command_and_nothing_else_does_without_a_way(run):
    clean = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    script = "echo $A; echo ${LD_PRELOAD-none}; echo ${HDF5_VOL_CONNECTOR-none}"
    done = run("slabmark", ["apply", "--with", "nothing", "--env", "A=b=c d", "--", "sh", "-c", script], env=clean)
    assert done.stdout.splitlines() == ["b=c d", "none", "none"], done.stderr


@pytest.mark.parametrize("script", [False, True])
def test_a_program_under_the_launcher_has_the_drop_in(run, tmp_path, script):
    built_library()
    program = pathlib.Path(os.environ["SLABMARK_BIN"]) / "pnetcdf_cases"
    launcher = shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec"))
    line = [*launcher, "-n", "2", str(program), "later", str(tmp_path / "a.nc")]
    if script:
        (tmp_path / "job").write_text(f"#!/bin/sh\n{shlex.join(line)}\nexit 3\n")
        line = ["sh", str(tmp_path / "job")]
    done = run("slabmark", ["apply", "--report", "--", *line])
    assert done.returncode == (3 if script else 0), done.stderr
    assert re.search(r"slabmark: .*rearranged [1-9]", done.stderr) and done.stdout.startswith("3 pending\n"), done.stderr


def test_advice_that_a_plan_is_best_ends_in_the_line_that_applies_it(library):
    winner = candidates.Candidate(
        "pnetcdf-rearranged", options=(("pnetcdf.aggregators", "1"),), environment=(("OMPI_MCA_io", "^ompio"),)
    )
    unchanged = ending.unchanged_program(winner)
    assert unchanged.method == "pnetcdf-varn" and dict(unchanged.hints) == {"cb_nodes": "1"}
    assert dict(unchanged.environment) == {"OMPI_MCA_io": "^ompio", "LD_PRELOAD": str(library)}
    parts = ending.parts(winner, "mpiexec -n {ranks} {command}", 4)
    lines = parts["A program that uses PnetCDF, unchanged"]
    assert lines.startswith("slabmark apply -- mpiexec -n 4 ./program\n") and "cb_nodes=1" in lines and str(library) in lines
    assert parts["Environment"] == "export OMPI_MCA_io='^ompio'"
    for heading in ("In C", "In Fortran"):  # of a new program
        assert "slabmark_open_pnetcdf(system, path" in parts[heading] and "aggregators" in parts[heading]
    library.unlink()
    assert ending.unchanged_program(winner) is None
    assert "A program that uses PnetCDF, unchanged" not in ending.parts(winner, "mpiexec -n {ranks} {command}", 4)


@pytest.mark.long
def test_advice_confirms_the_gain_through_the_drop_in_itself(run, small_map, tmp_path):
    """The search is left out: what wins is not for a test to say."""
    built_library()
    launcher = os.environ.get("SLABMARK_MPIEXEC", "mpiexec") + " -n {ranks} {command}"
    arguments = command_line(small_map, launcher, tmp_path)
    bench = command.Bench(arguments, tmp_path)
    winner, today = candidates.Candidate("pnetcdf-rearranged"), candidates.Candidate("pnetcdf-vara")
    unchanged = ending.unchanged_program(winner)
    confirmed = confirming.confirm(bench, winner, today, unchanged)
    assert not confirmed.failed and len(confirmed.medians[unchanged]) == len(confirmed.medians[winner]) >= 4
    told = answers.in_unchanged_program(answers.Answer(winner, today, unchanged, confirmed, None))
    assert apply.LIBRARY in told and "as fast as pnetcdf-vara" in told
    with_it = [line for line in bench.lines if apply.LIBRARY.encode() in line]
    assert len(with_it) == len(confirmed.medians[unchanged]), "what it was measured with is in the records"
    failed = confirming.Confirmed({today: [], unchanged: []}, {unchanged: "It cannot."})
    assert "could not be confirmed: It cannot." in answers.in_unchanged_program(answers.Answer(winner, today, unchanged, failed, None))


def command_line(pattern, launcher, folder):
    return COMMAND.given([str(pattern), "--launch", launcher, "-n", "2", "--time-limit", "1", "-d", str(folder)])
