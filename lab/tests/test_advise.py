"""slabmark advise: the search on made-up seconds, the lines of C under a compiler, and the whole with real programs."""

import dataclasses
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import types

import h5py
import numpy
import pytest
from conftest import record
from slabmark import files, pattern, programs, records
from slabmark.advise import answers, bench, candidates, chunks_command, code, command, confirming, ending, halving
from slabmark.errors import LabError

LAUNCHER = os.environ.get("SLABMARK_MPIEXEC", "mpiexec") + " -n {ranks} {command}"

METHODS = """
    posix mpiio-independent mpiio-collective pnetcdf-vard pnetcdf-varn pnetcdf-vara
    hdf5-slab hdf5-union hdf5-points hdf5-multi hdf5-contiguous hdf5-subfiling hdf5-log
    mpiio-rearranged pnetcdf-rearranged hdf5-rearranged
""".split()
NEWEST = {"pnetcdf": "99.0", "hdf5": "99.0"}  # versions of libraries


class Machine:
    """Seconds without waiting for them: number n takes n seconds, more or less."""

    def __init__(self, budget, failing=()):
        self.left, self.failing, self.generator = budget, failing, random.Random(2)

    def measure(self, candidate, trials):
        if candidate in self.failing:
            return "It cannot."
        seconds = [candidate * self.generator.lognormvariate(0, 0.1) for _ in range(trials)]
        self.left -= sum(seconds)
        return seconds

    def search(self, members, **more):
        return halving.search(members, self.measure, lambda: self.left, **more)


def test_the_fastest_of_16_is_found_with_trials_doubling_as_the_field_halves():
    found = Machine(1e9).search(range(1, 17))
    assert found.ranking[0] == 1
    assert [(len(one.candidates), one.trials) for one in found.rounds] == [(16, 1), (8, 2), (4, 4), (2, 8)]


def test_survivors_bring_their_variants_into_the_second_round():
    found = Machine(1e9).search([4, 8, 16, 32], expand=lambda survivors: [s / 8 for s in survivors])
    assert found.ranking[0] == 0.5


def test_what_fails_is_left_out_with_its_reason():
    found = Machine(1e9, failing=[1, 2]).search(range(1, 9))
    assert found.ranking[0] == 3 and found.failed == {1: "It cannot.", 2: "It cannot."}
    assert not Machine(1e9, failing=[1]).search([1]).seconds


@pytest.mark.parametrize("budget", [0, 1, 20, 60, 150])
def test_the_search_ends_with_its_time_and_has_an_answer(budget):
    machine = Machine(budget)
    found = machine.search(range(1, 17), expand=lambda survivors: [s + 0.5 for s in survivors])
    assert found.ranking and machine.left > -40, "at most the launch that was running goes beyond"


def refusal(source, *flags):
    """What the compiler says of C that is wrong; empty if nothing is."""
    command = ["mpicc", *flags, "-fsyntax-only", "-x", "c", "-"]
    done = subprocess.run(command, input=source, text=True, capture_output=True)
    return done.stderr or "failed" if done.returncode else ""


@pytest.mark.long
def test_every_candidate_has_lines_of_c_that_compile():
    include = subprocess.run(["h5pcc", "-show"], capture_output=True, text=True).stdout if shutil.which("h5pcc") else ""
    cache = pathlib.Path(os.environ.get("SLABMARK_BIN", ""), "..", "CMakeCache.txt")
    if cache.exists():  # the HDF5 of the build need not be where the compiler looks
        include += " ".join(
            f"-I{path}" for path in re.findall(r"^\w*HDF5\w*INCLUDE\w*:\w+=(\S+)", cache.read_text(), re.M)
        )
    sources = pathlib.Path(__file__).parents[2] / "src"
    flags = [word for word in include.split() if word.startswith("-I")]
    flags += [f"-I{sources / folder}" for folder in ("accel/hdf5_connector/api", "accel/c_library/api")]
    flags += ["-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types"]
    headers = ["mpi.h", "unistd.h"]
    there = ["hdf5.h", "slablog.h", "pnetcdf.h", "rearrange_pnetcdf.h", "rearrange_hdf5.h"]
    headers += [name for name in there if not refusal(f"#include <{name}>\n", *flags)]
    made = 0
    for candidate in [
        c for method in METHODS for c in (candidates.Candidate(method), *candidates.Candidate(method).variants(NEWEST))
    ]:
        family = candidates.family(candidate.method)
        needed = {"hdf5": "slablog.h", "pnetcdf": "pnetcdf.h", "rearranged": "rearrange_hdf5.h"}
        if needed.get(family, "mpi.h") not in headers:
            continue
        source = "".join(f"#include <{header}>\n" for header in headers)
        source += f"void f(void) {{\n{code.CONTEXT[family].replace('{c}', code.TYPES['float64'][0])}\n{code.for_candidate(candidate)}}}\n"
        assert not (told := refusal(source, *flags)), (candidate.label, told, source)
        for name, value in candidate.hints:
            assert f'MPI_Info_set(info, "{name}", "{value}");' in source
        made += 1
    if made < len(METHODS):
        pytest.skip(f"only {headers} are here; {made} candidates compiled")


