"""slabmark doctor --fix-hints: lines for a job script, each tried."""

import copy
import os

import pytest
from slabmark import findings, fixes, programs
from test_doctor import HEALTHY, WRONG

MADE = {"hosts": [{"name": "n", "ranks": 2}], "environment": {}}


@pytest.fixture
def machine(monkeypatch):
    """sick(code, cure): a machine that has the finding `code` until cure(folder, template, ranks, variables) is true."""

    def sick(code, cure=lambda **given: False):
        wrong = HEALTHY | MADE | WRONG.get(code, {})
        state = copy.deepcopy(wrong["host"])

        def environment(folder, template="{command}", ranks=1, variables=None):
            healed = cure(folder=folder, template=template, ranks=ranks, variables=variables or {})
            found = HEALTHY | MADE | {"ranks": ranks} if healed else wrong
            if healed:
                state.update(HEALTHY["host"])
            return found | {"ranks_per_node": {"max": ranks if healed else found["ranks_per_node"]["max"]}}

        monkeypatch.setattr(programs, "environment", environment)
        monkeypatch.setattr(programs, "host_state", lambda: state)
        return wrong

    return sick


def test_every_finding_of_the_doctor_has_a_line_and_no_line_is_without_a_finding():
    of_doctor = set(findings.REMEDIES) - {
        "not-verified", "collective-was-not", "setting-not-in-effect", "hint-was-needed", "program-may-lose-data", "ranks-disagree",
        "fill-written-twice", "chunk-mismatch", "tiny-requests", "far-from-limit", "unbalanced", "few-trials", "noisy",
        "launches-differ", "outliers", "page-cache", "warm-reads", "overhead", "order-matters", "clocks-disagree"}  # fmt: skip
    assert set(fixes.FIXES) == of_doctor >= set(WRONG)


def test_a_fix_that_cannot_be_tried_says_why(machine, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    [(line, how)] = fixes.of("dirty-pages", machine("dirty-pages"), ".")
    assert line == "sync" and "does NOT help: it failed" in how


def test_no_launcher_of_the_working_folder_is_run(machine, monkeypatch, tmp_path):
    (tmp_path / "mpiexec").write_text("#!/bin/sh\n")
    (tmp_path / "mpiexec").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ":.:relative")
    tried = []
    wrong = machine("foreign-launcher", lambda template, **rest: tried.append(template))
    fixes.of("foreign-launcher", wrong, ".", "srun -n {ranks} {command}", 2)
    assert all(os.path.isabs(template.split()[0]) for template in tried)


def test_a_line_that_helps_is_told_from_one_that_does_not(machine):
    wrong = machine("slow-mpi-io", lambda variables, **rest: variables == {"OMPI_MCA_io": "^ompio"})
    assert fixes.of("slow-mpi-io", wrong, ".", "mpiexec -n {ranks} {command}", 2) == [
        ("export OMPI_MCA_io=^ompio", "checked here: it helps")
    ]
    [(_, checked)] = fixes.of("slow-mpi-io", machine("slow-mpi-io"), ".", "mpiexec -n {ranks} {command}", 2)
    assert checked.startswith("checked here: it does NOT help: The MPI-IO in effect is Open MPI's OMPIO")


def test_another_folder_is_named_only_where_it_is_of_another_kind(machine, tmp_path, monkeypatch):
    for name in ("SCRATCH", "WORK", "PROJECT", "TMPDIR", "HOME"):
        monkeypatch.delenv(name, raising=False)
    wrong = machine("memory-file-system", lambda folder, **rest: folder == str(tmp_path))
    [(line, checked)] = fixes.of("memory-file-system", wrong, "/dev/shm")
    assert "FOLDER" in line and checked.startswith("not checked here: none of SCRATCH")
    monkeypatch.setenv("WORK", str(tmp_path))
    [(line, checked)] = fixes.of("memory-file-system", wrong, "/dev/shm")
    assert line.startswith('cd "$WORK"') and checked == "checked here: it helps"


def test_a_launcher_of_the_programs_own_mpi_is_looked_for(machine, tmp_path, monkeypatch):
    for name in ("mpiexec.mpich", "mpiexec.openmpi"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    wrong = machine("foreign-launcher", lambda template, **rest: template.startswith(str(tmp_path / "mpiexec.mpich")))
    assert fixes.of("foreign-launcher", wrong, ".", "srun -n {ranks} {command}", 2) == [
        (f"{tmp_path}/mpiexec.mpich -n {{ranks}} {{command}}", "checked here: it helps")
    ]
    [(_, checked)] = fixes.of("foreign-launcher", machine("foreign-launcher"), ".", "srun -n {ranks} {command}", 2)
    assert checked == "not checked here: no launcher was found here that works"


@pytest.mark.parametrize("code", ["busy-machine", "no-pnetcdf", "unoptimised-build", "one-stripe"])
def test_what_cannot_be_checked_says_why(machine, code):
    for line, checked in fixes.of(code, machine(code), "."):
        assert line and checked.startswith("not checked here: ") and len(checked) > 30


@pytest.mark.long
@pytest.mark.parametrize("folder", ["plain", "a=b"])
def test_the_lines_help_on_this_machine(run, tmp_path, tmp_path_factory, folder):
    """Each is run with the real programs and a launcher of any path: what the doctor then says is looked at."""
    own = tmp_path_factory.mktemp("launcher") / folder
    own.mkdir()
    (own / "mpiexec").write_text(f'#!/bin/sh\nexec {os.environ.get("SLABMARK_MPIEXEC", "mpiexec")} "$@"\n')
    (own / "mpiexec").chmod(0o755)
    launcher = f"{own}/mpiexec -n {{ranks}} {{command}}"
    environment = {name: value for name, value in os.environ.items() if name != "OMPI_MCA_io"} | {"HDF5_PLUGIN_PATH": "/nowhere"}
    ranks = (os.cpu_count() or 1) + 1
    done = run("slabmark", ["doctor", "--launch", launcher, "-n", ranks, "-d", tmp_path, "--fix-hints"], env=environment)
    assert done.returncode == 1, done.stderr
    said = {line.strip(): checked.strip() for line, checked in zip(done.stdout.splitlines(), done.stdout.splitlines()[1:])}
    for line in ("unset HDF5_PLUGIN_PATH", "export OMPI_MCA_io=^ompio"):
        if line in said or "OMPI" not in line:
            assert said[line] == "(checked here: it helps)", done.stdout
    [line] = [line for line in said if line.endswith(" ranks a node")]
    assert f" -n {ranks - 1} PROGRAM" in line and said[line] == "(checked here: it helps)", done.stdout
    assert list(tmp_path.iterdir()) == []
