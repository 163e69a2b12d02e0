"""slabmark sweep: studies, interruption, failures, job scripts."""

import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import LAB, record
from slabmark import command_line, records, study
from slabmark.errors import InputError

# Starts a program directly: the lab does not care how ranks come to life.
DIRECTLY = """sh -c 'exec "$@"' {ranks} {command}"""

STUDY = f"""
[study]
name = "s"
launches = 3
trials = 2
[launch]
template = {json.dumps(DIRECTLY)}
[[pattern]]
name = "f"
command = "decomp"
options = {{ map = "f.nc", variables = [1, 2] }}
[axes]
ranks = [1, 2]
method = ["pnetcdf-varn", "hdf5-union"]
[axes.options]
"hdf5.collective" = [true, "default"]
"""

# A method that has no option beside one that works.
LAME = STUDY.replace('"hdf5-union"', '"broken"').replace('"hdf5.collective" = [true, "default"]', "")

# Stands for slabmark bench: a record after a moment; what it is told to do wrong is in its method's name.
FAKE = f"""#!{sys.executable}
import json, os, sys, time, uuid
if "methods" in sys.argv:
    own = {{"pnetcdf-varn": ["pnetcdf.blocking"], "hdf5-union": ["hdf5.collective"], "hdf5-log": ["hdf5.log_view"], "broken": [], "hanging": []}}
    print(json.dumps({{"methods": [{{"name": m, "options": [{{"name": n}} for n in own[m]]}} for m in own]}}))
    sys.exit()
argument = lambda name: sys.argv[sys.argv.index(name) + 1]
if not os.path.isdir(argument("--output-dir")):
    sys.exit("rank 0: error: There is no folder.")
time.sleep(float(os.environ.get("FAKE_SECONDS", "0.02")))
if argument("--method") == "broken":
    print("rank 3: error: The disk of node7 is full.", file=sys.stderr)
    sys.exit(1)
if argument("--method") == "hanging":
    time.sleep(1000)
made = json.loads({json.dumps(json.dumps(record([1.0, 2.0])))})
made["method"], made["token"] = argument("--method"), uuid.uuid4().hex
made["pattern"]["settings"]["variables"] = argument("--variables")
for method in ("", "posix"):
    if method:
        made["pattern"]["name"], made["method"] = "bound", method
    with open(argument("--json"), "a") as file:
        file.write(json.dumps(made) + "\\n")
    while not os.path.exists(os.environ.get("FAKE_GATE", "/")):
        time.sleep(0.01)
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Puts a stand-in for slabmark bench first, and returns the folder for studies."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "slabmark"
    program.write_text(FAKE)
    program.chmod(0o755)
    monkeypatch.setenv("SLABMARK_BIN", str(folder))
    return tmp_path


def write_study(folder, text=STUDY):
    path = folder / "s.toml"
    path.write_text(text)
    return path


def sweep(path, *more):
    return command_line.main(["sweep", str(path), *more])


def lines(folder):
    return [json.loads(line) for line in (folder / "s-results" / "records.jsonl").read_text().splitlines()]


def test_options_of_other_methods_make_no_cells(fake):
    plan = study.read(write_study(fake))
    # 2 variables x 2 ranks x (pnetcdf, hdf5 collective, hdf5 by default)
    assert len(plan.cells) == 12
    assert len({cell.id for cell in plan.cells}) == 12
    flags = {tuple(cell.arguments) for cell in plan.cells if "pnetcdf-varn" in cell.arguments}
    assert not any("hdf5.collective=on" in words for words in flags)
    plan = study.read(write_study(fake, STUDY.replace("pnetcdf-varn", "hdf5-log")))  # of the same library
    assert len(plan.cells) == 12


def test_every_round_has_each_cell_once_in_an_order_of_its_own(fake):
    plan = study.read(write_study(fake))
    order = [(cell.id, launch) for cell, launch in plan.plan()]
    rounds = [[cell for cell, launch in order if launch == number] for number in range(3)]
    assert all(sorted(members) == sorted(rounds[0]) for members in rounds)
    assert rounds[0] != rounds[1] != rounds[2]
    assert order == [(cell.id, launch) for cell, launch in study.read(write_study(fake)).plan()]


@pytest.mark.parametrize(
    "wrong, culprit",
    [
        (STUDY.replace("launches", "lanches"), 'Did you mean "launches"'),
        (STUDY.replace("[axes]", "[axis]").replace("axes.options", "axis.options"), 'Did you mean "axes"'),
        (STUDY.replace("launches = 3", "launches = 0"), "'launches' of [study]: it should be greater than or equal to 1"),
        (STUDY.replace("launches = 3", 'launches = "3"'), "'launches' of [study]: it should be a valid integer"),
        (STUDY.replace("ranks = [1, 2]", "ranks = [1, 0]"), "'ranks.2' of [axes]: it should be greater than or equal to 1"),
        (STUDY.replace("ranks = [1, 2]", "ranks = []"), "at least 1 item"),
        (STUDY.replace("{command}", "{comand}"), "{comand}"),
        (STUDY.replace(" {ranks} {command}", " {command}"), "lacks {ranks}"),
        (STUDY.replace("template =", "#"), "how ranks are started"),
        (STUDY.replace('method = ["pnetcdf-varn", "hdf5-union"]', ""), "lacks 'method'"),
        (STUDY.replace("[[pattern]]", "[nothing]"), "'nothing'"),
        (STUDY.replace("hdf5.collective", "hdf5.colective"), 'Did you mean "hdf5.collective"'),
        (STUDY.replace("pnetcdf-varn", "pnetcdf-vran"), 'Did you mean "pnetcdf-varn"'),
        (STUDY.replace('name = "f"', "name = 1"), "'1.name' of [pattern]"),
        ("[study", "not TOML"),
    ],
)
def test_a_wrong_study_is_one_sentence_that_names_the_culprit(fake, wrong, culprit):
    with pytest.raises(InputError) as error:
        study.read(write_study(fake, wrong))
    assert culprit in str(error.value) and "s.toml" in str(error.value)


@pytest.mark.long
def test_a_sweep_killed_again_and_again_loses_nothing_and_repeats_nothing(fake):
    path = write_study(fake)
    command = [sys.executable, "-m", "slabmark", "sweep", str(path)]
    environment = os.environ | {"PYTHONPATH": str(LAB)}
    generator = random.Random(4)
    tokens, kills = set(), 0
    file = fake / "s-results" / "records.jsonl"
    for _ in range(6):
        before = file.stat().st_size if file.exists() else 0
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        last = time.monotonic() + 60
        while process.poll() is None and (not file.exists() or file.stat().st_size <= before):
            assert time.monotonic() < last, "nothing is recorded"
            time.sleep(0.01)
        time.sleep(generator.random() * 0.2)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
        whole = file.read_bytes().rpartition(b"\n")[0].decode().splitlines()
        now = {json.loads(line)["token"] for line in whole}
        assert tokens <= now, "what was recorded stays recorded"
        tokens = now
    assert kills >= 2 and tokens
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    found = [(made["study"]["cell_id"], made["study"]["launch"], made["pattern"]["name"]) for made in lines(fake)]
    assert len(found) == len(set(found)) == 12 * 3 * 2
    assert tokens <= {made["token"] for made in lines(fake)}
    assert list((fake / "s-results" / "launches").iterdir()) == []


@pytest.mark.long
def test_a_launch_cut_off_while_it_was_recorded_runs_again(fake):
    path = write_study(fake)
    assert sweep(path) == 0
    file = fake / "s-results" / "records.jsonl"
    whole = file.read_bytes()
    for lost in (10, len(whole.splitlines()[-1]) + 1):  # in the middle of a line; between two records of one launch
        file.write_bytes(whole[:-lost])
        assert sweep(path) == 0
        assert len(lines(fake)) == 72


@pytest.mark.long
def test_records_that_others_appended_stay(fake):
    path = write_study(fake)
    assert sweep(path) == 0
    file = fake / "s-results" / "records.jsonl"
    with open(file, "a") as more:
        more.write(json.dumps(record([5.0])) + "\n")
    assert sweep(path) == 0
    assert len(lines(fake)) == 73


def test_what_others_left_unterminated_stays(fake):
    text = STUDY.replace("[1, 2]", "[1]")
    assert sweep(write_study(fake, text.replace("launches = 3", "launches = 1"))) == 0
    file = fake / "s-results" / "records.jsonl"
    for launches, foreign in enumerate((json.dumps(record([5.0])), "a note of mine"), start=2):
        with open(file, "a") as more:
            more.write(foreign)
        whole = file.read_text()
        path = write_study(fake, text.replace("launches = 3", f"launches = {launches}"))
        assert sweep(path) == 0
        assert file.read_text().startswith(whole + "\n{")


def test_retry_forgets_the_failures_of_this_study_only(fake):
    path = write_study(fake, LAME.replace("[1, 2]", "[1]"))
    assert sweep(path) == 1
    file = fake / "s-results" / "failures.jsonl"
    foreign = file.read_bytes().splitlines()[0].replace(b'"cell_id":"', b'"cell_id":"x') + b"\nmine\n"
    file.write_bytes(foreign + file.read_bytes())
    assert sweep(path, "--retry") == 1
    assert file.read_bytes().startswith(foreign) and file.read_bytes().count(b"\n") == 2 + 3


@pytest.mark.parametrize("scheduler", ["slurm", "pbs", "flux"])
@pytest.mark.parametrize("place", ["study", "pattern", "hint", "folder", "folder on one line"])
def test_no_name_in_a_job_script_is_run_as_a_command(fake, capsys, scheduler, place):
    evil = "x\ntouch owned\n#$(touch owned)`touch owned`;touch owned"
    quoted = json.dumps(evil)
    text = {
        "study": STUDY.replace('name = "s"', f"name = {quoted}"),
        "pattern": STUDY.replace('name = "f"', f"name = {quoted}"),
        "hint": STUDY + f"[axes.hints]\ncb = {quoted}\n",
    }.get(place, STUDY)
    folder = fake / {"folder": evil, "folder on one line": evil.replace("\n", ";")}.get(place, "plain")
    folder.mkdir(parents=True)
    path = folder / "s.toml"
    path.write_text(text.replace("launches = 3", "launches = 1").replace("[1, 2]", "[1]"))
    status = sweep(path, "--job", scheduler)
    assert status == (2 if place in ("study", "folder") else 0), capsys.readouterr()
    for script in fake.rglob("job.sh"):
        subprocess.run(["bash", str(script)], check=True, cwd=fake)
        assert all(line.startswith(("#", "launch ")) for line in script.read_text().splitlines() if "f, " in line)
    assert not list(fake.rglob("owned"))


@pytest.mark.long
def test_the_collect_line_works_as_it_is_printed(fake, capsys):
    path = write_study(fake, STUDY + '[job]\npreamble = ["export FAKE_SECONDS=0.01", "export OTHER=1"]\n')
    assert sweep(path, "--job", "slurm", "-r", str(fake / "night 01")) == 0
    line = shlex.split(capsys.readouterr().out.partition("Afterwards:")[2])
    assert line[0] == "slabmark"
    assert command_line.main(line[1:]) == 1 and "36 launches not ended yet" in capsys.readouterr().out
    script = fake / "night 01" / "job.sh"
    assert shlex.join(line) in script.read_text() and "FAKE_SECONDS=0.01\nexport OTHER=1\n" in script.read_text()
    subprocess.run(["bash", str(script)], check=True)
    assert command_line.main(line[1:]) == 0 and "36 of 36" in capsys.readouterr().out


def test_to_collect_while_a_job_runs_takes_only_what_has_ended(fake, capsys):
    path = write_study(fake, STUDY.replace("launches = 3", "launches = 1").replace("[1, 2]", "[1]"))
    assert sweep(path, "--job", "slurm") == 0
    folder, gate = fake / "s-results", fake / "gate"
    job = subprocess.Popen(["bash", str(folder / "job.sh")], env=os.environ | {"FAKE_GATE": str(gate)})
    last = time.monotonic() + 60
    while not any(file.stat().st_size for file in folder.glob("launches/*.jsonl")):
        assert job.poll() is None and time.monotonic() < last
        time.sleep(0.01)
    assert sweep(path, "--collect") == 1 and "3 launches not ended yet" in capsys.readouterr().out
    assert not (folder / "records.jsonl").exists() and sorted(p.suffix for p in folder.glob("launches/*")) == [".jsonl", ".log"]
    gate.touch()
    assert job.wait() == 0
    assert sweep(path, "--collect") == 0 and len(lines(fake)) == 3 * 2


def test_results_of_one_name_measure_in_folders_of_their_own_and_may_be_moved(fake):
    path = write_study(fake)
    first, second = (study.read(path, fake / place / "r") for place in ("one", "two"))
    assert first.scratch != second.scratch and str(second.scratch) in second.cells[0].arguments
    assert [cell.id for cell in first.cells] == [cell.id for cell in second.cells]


def test_what_is_printed_to_be_typed_is_quoted_and_the_programs_may_be_named_from_here(fake, capsys, monkeypatch):
    monkeypatch.chdir(fake)
    monkeypatch.setenv("SLABMARK_BIN", "bin")  # launches are started in the folder of the study
    (fake / "elsewhere").mkdir()
    text = LAME.replace("launches = 3", "launches = 1").replace("[1, 2]", "[1]")
    path = write_study(fake / "elsewhere", text + "[axes.hints]\nh = \"a b\"\n")
    assert sweep(path, "-r", str(fake / "a b")) == 1
    line = capsys.readouterr().out.partition("Next: ")[2]
    assert shlex.split(line) == ["slabmark", "report", str(fake / "a b"), "-o", "report.html"]
    [failure] = records.read([fake / "a b"]).failures
    assert failure.reason == "The disk of node7 is full." and "h=a b" in shlex.split(failure.command)
    assert sweep(path, "--dry-run") == 0 and "'h=a b'" in capsys.readouterr().out


def test_an_output_that_cannot_be_made_leaves_nothing(fake, capsys):
    (fake / "file").touch()
    assert sweep(write_study(fake, STUDY.replace("[launch]", 'output = "file"\n[launch]'))) == 2
    assert not (fake / "s-results").exists()


@pytest.mark.parametrize("more", [["--collect", "--retry"], ["--job", "slurm", "--collect"], ["--dry-run", "--job", "nosuch"]])
def test_what_contradicts_itself_is_refused_and_touches_nothing(fake, capsys, more):
    path = write_study(fake)
    (fake / "s-results").mkdir()
    (fake / "s-results" / "failures.jsonl").write_text("mine\n")
    assert sweep(path, *more) == 2 and "--" in capsys.readouterr().err
    assert [p.name for p in (fake / "s-results").iterdir()] == ["failures.jsonl"]


def test_to_collect_where_nothing_was_launched_leaves_nothing(fake, capsys):
    assert sweep(write_study(fake), "--collect") == 2 and "no folder of results" in capsys.readouterr().err
    assert not (fake / "s-results").exists()


@pytest.mark.parametrize("scheduler", ["slurm", "pbs", "flux"])
def test_directives_are_one_word_each_and_a_short_timeout_is_one(fake, scheduler):
    text = STUDY.replace('name = "s"', 'name = "my study"\ntimeout = 0.25') + '[job]\naccount = "a # b"\n'
    assert sweep(write_study(fake, text), "--job", scheduler, "-r", str(fake / "a b")) == 0
    script = (fake / "a b" / "job.sh").read_text()
    words = shlex.split(script.partition("#\n")[0], comments=False)
    assert {"slurm": "--job-name=my study", "pbs": "my study", "flux": "--job-name=my study"}[scheduler] in words
    assert any(word.endswith(f"{fake}/a b/job.log") for word in words) and any(word.endswith("a # b") for word in words)
    assert "--kill-after=30 0.25 " in script


def test_a_job_script_of_somebody_else_stays(fake, capsys):
    (fake / "s-results").mkdir()
    (fake / "s-results" / "job.sh").write_text("mine")
    assert sweep(write_study(fake), "--job", "pbs") == 2
    assert (fake / "s-results" / "job.sh").read_text() == "mine"


@pytest.mark.long
def test_a_failed_cell_is_kept_with_its_reason_and_stops_nothing(fake, capsys):
    path = write_study(fake, LAME)
    assert sweep(path) == 1
    assert len(lines(fake)) == 4 * 3 * 2
    found = records.read([fake / "s-results"])
    assert len(found.failures) == 4 * 3
    assert {failure.reason for failure in found.failures} == {"The disk of node7 is full."}
    assert "12 failed" in capsys.readouterr().out
    assert sweep(path) == 1, "they are not tried again by themselves"
    assert len(records.read([fake / "s-results"]).failures) == 12


@pytest.mark.long
def test_a_launch_that_hangs_is_ended_and_the_rest_goes_on(fake):
    text = (
        LAME.replace('"broken"', '"hanging"')
        .replace("launches = 3", "launches = 1\ntimeout = 3")
        .replace("[1, 2]", "[1]")
    )
    assert sweep(write_study(fake, text)) == 1
    found = records.read([fake / "s-results"])
    assert len(found.records) == 2 and "still running after" in found.failures[0].reason


@pytest.mark.long
def test_each_launch_by_mpiexec_has_a_tmpdir_of_its_own_which_goes_with_it(fake, monkeypatch):
    """Open MPI's launchers share a folder in it, and of several that start at once some fail."""
    launcher = fake / "mpiexec"
    launcher.write_text(f"""#!/bin/sh\necho "$TMPDIR" >>{fake}/seen\n[ -d "$TMPDIR" ] || exit 1\nshift 2\nexec "$@"\n""")
    launcher.chmod(0o755)
    text = STUDY.replace(json.dumps(DIRECTLY), json.dumps(f"{launcher} -n {{ranks}} {{command}}"))
    monkeypatch.setenv("TMPDIR", str(fake))
    assert sweep(write_study(fake, text)) == 0
    seen = (fake / "seen").read_text().splitlines()
    assert len(seen) == len(set(seen)) == 12 * 3
    assert not [name for name in seen if os.path.exists(name)]


