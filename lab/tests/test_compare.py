"""slabmark compare: verdicts, exit status, refusals."""

import argparse
import io
import json
import random
import re
import types

import pytest
from conftest import noise, record, write_records
from slabmark import cells, command_line, compare, records
from slabmark.statistics import Ratio
from slabmark.terminal import Terminal

METHODS = ("pnetcdf-varn", "hdf5-union")


def side(path, seed, slow=1.0, launches=1, trials=10, **more):
    generator = random.Random(seed)
    made = [
        record(
            noise(generator, trials, slow if method == "hdf5-union" else 1.0),
            method=method,
            started=f"2026-01-{day + 1:02}T00:00:00.000Z",
            **more,
        )
        for method in METHODS
        for day in range(launches)
    ]
    return str(write_records(path, made))


def compared(capsys, *arguments):
    status = command_line.main(["compare", *arguments])
    return status, capsys.readouterr()


def test_an_unchanged_system_passes_and_a_slower_one_fails_the_gate(tmp_path, capsys):
    base, same, slow = (side(tmp_path / f"{n}.jsonl", n, slow) for n, slow in ((1, 1.0), (2, 1.0), (3, 1.6)))
    status, told = compared(capsys, base, same)
    assert status == 0 and "slower" not in told.out.split("Verdicts:")[1]
    status, told = compared(capsys, base, slow)
    assert status == 1
    verdicts = [line.split()[-1] for line in told.out.splitlines() if line.strip().startswith(METHODS)]
    assert verdicts == ["slower", "inconclusive"] or verdicts == ["slower", "same"]
    status, told = compared(capsys, slow, base)
    assert status == 0 and "faster" in told.out


def test_steady_cells_are_called_the_same(tmp_path, capsys):
    steady = [1.0, 1.001, 1.002, 1.003, 1.004, 1.005, 1.006, 1.007, 1.008, 1.009]
    files = [str(write_records(tmp_path / f"{n}.jsonl", [record(steady)])) for n in (1, 2)]
    status, told = compared(capsys, *files)
    assert status == 0 and "1 same" in told.out


def test_three_trials_a_side_are_inconclusive_and_say_how_many_are_needed(tmp_path, capsys):
    base, new = (side(tmp_path / f"{n}.jsonl", n, slow, trials=3) for n, slow in ((1, 1), (2, 9)))
    status, told = compared(capsys, base, new)
    assert status == 0 and "2 inconclusive" in told.out and "at least 5 trials" in told.out


def test_one_trial_against_sixty_is_compared(tmp_path, capsys):
    base, new = (side(tmp_path / f"{n}.jsonl", n, trials=n) for n in (1, 60))
    status, told = compared(capsys, base, new)
    assert status == 0 and "at least 5 trials a side are needed; missing: 4 in BASE (trials)" in told.out


def test_it_says_how_many_launches_are_missing_for_a_verdict(tmp_path, capsys):
    base, new = (side(tmp_path / f"{n}.jsonl", n, launches=4, trials=2) for n in (1, 2))
    _, told = compared(capsys, base, new)
    assert "at least 5 launches a side are needed; missing: 1 in BASE, 1 in NEW (launches)" in told.out
    status, told = compared(capsys, base, new, "--per-cell", "--tolerance", "0.03")
    assert re.search(r"inconclusive: .*: a verdict takes (about|more than) \d+ launches a side", told.out)


def test_as_many_launches_as_it_asks_for_give_a_verdict(tmp_path, capsys):
    def sides(launches):
        return [side(tmp_path / f"{n}.jsonl", n, slow, launches, 1) for n, slow in ((1, 1.0), (2, 1.3))]

    told = json.loads(compared(capsys, *sides(5), "--json", "-")[1].out)
    [unclear] = [cell for cell in told["cells"] if cell["cell"] == "hdf5-union"]
    assert unclear["verdict"] == "inconclusive" and 5 < unclear["values"]["needed"] < 100
    told = json.loads(compared(capsys, *sides(unclear["values"]["needed"]), "--json", "-")[1].out)
    assert "slower" in [cell["verdict"] for cell in told["cells"] if cell["cell"] == "hdf5-union"]


def test_a_method_that_vanished_fails_the_gate_and_so_does_what_it_is_told_to_fail_on(tmp_path, capsys):
    base = side(tmp_path / "1.jsonl", 1)
    made = [json.loads(line) for line in open(side(tmp_path / "2.jsonl", 2))]
    new = str(write_records(tmp_path / "new.jsonl", [one for one in made if one["method"] == METHODS[0]]))
    status, told = compared(capsys, base, new)
    assert status == 1 and "missing: Writing" in told.out and "hdf5-union: it is not in NEW" in told.out
    assert compared(capsys, base, new, "--fail-on", "slower")[0] == 0
    assert compared(capsys, new, base)[0] == 0, "what is only in NEW is no loss"
    status, told = compared(capsys, base, new, "--fail-on", "inconclusive,slower", "--tolerance", "0")
    assert status == 1 and "inconclusive" in told.out
    assert compared(capsys, base, new, "--fail-on", "missng")[0] == 2