@pytest.mark.long
def test_rearranged_methods_have_lines_of_fortran_that_compile(tmp_path):
    if not shutil.which("mpifort") or not shutil.which("gfortran"):
        pytest.skip("no compiler of Fortran here: install gfortran")
    sources = pathlib.Path(__file__).parents[2] / "src/accel/c_library/api"
    modules = ["slabmark_rearrange", "slabmark_rearrange_pnetcdf", "slabmark_rearrange_hdf5"]
    text = "".join((sources / f"{name}.f90").read_text() for name in modules)
    for number, method in enumerate(m for m in METHODS if m.endswith("-rearranged")):
        first = candidates.Candidate(method)
        for index, candidate in enumerate((first, *first.variants(NEWEST), dataclasses.replace(first, hints=(("cb_nodes", "1"),)))):
            uses = "".join(f"use {name}\n" for name in ("mpi", *modules))
            uses += "use, intrinsic :: iso_fortran_env, only: int64, real64\nimplicit none\n"
            body = f"{code.FORTRAN_CONTEXT.format(fortran=code.TYPES['float64'][1])}{code.in_fortran(candidate)}"
            text += f"subroutine f{number}_{index}\n{uses}{body}end subroutine\n"
    (tmp_path / "all.f90").write_text(text)
    done = subprocess.run(["mpifort", "-c", "all.f90"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert code.in_fortran(candidates.Candidate("pnetcdf-varn")) is None


def build(mpi_io="ROMIO", missing=()):
    kinds = dict.fromkeys(METHODS, "general") | {"floor": "yardstick", "blob": "yardstick", "append": "slices"}
    return {"mpi_io": mpi_io, "libraries": {}, "methods": [described(n, kind, "no" if n in missing else None) for n, kind in kinds.items()]}


def described(name, kind="general", missing=None):
    """A method as the program describes it."""
    format = {"pnetcdf": "netcdf", "hdf5": "hdf5"}.get(name.split("-")[0], "raw")
    return {"name": name, "kind": kind, "format": format, "missing": missing}


@pytest.mark.parametrize(
    "given, today, format, library",
    [
        ({}, "hdf5-slab", "hdf5", "hdf5"),
        ({"format": "netcdf"}, "pnetcdf-vara", "netcdf", "pnetcdf"),
        ({"today": "pnetcdf-varn"}, "pnetcdf-varn", "netcdf", "pnetcdf"),
        ({"patterns": ["pnetcdf-*"]}, "pnetcdf-vara", "any", "pnetcdf"),
        ({"patterns": ["hdf5-u*", "hdf5-multi"]}, "hdf5-slab", "any", "hdf5"),
        ({"format": "hdf5", "today": "pnetcdf-vara"}, "pnetcdf-vara", "hdf5", "hdf5"),
    ],
)
def test_only_the_format_of_today_is_tried_and_today_does_not_change_from_run_to_run(given, today, format, library):
    choice = candidates.choose(build(), **given)
    assert (choice.today.method, choice.format) == (today, format)
    assert {candidates.library(way.method) for way in choice.first} == {library}


def test_headerless_files_are_tried_only_where_any_format_will_do():
    tried = lambda **given: {way.method for way in candidates.choose(build(), **given).first}
    assert not {"posix", "mpiio-collective"} & tried() and {"posix", "mpiio-collective"} <= tried(format="any")
    assert tried(today="posix") == tried(format="any")


def test_what_is_not_tried_has_a_reason():
    choice = candidates.choose(build(missing=["hdf5-subfiling"]))
    assert choice.untried.keys() | {way.method for way in choice.first} == {m["name"] for m in build()["methods"]}
    assert "build" in choice.untried["hdf5-subfiling"] and "--format any" in choice.untried["posix"]
    machine = Machine(0)
    found = machine.search(range(1, 9))
    assert len(found.untried) == 7 and not set(found.untried) & found.seconds.keys()


def concluded(today_seconds, winner_seconds, **more):
    today, winner = candidates.Candidate("hdf5-slab"), candidates.Candidate("hdf5-union")
    return answer(today, winner, confirming.Confirmed({today: today_seconds, winner: winner_seconds}, {}), **more).conclusion


@pytest.mark.parametrize(
    "today, winner, told",
    [
        ([2.0] * 6, [0.5] * 6, "Use hdf5-union: it is 4 times (95 % interval 4 to 4, 6+6 launches) as fast as hdf5-slab of HDF5 2.2 here."),
        (
            [1.0] * 6,
            [2.0] * 6,
            "Stay with hdf5-slab: the fastest in the search, hdf5-union, is 0.5 times (95 % interval 0.5 to 0.5, 6+6 launches) as fast as "
            "hdf5-slab of HDF5 2.2 here.",
        ),
        (
            [1.0, 2.0, 3.0, 4.0],
            [1.1, 2.1, 2.9, 3.9],
            "Either will do: hdf5-union is 0.988 times (95 % interval 0.256 to 3.64, 4+4 launches) as fast as hdf5-slab of HDF5 2.2 here, "
            "which may be chance; more --time-limit tells more.",
        ),
        (
            [1.0],
            [0.5],
            "Either will do: hdf5-union is 2 times (too few for an interval, 1+1 launches) as fast as hdf5-slab of HDF5 2.2 here, which "
            "may be chance; more --time-limit tells more.",
        ),
    ],
)
def test_the_answer_is_a_sentence_that_follows_from_the_interval_and_names_the_opponent(today, winner, told):
    assert concluded(today, winner, version="HDF5 2.2").sentence == told


@pytest.mark.parametrize("seconds, method", [(0.5, "hdf5-union"), (2.0, "hdf5-slab")])
def test_what_is_slower_than_today_is_not_what_the_lines_at_the_end_are_of(seconds, method):
    assert concluded([1.0] * 6, [seconds] * 6).advised.method == method


@pytest.mark.parametrize(
    "text, told",
    [
        ("", "left no record"),
        (json.dumps(record([1.0], pattern__name="bound")) + "\n", "no record but that of a limit"),
        ('{"slabmark_record":1}\n', "cannot be read"),
        (json.dumps(record([])) + "\n", "no measured trial"),
    ],
)
def test_a_launch_without_a_record_of_its_own_is_a_way_that_failed(tmp_path, monkeypatch, text, told):
    def run(command, limit, environment):
        pathlib.Path(command[command.index("--json") + 1]).write_text(text)
        return 0, "", ""

    monkeypatch.setattr(programs, "find", lambda name: name)
    monkeypatch.setattr(programs, "run", run)
    arguments = types.SimpleNamespace(launch="mpiexec", pattern="decomp --map x", time_limit=10, ranks=1, read=False, sync=False)
    assert told in command.Bench(arguments, tmp_path).seconds(candidates.Candidate("hdf5-slab"), 1)
    assert told in chunks_command.Bench(arguments, ["decomp"], tmp_path).seconds("hdf5-slab", {}, 1)


def test_a_pattern_may_be_longer_than_the_name_of_a_file():
    assert command.pattern_words("decomp --map " + "x" * 5000)[0] == "decomp"


def test_each_method_of_the_build_is_a_candidate_with_lines_of_c_or_named_as_none(run):
    built = json.loads(run("slabmark bench", ["environment"]).stdout)["methods"]
    general = (method["name"] for method in built if method["kind"] == "general")
    for name in (name for name in general if candidates.library(name) not in candidates.NO_CALLS):
        assert name in METHODS and code.for_candidate(candidates.Candidate(name)), name
    first = candidates.choose({"mpi_io": "ROMIO", "methods": built}, format="any").first
    none = {"floor", "whole", "blob", "null", "hdf5-union-naive", "pnetcdf-varn-mpiio", "append", "files-one", "copy-plane", "gatherv", "touch"}
    assert not none & {candidate.method for candidate in first}
    assert not any(candidate.method.startswith("zarr") for candidate in first)
    assert code.for_candidate(candidates.Candidate("zarr-rearranged")) is None


def test_variants_of_a_rearranged_method_have_the_options_of_its_library(run):
    for candidate in candidates.Candidate("pnetcdf-rearranged").variants(NEWEST):
        assert all(name.startswith("pnetcdf.") for name, _ in candidate.options), candidate.label


@pytest.mark.parametrize("version, known", [("1.12.3", set()), ("1.14.1", {"nc_num_aggrs_per_node"}),
                                            ("1.15.0", {"nc_num_aggrs_per_node", "nc_driver"}), (None, set())])
def test_hints_are_tried_with_libraries_that_know_them(version, known):
    libraries = {"pnetcdf": version, "hdf5": "2.2.0"}
    variants = candidates.Candidate("pnetcdf-varn").variants(libraries)
    assert {name for way in variants for name, _ in way.hints if name.startswith("nc_")} == known
    ways, _ = candidates.of_captured({"mpi_io": "ROMIO", "libraries": libraries}, "pnetcdf")
    assert {name for way in ways for name, _ in way.hints if name.startswith("nc_")} == known
    assert not any(name.startswith("nc_") for way in candidates.of_captured({"mpi_io": "ROMIO", "libraries": libraries}, "hdf5")[0]
                   for name, _ in way.hints)


def test_romio_is_tried_where_ompio_is_in_effect():
    built = [described("posix"), described("mpiio-collective"), described("null", "yardstick")]
    first = candidates.choose({"mpi_io": "OMPIO", "methods": built}).first
    assert [c.label for c in first] == ["posix", "mpiio-collective", "mpiio-collective, OMPI_MCA_io=^ompio"]


@pytest.mark.long
def test_advice_on_a_real_pattern_names_a_way_its_evidence_and_its_code(run, small_map, tmp_path):
    how = ["-n", "2", "--launch", LAUNCHER, "--time-limit", "20", "--method", "hdf5-slab,hdf5-union"]
    done = run("slabmark", ["advise", small_map, *how, "-d", tmp_path, "--json", tmp_path / "a.jsonl"], timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(r"Use hdf5|Either will do|Stay with|hdf5-\w+ is the fastest", done.stdout), done.stdout
    assert "trying hdf5-" in done.stderr and "s left" in done.stderr
    records_of, advice = (tmp_path / "a.jsonl").read_text().splitlines()[:-1], json.loads((tmp_path / "a.jsonl").read_text().splitlines()[-1])
    assert advice["answer"] == done.stdout.splitlines()[0] and len(advice["parts"][0]["tried"]) >= 2
    read = records.read([tmp_path / "a.jsonl"])
    assert len(read.records) == len(records_of) and not read.skipped, "readers of records pass over the advice"
    assert "--method hdf5-" in done.stdout and "H5Dwrite" in done.stdout
    assert (tmp_path / "a.jsonl").read_text().count("\n") > 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl", small_map.name]


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments, culprit",
    [
        (["nonsense"], "neither a file nor a pattern"),
        (["decomp --map x", "--method", "hdf5-unoin"], "hdf5-union"),
        (["decomp --map x", "-d", "/absent"], "/absent"),
        (["decomp --map x", "--time-limit", "nan"], "give a number from 1 to"),
        (["decomp --map x"], "'x'"),
        (["decomp --map x", "--json", "study.nc"], "no file of records"),
        (["decomp --map 'x"], "quotation"),
        (["decomp --map x", "--json", "absent/r.jsonl"], "there is no folder"),
        (["decomp --map x", "--pio", "--chunks"], "--chunks"),
    ],
)
def test_wrong_usage_is_one_sentence(run, sentence, tmp_path, arguments, culprit):
    (tmp_path / "study.nc").write_bytes(b"CDF\1")
    done = run("slabmark", ["advise", "--launch", LAUNCHER, "-n", "1", *arguments], cwd=tmp_path)
    assert done.returncode == 2 and culprit in sentence(done, "slabmark")
    assert [path.name for path in tmp_path.iterdir()] == ["study.nc"]


def pattern_of(path, level="pnetcdf", origin="captured", launch=("mpiexec", "-n", "2", "./model", "a b")):
    """A pattern file that seems to be captured."""
    made = pattern.Pattern()
    made.variable("v", pattern.blocks([4], [2]), time=False)
    made.step()
    made.save(path)
    with h5py.File(path, "r+") as file:
        header = json.loads(file["header"][()].tobytes())
        header |= {"launch": list(launch), "files": [opened | {"level": level} for opened in header["files"]]}
        del file["header"]
        file["header"] = numpy.frombuffer(json.dumps(header).encode(), "u1")
        file.attrs["origin"] = origin
    return path


def test_a_pattern_file_is_played_and_its_program_is_what_is_done_today(tmp_path):
    path = pattern_of(tmp_path / "run.pattern")
    assert command.pattern_words(str(path)) == ["captured", "--pattern", str(path)]
    captured = command.Captured.of(path)
    assert (captured.level, captured.command, captured.guess) == ("pnetcdf", ("mpiexec", "-n", "2", "./model", "a b"), "")
    described = command.Captured.of(pattern_of(tmp_path / "d.pattern", "described", "described"))
    assert described.level == "" and command.Captured.of("decomp --map f.nc") == command.Captured()


@pytest.mark.parametrize(
    "level, ways", [("pnetcdf", {"pnetcdf"}), ("hdf5", {"canonical", "log"}), ("mpiio", set()), ("posix", set())]
)
def test_a_captured_program_is_tried_as_it_is_with_all_that_leaves_it_so(tmp_path, monkeypatch, level, ways):
    for name in ("lib/libslabmark_pnetcdf.so", "plugins/libslablog.so"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("SLABMARK_BIN", str(tmp_path / "bin"))
    monkeypatch.delenv("SLABMARK_DROPIN", raising=False)
    arguments = types.SimpleNamespace(today=None, format=None, method=None)
    environment = build("OMPIO")
    environment["methods"].append(described(f"as-captured-{level}", "as-captured"))
    captured = command.Captured(level, ("./p",))
    assert captured.in_build(environment) == captured and captured.in_build(build()).level == ""
    choice = command.choose(arguments, environment, captured)
    own = [way for way in choice.first if way.method == f"as-captured-{level}"]
    assert choice.today == own[0] == candidates.as_captured(level) and len(set(choice.first)) == len(choice.first)
    assert {way.way for way in own} == ways | {"nothing"} and ("OMPI_MCA_io", "^ompio") in own[-1].environment or level == "posix"
    assert any(way.hints for way in own) == (level != "posix")
    switched = [way for way in own if way.environment and way.way not in ("canonical", "log")]  # which see to it themselves
    assert all(("romio_ds_write", "disable") in way.hints for way in switched), "ROMIO can lose data"
    formats = {"pnetcdf": {"pnetcdf"}, "hdf5": {"hdf5"}}.get(level, {"pnetcdf", "hdf5", "mpiio", "posix"})
    assert {candidates.library(way.method) for way in choice.first if way not in own} == formats
    monkeypatch.setenv("SLABMARK_BIN", "/absent")
    assert len(candidates.of_captured(environment, level)[1]) == len(ways), "what is not built is said"


def test_hints_that_a_method_gave_its_file_by_itself_are_in_its_flags_and_code():
    way = candidates.Candidate("hdf5-slab", hints=(("cb_nodes", "1"),))
    added = way.with_added_hints({"romio_ds_write=disable": "In some calls a rank may have nothing."})
    assert added.flags[-4:] == ["--hint", "cb_nodes=1", "--hint", "romio_ds_write=disable"]
    assert 'MPI_Info_set(info, "romio_ds_write", "disable");' in code.for_candidate(added)
    assert way.with_added_hints({}) == way


@pytest.mark.parametrize(
    "way, level, lines",
    [
        (dict(way="pnetcdf"), "pnetcdf", ["slabmark apply --with pnetcdf -- mpiexec -n 2 ./model 'a b'"]),
        (dict(way="log"), "hdf5", ["slabmark apply --with log -- mpiexec -n 2 ./model 'a b'"]),
        (
            dict(environment=(("OMPI_MCA_io", "^ompio"),), hints=(("cb_nodes", "1"), ("romio_ds_write", "disable"))),
            "pnetcdf",
            ["printf '%s\\n' 'romio_ds_write disable' > romio-hints  # where all nodes see it; what the program sets itself stays",
             "slabmark apply --with nothing --env 'OMPI_MCA_io=^ompio' --env PNETCDF_HINTS=cb_nodes=1 "
             '--env ROMIO_HINTS="$PWD/romio-hints" -- mpiexec -n 2 ./model \'a b\''],
        ),
        (
            dict(hints=(("cb_nodes", "1"), ("romio_ds_write", "disable"))),
            "hdf5",
            ["printf '%s\\n' 'cb_nodes 1' 'romio_ds_write disable' > romio-hints  # where all nodes see it; what the program sets "
             "itself stays",
             'slabmark apply --with nothing --env ROMIO_HINTS="$PWD/romio-hints" -- mpiexec -n 2 ./model \'a b\''],
        ),
    ],
)  # fmt: skip
def test_the_line_that_applies_a_way_is_of_the_very_command_that_was_captured(way, level, lines):
    found = ending.applied([(candidates.Candidate("as-captured-hdf5", **way), level)], ("mpiexec", "-n", "2", "./model", "a b"))
    assert found.splitlines() == lines
    subprocess.run(["sh", "-n"], input=found, text=True, check=True)


def test_what_a_captured_program_gains_unchanged_is_said_with_its_evidence_or_that_there_is_nothing():
    own = candidates.as_captured("hdf5")
    better = dataclasses.replace(own, environment=(("OMPI_MCA_io", "^ompio"),))
    captured = command.Captured("hdf5", ("mpiexec", "./p"))
    assert captured.unchanged([candidates.Candidate("hdf5-union"), better, own]) == better
    assert captured.unchanged([own, better]) is None and captured.unchanged([candidates.Candidate("hdf5-union")]) is None
    tell = lambda medians, failed={}: answers.in_captured_program(captured, answer(own, better, confirming.Confirmed(medians, failed)))
    gained = tell({own: [4.0, 4.1, 4.2, 4.3], better: [1.0, 1.1, 1.2, 1.3]})
    assert re.search(r"is 3\.\d+ times", gained) and "as fast as as-captured-hdf5" in gained and gained.endswith("-- mpiexec ./p")
    assert "may be chance" in tell({own: [1.0, 2.0, 3.0, 4.0], better: [1.1, 2.1, 2.9, 3.9]})
    assert tell({own: [1.0, 1.1, 1.2, 1.3], better: [4.0, 4.1, 4.2, 4.3]}).startswith("Nothing was found")
    assert "It cannot." in tell({own: [], better: []}, {better: "It cannot."})
    assert "It cannot." in tell({own: [1.0, 1.1], better: [2.0]}, {better: "It cannot."}), "it failed after a launch"
    assert answers.in_captured_program(captured, answer(own, None, confirming.Confirmed({own: []}, {}))).endswith("without a change of it.")


def answer(own, unchanged, confirmed, untried=(), failed=None, **more):
    search = halving.Search({}, failed or {}, list(untried), [])
    return answers.Answer(unchanged or own, own, unchanged, confirmed, search, **more)


def test_what_the_time_did_not_reach_is_not_said_to_bring_nothing():
    own, captured = candidates.as_captured("pnetcdf"), command.Captured("pnetcdf", ("./p",))
    door = dataclasses.replace(own, way="pnetcdf")
    nothing = confirming.Confirmed({own: []}, {})
    text = answers.in_captured_program(captured, answer(own, None, nothing, untried=[door, candidates.Candidate("pnetcdf-vara")]))
    assert text.startswith("The time was over before 1 way could be tried") and "--with pnetcdf" in text and "vara" not in text
    text = answers.in_captured_program(captured, answer(own, None, nothing, failed={door: "It cannot.", own: "x"}))
    assert text.startswith("Nothing was found") and text.endswith("by 'slabmark apply --with pnetcdf': It cannot.")


class Launches:
    """A Bench that takes so many seconds for a trial of each way, and one more for the rest of a launch."""

    def __init__(self, seconds, limit):
        self.takes, self.limit, self.too_long, self.beside, self.records = seconds, limit, {}, {}, {}

    left = lambda self: 10.0
    at_least = command.Bench.at_least

    def seconds(self, way, trials, bound=False, share_of_time=1 / 3):
        if self.takes[way] + 1 > self.limit:
            self.too_long[way] = self.limit
            return bench.TooLong(self.limit)
        self.beside[way], self.records[way] = 1.0, [types.SimpleNamespace(measured=[types.SimpleNamespace(open_to_close=self.takes[way])])]
        return [self.takes[way]] * trials


@pytest.mark.parametrize("tried_before", [True, False])
def test_a_program_that_takes_too_long_is_a_lower_bound(tried_before):
    own, captured = candidates.as_captured("pnetcdf"), command.Captured("pnetcdf", ("./p",))
    door, steps = dataclasses.replace(own, way="pnetcdf"), []
    launches = Launches({own: 60.0, door: 0.7}, 22.0)
    found = halving.search([own, door], launches.seconds, lambda: 1, in_order=True)
    assert found.ranking == [door] and "more than 22 s" in found.failed[own]
    assert "     > 22 s  as-captured-pnetcdf: it was ended" in answers.evidence(answers.Answer(door, own, door, None, found))
    if not tried_before:
        launches.too_long.clear()
    progress = types.SimpleNamespace(at=lambda text, left: steps.append((text, left)))
    confirmed = confirming.confirm(launches, door, own, door, progress)
    assert steps and all(text.startswith("comparing the best with as-captured-pnetcdf") and left > 0 for text, left in steps)
    assert len(confirmed.medians[door]) >= 4 and confirmed.at_least == {own: 21.0}
    told, advised = answer(own, door, confirmed).conclusion
    assert advised == door
    assert told.endswith("it takes 700 ms (10 launches), and as-captured-pnetcdf more than 21.0 s: at least 30.0 times as long.")
    text = answers.in_captured_program(captured, answer(own, door, confirmed))
    assert "at least 30.0 times as long" in text and text.splitlines()[-1] == "  slabmark apply --with pnetcdf -- ./p"
    assert answer(own, door, confirmed).gains
    assert [answer(own, door, confirming.Confirmed({own: [1.0, 2.0], door: medians}, {})).gains for medians in ([1.1, 1.2], [2.1, 1.9], [])] == [
        True, False, False
    ]
    slower = confirming.Confirmed({own: [], door: [30.0]}, {}, {own: 21.0})
    assert answer(own, door, slower).compared(door).is_better is None


def test_a_longer_trial_that_does_not_end_leaves_the_shorter_ones():
    outcomes = iter([[1.0], [2.0], bench.TooLong(5), [2.0, 2.0]])
    found = halving.search(["a", "b"], lambda way, trials: next(outcomes), lambda: 1, expand=lambda survivors: ["b"], in_order=True)
    assert found.seconds["a"] == [1.0] and not found.failed


def test_a_captured_program_is_tried_first_as_it_is_then_with_what_helps_most():
    found = Machine(3).search([3, 1, 2], in_order=True)
    assert list(found.seconds) == [3] and found.untried == [1, 2]


def coupled(path):
    """A pattern file of two ranks with PnetCDF, three with HDF5 of which one has a file for itself, too, and a last one with neither."""
    made = pattern.Pattern()
    made.variable("v", pattern.blocks([12], [6]), time=False, type="float32")
    made.step()
    made.save(path)
    with h5py.File(path, "r+") as file:
        header = json.loads(file["header"][()].tobytes())
        header["launch"] = ["mpiexec", "-n", "2", "./a", ":", "-n", "3", "./o"]
        header["files"] = [{"kind": "file", "path": name, "level": level, "ranks": ranks, "unasked": level == "posix"}
                           for name, level, ranks in (("a.nc", "pnetcdf", 2), ("o.h5", "hdf5", 3), ("own.h5", "hdf5", 1), ("log", "posix", 1))]
        del file["header"], file["files"], file["files_begin"]
        file["header"] = numpy.frombuffer(json.dumps(header).encode(), "u1")
        file["files"], file["files_begin"] = numpy.array([0, 3, 0, 1, 1, 2, 1, 3], "u4"), numpy.array([0, 2, 3, 4, 6, 7, 8], "u8")
        file.attrs["origin"] = "captured"
    return path


def test_a_coupled_program_has_a_part_for_each_library_and_communicator(tmp_path):
    parts = command.Captured.parts_of(coupled(tmp_path / "run.pattern"))
    assert [(part.name, part.choice, part.type) for part in parts] == [
        ("PnetCDF on 2 ranks", ("--library", "pnetcdf"), "float32"), ("HDF5 on 3 ranks", ("--library", "hdf5"), "float32"),
        ("POSIX on 1 rank", ("--library", "posix"), "float32"),
    ]
    with h5py.File(tmp_path / "run.pattern", "r+") as file:  # without PnetCDF and the log
        file["files"][...] = [1, 1, 1, 1, 1, 2, 1, 2]
        file["files_begin"][...] = [0, 0, 0, 4, 6, 8, 8]
    [one] = command.Captured.parts_of(tmp_path / "run.pattern")
    assert (one.name, one.choice) == ("HDF5 on 3 ranks", ("--library", "hdf5"))
    [one] = command.Captured.parts_of(pattern_of(tmp_path / "one.pattern"))
    assert one.choice == () and command.Captured.parts_of("decomp --map f.nc") == [command.Captured()]
    ways = [(candidates.Candidate("as-captured-hdf5", way="canonical", environment=(("OMPI_MCA_io", "^ompio"),)), "hdf5"),
            (candidates.Candidate("as-captured-posix"), "posix"),
            (candidates.Candidate("as-captured-pnetcdf", way="pnetcdf", hints=(("cb_nodes", "1"),)), "pnetcdf")]
    assert ending.applied(ways, parts[0].command) == ("slabmark apply --with pnetcdf,canonical --env 'OMPI_MCA_io=^ompio' --env PNETCDF_HINTS=cb_nodes=1 "
                                                      "-- mpiexec -n 2 ./a : -n 3 ./o")


@pytest.mark.parametrize("words, type", [(["decomp", "--type", "int32"], "int32"), (["e3sm", "--real=float32"], "float32"), (["decomp"], "float64")])
def test_lines_of_code_have_the_type_of_the_variables(words, type):
    assert command.type_in_words(words) == type
    lines = code.for_candidate(candidates.Candidate("hdf5-union"), type) + code.for_candidate(candidates.Candidate("mpiio-rearranged"), type)
    assert code.TYPES[type][3] in lines and f"SLABMARK_{type.upper()}" in lines and ("DOUBLE" in lines) == (type == "float64")


def test_records_that_find_no_room_are_not_kept_in_part(tmp_path):
    path = tmp_path / "r.jsonl"
    for before in (b"", b"before\n"):
        path.write_bytes(before) if before else path.unlink(missing_ok=True)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        try:
            with pytest.raises(LabError, match=f"'{path}' cannot be written"):
                files.append(path, b"x" * 200)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert (path.read_bytes() if before else b"") == before and path.exists() == bool(before)


@pytest.mark.parametrize("theirs, ours, told", [("1.14.5", "2.2.0", True), ("1.14.3", "1.14.6", False), ("2.0.0", "2.2.0", False), ("", "2.2.0", False)])
def test_advice_for_a_program_with_another_hdf5_says_what_the_connector_wants(theirs, ours, told):
    own = candidates.as_captured("hdf5")
    better = dataclasses.replace(own, way="canonical")
    methods = [{"name": own.method, "missing": ""}]
    captured = command.Captured("hdf5", ("./p",), hdf5=theirs).in_build({"methods": methods, "libraries": {"hdf5": ours}})
    confirmed = confirming.Confirmed({own: [4.0, 4.1, 4.2, 4.3], better: [1.0, 1.1, 1.2, 1.3]}, {})
    text = answers.in_captured_program(captured, answer(own, better, confirmed))
    assert ("HDF5 1.14.5, and this Slabmark, with its connector, 2.2.0" in text) == told and text.endswith("--with canonical -- ./p")