def test_a_second_sweep_on_the_same_results_is_refused(fake, monkeypatch):
    from slabmark import results

    monkeypatch.setattr(results, "SECONDS_TO_WAIT_FOR_LOCK", 0.2)
    plan = study.read(write_study(fake))
    first = results.Results(plan).open()
    with pytest.raises(InputError, match="Another sweep"):
        results.Results(plan).open()
    first.close()


@pytest.mark.long
@pytest.mark.parametrize(
    "scheduler, directive",
    [("slurm", "#SBATCH --ntasks=2"), ("pbs", "#PBS -l select=1:ncpus=2"), ("flux", "#flux: --nslots=2")],
)
def test_a_job_script_runs_as_plain_shell_and_its_records_are_collected(fake, capsys, scheduler, directive):
    path = write_study(fake, STUDY + '[job]\ntime = "00:10:00"\npreamble = "export FAKE_SECONDS=0.01"\n')
    assert sweep(path, "--job", scheduler) == 0
    script = fake / "s-results" / "job.sh"
    text = script.read_text()
    assert directive in text and "00:10:00" in text and "launch " in text
    subprocess.run(["bash", str(script)], check=True)
    assert sweep(path, "--collect") == 0
    assert len(lines(fake)) == 72
    assert sweep(path, "--job", scheduler) == 0
    assert "nothing to submit" in capsys.readouterr().out