def test_json_has_what_the_table_has(tmp_path, capsys):
    base, new = (side(tmp_path / f"{n}.jsonl", n, slow, launches=6) for n, slow in ((1, 1.0), (2, 2.0)))
    status, told = compared(capsys, base, new, "--json", "-")
    found = json.loads(told.out)
    assert status == 1 and found["failed"] == ["slower"] and found["missing"] == []
    slow = {cell["cell"]: cell for cell in found["cells"]}["hdf5-union"]
    assert slow["verdict"] == "slower" and slow["values"] == {"unit": "launches", "base": 6, "new": 6, "needed": None}
    assert slow["ratio"]["low"] < slow["ratio"]["median"] < slow["ratio"]["high"]
    lines = [line for line in open(new) if json.loads(line)["method"] == METHODS[0]]
    (tmp_path / "3.jsonl").write_text("".join(lines))
    found = json.loads(compared(capsys, base, str(tmp_path / "3.jsonl"), "--json", "-")[1].out)
    assert [(cell["cell"], cell["reason"]) for cell in found["missing"]] == [("hdf5-union", "it is not in NEW")]


def test_80_columns_hold_the_verdict_and_the_screen_explains_the_ratio(tmp_path, capsys):
    base, new = (records.read([side(tmp_path / f"{n}.jsonl", n, launches=6)]) for n in (1, 2))
    pairs = compare.match(*([c for load in cells.workloads(s.records) for c in load.cells] for s in (base, new)))
    console = Terminal(width=80, file=io.StringIO())
    arguments = argparse.Namespace(tolerance=0.05, per_cell=False)
    compare.show(compare.compare(pairs.pairs), pairs, arguments, console)
    shown = console.file.getvalue()
    verdicts = [line.split()[-1] for line in shown.splitlines() if line.strip().startswith(METHODS)]
    assert len(verdicts) == 2 and set(verdicts) <= {"same", "inconclusive", "slower", "faster"}
    assert "'ratio' is not their quotient" in shown


@pytest.mark.parametrize("width", [40, 60, 79, 120])
def test_the_names_of_cells_are_there_on_any_screen(tmp_path, width):
    base, new = (records.read([side(tmp_path / f"{n}.jsonl", n, launches=6)]) for n in (1, 2))
    pairs = compare.match(*([c for load in cells.workloads(s.records) for c in load.cells] for s in (base, new)))
    console = Terminal(width=width, file=io.StringIO())
    compare.show(compare.compare(pairs.pairs), pairs, argparse.Namespace(tolerance=0.05, per_cell=False), console)
    rows = [line.split() for line in console.file.getvalue().splitlines()]
    assert {row[0] for row in rows if row and row[-1] in ("same", "inconclusive", "slower", "faster")} == set(METHODS)


def test_the_file_of_a_captured_pattern_may_lie_elsewhere(tmp_path, capsys):
    of = lambda folder: {"pattern__settings": {"pattern": f"{folder}/run.pattern"}, "pattern__name": "captured"}
    status, told = compared(capsys, side(tmp_path / "1.jsonl", 1, **of("/here")), side(tmp_path / "2.jsonl", 2, **of("/there/x")))
    assert status == 0 and "missing" not in told.out


def test_a_workload_has_one_heading(tmp_path, capsys):
    made = [record([1.0, 1.1], method=method, direction=way) for method in METHODS for way in ("write", "read")]
    files = [str(write_records(tmp_path / f"{n}.jsonl", made)) for n in (1, 2)]
    _, told = compared(capsys, *files)
    headings = [line for line in told.out.splitlines() if line.startswith(("Writing", "Reading"))]
    assert len(headings) == len(set(headings)) == 2


def test_which_cell_is_named_follows_from_the_records(tmp_path, capsys):
    """Not from how names are hashed, which differs from run to run."""
    made = [record([1.0, 1.1], method=f"m{number}") for number in range(20)]
    base = str(write_records(tmp_path / "1.jsonl", made))
    new = str(write_records(tmp_path / "2.jsonl", [one | {"sync": False} for one in made]))
    assert compared(capsys, base, new)[1].err.startswith("slabmark: error: Nothing can be compared: m0 ")


def test_launches_are_the_values_where_there_are_enough(tmp_path, capsys):
    base, new = (side(tmp_path / f"{n}.jsonl", n, launches=6, trials=3) for n in (1, 2))
    _, told = compared(capsys, base, new)
    assert "6+6 launches" in told.out


@pytest.mark.long
def test_launches_that_differ_among_themselves_are_no_change(tmp_path, capsys):
    """Trials of one launch are alike, launches are not: taken as independent, such trials alarm in most of the cases."""
    generator = random.Random(7)
    alarms = 0
    for _ in range(60):
        files = []
        for name in ("base", "new"):
            made = []
            for day in range(6):
                level = generator.lognormvariate(0, 0.3)
                made.append(
                    record(
                        [level * generator.lognormvariate(0, 0.01) for _ in range(5)],
                        started=f"2026-01-{day + 1:02}T00:00:00.000Z",
                    )
                )
            files.append(str(write_records(tmp_path / f"{name}.jsonl", made)))
        alarms += compared(capsys, *files, "--tolerance", "0")[0]
    assert alarms <= 6  # 2.5 % of 60 are slower by chance; more than 6 of them happen once in 1000


