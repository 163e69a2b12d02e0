"""The numbers that pages state have records that agree with them. studies/results does the work."""

import json
import sys

import pytest
from conftest import TOP

sys.path.insert(0, str(TOP / "studies/results"))
import stated  # noqa: E402
import table as tables  # noqa: E402

NUMBERS = """
machine = "desk"
[machines.desk]
about = "a desk"
[run.one]
command = "studies/one"
durability = "page cache"
[[number]]
run = "one"
name = "gain"
stated = [{ page = "README.md", line = "it gains", text = "5.0 [4.0, 6.0]" }]
[page."README.md"]
machine = "desk"
"""


def measured(*values, unit="times"):
    return tables.measurement({"name": "gain", "unit": unit, "values": list(values)})


@pytest.fixture
def small(tmp_path):
    """A checkout with one page, one number and one run, and a function that gives the number a record."""
    (tmp_path / "docs/results/records/desk").mkdir(parents=True)
    (tmp_path / "docs/results/numbers.toml").write_text(NUMBERS)
    (tmp_path / "README.md").write_text("# A\n\nHere it gains 5.0 [4.0, 6.0].\n")

    def record(*values):
        where = {"cpu": "c", "cores": 1, "memory_bytes": 1, "kernel": "k", "slabmark": "s", "compiler": "g", "mpi": "m", "mpi_io": "r",
                 "hdf5": "h", "pnetcdf": "p", "file_system": "ext4"}
        content = {"run": "one", "command": "studies/one", "durability": "page cache", "started": "2026-01-01T00:00:00Z", "seconds": 1,
                   "environment": where, "absent": [], "measurements": [measured(*values)]}
        (tmp_path / "docs/results/records/desk/one.json").write_text(json.dumps(content))
        return tables.Table(tmp_path)

    tables.list_stated(tables.Table(tmp_path))
    return tmp_path, record


@pytest.mark.fast
def test_pages_state_what_records_have():
    assert tables.check(tables.Table(TOP)) == []


@pytest.mark.parametrize("values, low, high, kind", [
    ([3, 1, 2], 1, 3, "range"),
    ([1, 2, 3, 4, 5, 6], 1, 6, "95 %"),
    (range(1, 10), 2, 8, "95 %"),
    (range(1, 12), 2, 10, "95 %"),
])
def test_intervals_are_those_of_the_median(values, low, high, kind):
    assert tables.interval(values) == (low, high, kind)


@pytest.mark.parametrize("text, values, true", [
    ("5.0 [4.0, 6.0]", [5.5], True),
    ("5.0 [4.0, 6.0]", [7, 7, 4.9], True),   # the stated median lies in the measured range
    ("5.0 [4.0, 6.0]", [6.1, 6.2, 6.3], False),
    ("5.0", [5.4], True),
    ("5.0", [5.6], False),
    ("1,200", [1200], True),
])
def test_a_number_holds_within_its_interval(text, values, true):
    assert tables.holds(text, measured(*values)) is true


def test_milliseconds_are_compared_with_seconds():
    assert tables.holds("51 ms", measured(0.052, unit="s"))
    assert tables.restate("51 ms", measured(0.0623, unit="s")) == "62 ms"


def test_a_contradicted_number_is_found_and_restated(small):
    top, record = small
    table = record(9.04, 8, 10)
    assert [line for line in tables.untrue(table) if "no longer true" in line and "README.md:3" in line and "9.0 [8.0, 10.0]" in line]
    tables.update(table)
    tables.list_stated(tables.Table(top))
    assert "it gains 9.0 [8.0, 10.0]." in (top / "README.md").read_text()
    assert tables.check(tables.Table(top)) == []


def test_a_number_that_moved_is_found(small):
    top, _ = small
    (top / "README.md").write_text("# A\n\nIt loses 5.0 [4.0, 6.0].\n")
    assert "does not state" in " ".join(tables.check(tables.Table(top)))


@pytest.mark.parametrize("page, words", [
    ("# A\n\nHere it gains 5.0 [4.0, 6.0], within 3 s.\n", "states 3 s"),
    ("# A\n\nNothing.\n", "no longer states 5.0 [4.0, 6.0]"),
    ("# A\n\nHere it gains 5.0 [4.0, 6.0].\n\n## B\n\nAnd 4 times.\n", "'B': states 4 times"),
])
def test_numbers_that_no_record_has_are_found(small, page, words):
    top, _ = small
    (top / "README.md").write_text(page)
    assert words in " ".join(tables.check(tables.Table(top)))


def test_a_page_of_other_records_is_found(small):
    top, record = small
    assert [line for line in tables.check(record(5)) if "is not the page of the records" in line]
    tables.write_page(top)
    assert tables.check(tables.Table(top)) == []
    assert "| gain | 5 | [5, 5] range | times | 1 |" in (top / tables.GENERATED).read_text()


def test_numbers_are_found_outside_of_code():
    page = "# T\n\nIt takes 3 to 4 s, `5 s`, 1,024 times.\n\n    7 s\n\n| a | b |\n|---|---|\n| 1 x 2 | 0.5 [0.4, 0.6] |\n"
    ((heading, _, lines),) = [part for part in stated.sections(page) if part[0]]
    assert heading == "T"
    assert stated.numbers_of(lines, results_page=False) == ["3 to 4 s", "1,024 times", "0.5 [0.4, 0.6]"]
    assert stated.numbers_of(lines, results_page=True)[-1] == "0.5 [0.4, 0.6]"