def test_an_unknown_scheduler_is_refused(fake, capsys):
    assert sweep(write_study(fake), "--job", "slrum") == 2
    assert 'Did you mean "slurm"?' in capsys.readouterr().err


@pytest.mark.long
def test_a_study_of_the_real_programs_is_measured(run, small_map, tmp_path):
    launcher = os.environ.get("SLABMARK_MPIEXEC", "mpiexec")
    path = tmp_path / "s.toml"
    path.write_text(f"""
        [study]
        launches = 2
        trials = 2
        [launch]
        template = "{launcher} -n {{ranks}} {{command}}"
        [[pattern]]
        command = "decomp"
        options = {{ map = "{small_map.name}" }}
        [axes]
        ranks = 2
        method = ["posix", "mpiio-collective"]
        [axes.environment]
        HDF5_NOTHING = ["default", "set"]
        """)
    done = run("slabmark", ["sweep", path], timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    made = lines(tmp_path)
    assert len(made) == 2 * 2 * 2 * 3
    assert {m["manifest"]["environment"].get("HDF5_NOTHING") for m in made} == {None, "set"}
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([small_map.name, "s.toml", "s-results"])


needs_slurm = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("slurmctld", "slurmd", "sbatch", "munged")) or os.geteuid() != 0,
    reason="Slurm and munge are not installed here, or this is not root (Debian: slurm-wlm)",
)


@pytest.mark.long
@needs_slurm
def test_a_job_script_runs_under_a_real_slurm(fake, slurm):
    template = "srun -n {ranks} {command}"
    text = (
        STUDY.replace(json.dumps(DIRECTLY), json.dumps(template))
        .replace("launches = 3", "launches = 1")
        .replace("ranks = [1, 2]", "ranks = 1")
    )
    text = text.replace('name = "s"', 'name = "my study"')
    path, results = write_study(fake, text + '[job]\nqueue = "test"\ntime = "00:05:00"\n'), fake / "a 'b # c"
    assert sweep(path, "--job", "slurm", "-r", str(results)) == 0
    done = slurm("sbatch", "--wait", results / "job.sh")
    assert done.returncode == 0, done.stderr
    assert (results / "job.log").exists(), "the directives were understood"
    assert sweep(path, "--collect", "-r", str(results)) == 0
    assert len((results / "records.jsonl").read_text().splitlines()) == 6 * 2