def test_what_an_upgrade_changed_is_named(tmp_path, capsys):
    base = side(tmp_path / "1.jsonl", 1)
    libraries = {"hdf5": "2.3.0", "pnetcdf": "1.12.3"}
    status, told = compared(capsys, base, side(tmp_path / "2.jsonl", 2, manifest__libraries=libraries))
    assert "changed: HDF5: 2.2.0 -> 2.3.0" in told.out


def test_another_hint_can_be_the_thing_compared(tmp_path, capsys):
    new = side(tmp_path / "2.jsonl", 2, settings={"options": {}, "hints": {"cb_nodes": "4"}})
    status, told = compared(capsys, side(tmp_path / "1.jsonl", 1), new)
    assert status == 0 and "changed: hint cb_nodes: - -> 4" in told.out


@pytest.mark.parametrize(
    "name, more",
    [
        ("sync", {"sync": False}),
        ("file system", {"manifest__output": {"type": "tmpfs", "mount_point": "/", "source": "x"}}),
        ("machine", {"manifest__cores": 64}),
        ("pattern", {"pattern__bytes": 5}),
    ],
)
def test_records_that_are_not_comparable_are_refused_with_the_difference(tmp_path, capsys, name, more):
    files = side(tmp_path / "1.jsonl", 1), side(tmp_path / "2.jsonl", 2, **more)
    status, told = compared(capsys, *files)
    assert status == 2 and f"differs in {name}" in told.err
    assert compared(capsys, *files, "--accept", name)[0] != 2


def test_different_patterns_have_nothing_to_compare(tmp_path, capsys):
    new = side(tmp_path / "2.jsonl", 2, pattern__settings={"map": "g.nc", "variables": "1"})
    status, told = compared(capsys, side(tmp_path / "1.jsonl", 1), new)
    assert status == 2 and "f.nc" in told.err and "g.nc" in told.err


def test_a_failed_verification_is_never_compared(tmp_path, capsys):
    wrong = {"state": "no", "elements": 1, "by": "plain reader", "mismatch": "element 7 is 0"}
    status, told = compared(capsys, side(tmp_path / "1.jsonl", 1), side(tmp_path / "2.jsonl", 2, verified=wrong))
    assert status == 2 and "verification" in told.err


def judged(median, low=None, high=None, label="hdf5-union"):
    found = compare.verdict(Ratio(median, low, high, 6, 6), 0.05)
    return types.SimpleNamespace(label=label, ratio=Ratio(median, low, high, 6, 6), verdict=found)


SLOW, SLOWEST, FAST = judged(1.5, 1.4, 1.6, "a"), judged(3.1, 2.8, 3.4, "b"), judged(0.5, 0.4, 0.6, "c")
SAME, UNCLEAR, FEW = judged(1.0, 0.99, 1.01, "d"), judged(1.1, 0.9, 1.3, "e"), judged(9.0, label="f")


@pytest.mark.parametrize(
    "found, missing, told",
    [
        ([SLOW], 0, "new is slower than base in a: 1.5 times its seconds (95 % interval 1.4 to 1.6)."),
        ([UNCLEAR], 1, "new has no verdict yet against base in e: 1.1 times its seconds (95 % interval 0.9 to 1.3); 1 missing."),
        ([FEW], 0, "new has no verdict yet against base in f: 9 times its seconds (no interval yet)."),
        (
            [SLOW, FAST, SLOWEST, SAME],
            0,
            "new is slower than base in 2 of 4 cells, most in b: 3.1 times its seconds (95 % interval 2.8 to 3.4); 1 faster, 1 the same.",
        ),
        (
            [FAST, SAME, SAME],
            0,
            "No cell of new is slower than in base; 1 of 3 faster, most in c: 0.5 times its seconds (95 % interval 0.4 to 0.6); 2 the same.",
        ),
        ([SAME, SAME, UNCLEAR], 0, "No cell of new is known to be slower than in base; 2 of 3 the same; 1 inconclusive."),
        ([UNCLEAR, FEW], 2, "new has no verdict yet against base in any of 2 cells; 2 missing."),
    ],
)
def test_the_answer_is_a_sentence_that_claims_no_more_than_is_known(found, missing, told):
    matching = types.SimpleNamespace(missing=[None] * missing)
    assert compare.answer(found, matching, "results/base", "results/new/") == told


def test_the_answer_comes_first_and_is_in_the_document_too(tmp_path, capsys):
    sides = [side(tmp_path / f"{n}.jsonl", n, slow, launches=6) for n, slow in ((1, 1.0), (2, 2.0))]
    _, told = compared(capsys, *sides)
    answer = told.out.splitlines()[0]
    assert answer.startswith("2.jsonl is slower than 1.jsonl in 1 of 2 cells, most in hdf5-union: ")
    assert json.loads(compared(capsys, *sides, "--json", "-")[1].out)["answer"] == answer
