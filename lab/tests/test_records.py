"""Reading records: what cannot be read is named and skipped."""

import io
import json

import pytest
from conftest import read_record, record, write_records
from slabmark import cells, records, units
from slabmark.errors import InputError
from slabmark.terminal import Terminal


def test_corrupt_newer_and_foreign_lines_are_named_and_skipped(tmp_path):
    path = tmp_path / "records.jsonl"
    good, newer, lacking = record([1.0]), record([1.0]) | {"slabmark_record": 2}, record([1.0])
    del lacking["manifest"]
    lines = [
        json.dumps(good),
        json.dumps(good)[:200],
        json.dumps(newer),
        '{"other": 1}',
        json.dumps(lacking),
        "[1]",
        json.dumps(good | {"trials": 7}),
        "",
        json.dumps(good),
    ]
    path.write_text("\n".join(lines) + "\n")
    found = records.read([path])
    assert len(found.records) == 2
    reasons = found.skipped
    assert [reason.partition(": ")[0] for reason in reasons] == [f"{path}, line {number}" for number in range(2, 8)]
    assert "cut short" in reasons[0] and "version 2" in reasons[1] and "'manifest'" in reasons[3]


def test_a_file_without_any_record_is_an_error_that_says_what_was_there(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text("rubbish\n")
    with pytest.raises(InputError, match="line 1: skipped"):
        records.read([path])
    with pytest.raises(InputError, match="no file or folder"):
        records.read([tmp_path / "absent.jsonl"])


def test_launches_of_one_cell_are_pooled_and_other_settings_are_not(tmp_path):
    made = [
        record([1.0, 2.0]),
        record([3.0], started="2026-01-02T00:00:00.000Z"),
        record([5.0], settings={"options": {"pnetcdf.blocking": "on"}, "hints": {}}),
        record([7.0], manifest__mpi_io="OMPIO"),
    ]
    [load] = cells.workloads(records.read([write_records(tmp_path / "r.jsonl", made)]).records)
    assert [cell.seconds for cell in load.cells] == [[1.0, 2.0, 3.0], [5.0], [7.0]]
    assert load.cells[0].launch_medians == [1.5, 3.0]
    assert load.cells[2].label == "pnetcdf-varn, MPI-IO=OMPIO"


def test_a_phase_that_only_a_newer_program_knows_is_shown_after_the_others():
    made = record([1.0])
    for one in made["trials"]:
        one["phases"]["compress"] = {"seconds": 0.25}
    [load] = cells.workloads([read_record(made)])
    assert list(load.cells[0].phases) == ["create", "post", "close", "compress"]
    assert load.cells[0].phases["compress"] == 0.25


def test_several_results_are_told_apart_and_those_of_one_are_launches(tmp_path):
    paths = [write_records(tmp_path / f"{name}.jsonl", [record([1.0]), record([2.0])]) for name in ("mon", "tue")]
    [load] = cells.workloads(records.read(paths, tell_apart=True).records)
    assert [cell.label for cell in load.cells] == [f"pnetcdf-varn, results={path}" for path in paths]
    assert [cell.seconds for cell in load.cells] == [[1.0, 2.0]] * 2
    [load] = cells.workloads(records.read(paths).records)
    assert [cell.seconds for cell in load.cells] == [[1.0, 2.0] * 2] and load.cells[0].label == "pnetcdf-varn"


@pytest.mark.parametrize("name", ["build", "MPI", "HDF5", "program", "results", "mount", "ranks", "nodes", "pnetcdf_x"])
def test_a_variable_of_any_name_makes_cells_and_hides_nothing(name):
    made = [read_record(record([1.0], study={"environment": {name: value}})) for value in ("one", "two")]
    [load] = cells.workloads(made)
    assert [cell.label for cell in load.cells] == [f"pnetcdf-varn, {name}={value}" for value in ("one", "two")]
    assert {cell.attributes["ranks"] for cell in load.cells} == {"2"}


@pytest.mark.parametrize("text", ["²", "9" * 5000, "٣"])
def test_a_setting_that_is_no_number_is_shown_as_it_is(text):
    [load] = cells.workloads([read_record(record([1.0], pattern__settings={"bytes": text}))])
    assert text in load.subtitle


def test_numbers_have_three_digits_that_count():
    assert [units.three_digits(value) for value in (0.0995, 0.01234, 0.009999, 1e-6, 9.54e-7)] == [
        "0.10", "0.0123", "0.0100", "0.00000100", "9.54e-07"]
    assert units.rate(1000) == "0.000954 MiB/s" and units.rate(1) == "9.54e-07 MiB/s"


def test_control_characters_of_names_reach_no_terminal():
    [load] = cells.workloads([read_record(record([1.0], method="a\x1b[2Jb", pattern__name="p\nq", pattern__settings={}))])
    assert load.cells[0].label == "a\\x1b[2Jb" and load.title == "Writing p\\nq"
    console = Terminal(file=io.StringIO())
    console.say("a line with a \x1b[2J\nand another")
    assert console.file.getvalue() == "a line with a \\x1b[2J\nand another\n"


def test_a_limit_belongs_to_the_pattern_beside_which_it_was_measured(tmp_path):
    limit = record([0.2], method="posix", pattern__name="bound", pattern__settings={"of": "decomposition"})
    other = record([4.0], pattern__settings={"map": "g.nc", "variables": "1"}, started="2026-01-03T00:00:00.000Z")
    loads = cells.workloads(records.read([write_records(tmp_path / "r.jsonl", [record([1.0]), limit, other])]).records)
    assert [(len(load.cells), len(load.bounds)) for load in loads] == [(1, 1), (1, 0)]


def test_every_record_that_the_programs_write_can_be_read(run, small_map, tmp_path):
    path = tmp_path / "records.jsonl"
    how = ["--method", "posix,mpiio-collective,hdf5-union", "--min-trials", "6", "--max-trials", "6"]
    run("slabmark bench", ["decomp", "--map", small_map, *how, "-d", tmp_path, "--json", path], ranks=2).check_returncode()
    [load] = cells.workloads(records.read([path]).records)
    assert len(load.cells) == 3 and len(load.bounds) == 2
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for cell in load.all_cells:
        assert cell.first.method_summary
        summary = lines[cell.first.line - 1]["summary"]
        seconds, rates = (summary["open_to_close"][name] for name in ("seconds", "bytes_per_second"))
        ours = cell.summary
        assert [ours.median, ours.low, ours.high] == [seconds[name] for name in ("median", "low", "high")]
        assert ours.outliers == tuple(seconds["outliers"])
        assert cell.rate == pytest.approx(tuple(rates[name] for name in ("median", "low", "high")))
        assert cell.phases == {name: summary["phases"][name]["median"] for name in cell.phases}
        if not cell.is_bound:
            assert cell.share == pytest.approx(min(bound["share"] for bound in lines[cell.first.line - 1]["bounds"]))


def test_the_records_of_slice_eval_are_a_workload_a_slice_beside_its_limit(run, tmp_path):
    path = tmp_path / "records.jsonl"
    given = ["--grid", "24,20,12", "--stride", "2,2,1", "--outputs", "6", "--sweep", "0", "-m", "append,files,gatherv"]
    run("slice_eval", [*given, "-o", tmp_path, "--json", path], ranks=2).check_returncode()
    loads = cells.workloads(records.read([path]).records)
    assert [load.cells[0].first.pattern["settings"]["stride"] for load in loads] == ["1,1,1", "2,2,1"]
    for load in loads:
        assert {cell.method for cell in load.cells} == {"append", "files", "gatherv"}
        for cell in load.cells:
            assert len(cell.seconds) == 6 and list(cell.phases) == ["post", "flush"]
            assert (cell.bound is None) == (cell.method == "gatherv")


def test_what_is_measured_on_a_guess_is_called_one_and_a_pattern_file_is_known_by_its_name():
    settings = lambda folder, more: {"pattern": f"{folder}/run.pattern", **more}
    made = lambda folder, **more: read_record(record([1.0], pattern__name="captured", pattern__settings=settings(folder, more)))
    [load] = cells.workloads([made("a"), made("b")])
    assert load.title == "Writing run.pattern" and len(load.cells[0].records) == 2
    [load] = cells.workloads([made("a", guess="Darshan counted.")])
    assert load.title == "Writing run.pattern (a guess)" and "guess Darshan counted." in load.subtitle
