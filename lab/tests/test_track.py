"""slabmark track: a store that loses nothing and takes nothing twice, verdicts on simulated nights, the page, the gates."""

import datetime
import html
import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from xml.etree import ElementTree

import numpy
import pytest
from conftest import LAB, record, write_records
from prometheus_client.openmetrics import parser
from slabmark import command_line
from slabmark.gates import Case, junit
from slabmark.track import changes, store
from test_report import Page, browser, needs_browser

METHODS = ("pnetcdf-varn", "hdf5-union")
FIRST = datetime.datetime(2026, 1, 1, 1, tzinfo=datetime.UTC)
UPGRADE = {"hdf5": "2.3.0", "pnetcdf": "1.12.3"}


def night(number, ratio=1.0, methods=METHODS, launches=6, seed=2, **more):
    """Records of a night: launches of three trials with 5 % noise from launch to launch."""
    made = []
    for method in methods:
        generator = numpy.random.default_rng((seed, number, METHODS.index(method)))
        slow = ratio if method == METHODS[1] else 1.0
        for launch in range(launches):
            level = slow * generator.lognormal(0, 0.05)
            started = (FIRST + datetime.timedelta(days=number, minutes=10 * launch)).isoformat()
            seconds = [float(level * generator.lognormal(0, 0.02)) for _ in range(3)]
            made.append(record(seconds, method=method, started=started, manifest__ended=started, **more))
    return made


def nights(path, first, last, *arguments, **more):
    return str(write_records(path, [one for number in range(first, last) for one in night(number, *arguments, **more)]))


def track(capsys, *arguments):
    status = command_line.main(["track", *map(str, arguments)])
    return status, capsys.readouterr()


def told(capsys, path, *arguments):
    """(exit status, the JSON of a report)"""
    status, said = track(capsys, "report", path, "-o", path.with_suffix(".html"), "--json", "-", *arguments)
    return status, json.loads(said.out)


def of(report, method):
    [cell] = [cell for cell in report["cells"] if cell["cell"].startswith(method)]
    return cell


@pytest.fixture(scope="session")
def made_year(tmp_path_factory):
    folder = tmp_path_factory.mktemp("year")
    before = nights(folder / "before.jsonl", 0, 50)
    after = nights(folder / "after.jsonl", 50, 60, 1.2, manifest__libraries=UPGRADE)
    assert command_line.main(["track", "add", str(folder / "year.db"), before, after]) == 0
    return folder


@pytest.fixture
def year(made_year, tmp_path):
    """A store of 60 nights of two cells, one of which is slower by a fifth from the 51st night on, with a new HDF5."""
    for name in ("before.jsonl", "year.db"):
        shutil.copy(made_year / name, tmp_path)
    return tmp_path / "year.db"


def rows(path, statement="SELECT count(*) FROM launch"):
    with sqlite3.connect(path) as connection:
        return connection.execute(statement).fetchall()


def test_a_change_is_told_with_its_date_its_ratio_and_what_else_changed(year, capsys):
    status, found = told(capsys, year)
    assert status == 1 and found["failed"] == ["slower"] and found["trials"] == 60 * 2 * 6 * 3
    slow, same = of(found, METHODS[1]), of(found, METHODS[0])
    assert slow["verdict"] == "slower" and same["verdict"] == "unchanged" and same["changes"] == []
    [change] = slow["changes"]
    assert change["date"] == "2026-02-20" and change["found"] <= "2026-02-24"
    assert change["ratio"]["low"] < 1.2 < change["ratio"]["high"]
    assert change["changed"] == [{"date": "2026-02-20", "what": "HDF5", "before": "2.2.0", "after": "2.3.0"}]
    assert change["phase"]["name"] == "post" and change["limit_ratio"]["median"] == 1
    status, said = track(capsys, "report", year, "-o", year.with_suffix(".html"))
    assert status == 1 and "that day: HDF5: 2.2.0 -> 2.3.0" in said.out and "1 slower, 1 unchanged" in said.out


@pytest.mark.parametrize(
    "what, more",
    [
        ("MPI", {"manifest__mpi": "Open MPI v5.0.7"}),
        ("kernel", {"manifest__kernel": "Linux 7"}),
        (
            "mount options",
            {
                "manifest__output": {
                    "path": "/s",
                    "mount_point": "/scratch",
                    "type": "lustre",
                    "source": "x",
                    "options": "rw,flock",
                    "lustre": {"absent": "-"},
                }
            },
        ),
        ("hint cb_nodes in effect", {"effective": {"calls": {}, "hints": {"cb_nodes": "2"}}}),
        ("hint cb_nodes", {"settings": {"options": {}, "hints": {"cb_nodes": "4"}}}),
        ("HDF5_USE_FILE_LOCKING", {"manifest__environment": {"HDF5_USE_FILE_LOCKING": "0", "SLURM_JOB_ID": "7"}}),
        ("memory", {"manifest__memory_bytes": (1 << 34) - 12345678}),
    ],
)
def test_an_upgrade_is_named_and_does_not_begin_another_cell(tmp_path, capsys, what, more):
    path = tmp_path / "s.db"
    records = (
        nights(tmp_path / "a.jsonl", 0, 30, methods=METHODS[1:]),
        nights(tmp_path / "b.jsonl", 30, 40, 1.5, methods=METHODS[1:], **more),
    )
    track(capsys, "add", path, *records)
    _, found = told(capsys, path)
    [cell] = found["cells"]
    [change] = cell["changes"]
    assert what in [one["what"] for one in change["changed"]] and "SLURM_JOB_ID" not in str(change)


def test_cells_that_differ_in_settings_and_take_turns_stay_apart_and_what_compare_refuses_does_too(tmp_path, capsys):
    path = tmp_path / "s.db"
    hints = [{"settings": {"options": {}, "hints": {"cb_nodes": str(n)}}} for n in (1, 2)]
    sizes = [hints[0] | {"manifest__memory_bytes": 1 << 36}, hints[0] | {"sync": False}]
    for number, more in enumerate(hints + sizes):
        track(capsys, "add", path, nights(tmp_path / f"{number}.jsonl", 0, 3, methods=METHODS[:1], **more))
    _, found = told(capsys, path)
    assert [cell["nights"] for cell in found["cells"]] == [3] * 4
    labels = [cell["cell"] for cell in found["cells"]]
    assert (
        len(set(labels)) == 4 and any("sync=no" in label for label in labels) and any("cb_nodes=2" in label for label in labels)
    )


def test_a_value_that_changes_nearly_every_night_is_no_news(tmp_path, capsys):
    made = [
        one
        for number in range(40)
        for one in night(
            number,
            1.3 if number >= 30 else 1.0,
            METHODS[1:],
            manifest__environment={"OMPI_MCA_x": str(number)},
            manifest__libraries=UPGRADE if number >= 30 else {"hdf5": "2.2.0"},
        )
    ]
    path = tmp_path / "s.db"
    track(capsys, "add", path, write_records(tmp_path / "r.jsonl", made))
    [change] = told(capsys, path)[1]["cells"][0]["changes"]
    assert {one["what"] for one in change["changed"]} == {"HDF5", "PnetCDF"}


def test_what_is_found_in_a_cell_does_not_depend_on_which_others_are_asked_for(tmp_path, capsys):
    """The rate of false alarms is that of all cells of the store, and so is what nights remember of those before."""
    path = tmp_path / "s.db"
    others = [{"settings": {"options": {}, "hints": {"cb_nodes": str(n)}}} for n in range(9)]
    made = [one for more in others for one in night(39, methods=METHODS[:1], launches=1, **more)]
    slow = nights(tmp_path / "slow.jsonl", 0, 40, methods=METHODS[1:], launches=1)
    track(capsys, "add", path, slow, write_records(tmp_path / "others.jsonl", made))
    asked = []
    find, changes.find = changes.find, lambda cells, probability: asked.append((len(cells), probability)) or [[] for _ in cells]
    try:
        told(capsys, path)
        told(capsys, path, "--cell", "union")
    finally:
        changes.find = find
    assert asked == [(10, changes.chance(0.5, 10))] * 2


def test_what_is_repaired_or_long_ago_fails_no_more_and_stays_in_the_history(year, tmp_path, capsys):
    track(capsys, "add", year, nights(tmp_path / "repaired.jsonl", 60, 75))
    status, found = told(capsys, year)
    assert status == 0 and of(found, METHODS[1])["verdict"] in ("same", "inconclusive")
    assert [change["verdict"] for change in of(found, METHODS[1])["changes"]] == ["slower", "faster"]


def test_a_change_is_the_new_normal_after_the_days_that_count_as_recent(year, capsys):
    status, found = told(capsys, year, "--recent", 9)
    assert status == 0 and of(found, METHODS[1])["verdict"] == "unchanged" and len(of(found, METHODS[1])["changes"]) == 1
    assert told(capsys, year, "--recent", 10)[0] == 1


def test_a_cell_that_is_not_measured_any_more_or_was_wrong_fails_as_missing(year, tmp_path, capsys):
    wrong = {"state": "no", "elements": 1, "by": "plain reader", "mismatch": "element 7 is 0"}
    path = nights(tmp_path / "more.jsonl", 60, 64, methods=METHODS[:1])
    track(capsys, "add", year, path)
    status, found = told(capsys, year, "--fail-on", "missing")
    assert status == 1 and of(found, METHODS[1])["verdict"] == "missing" and "2026-03-01" in of(found, METHODS[1])["why"]
    assert told(capsys, year, "--fail-on", "none")[0] == 0
    track(capsys, "add", year, nights(tmp_path / "wrong.jsonl", 63, 64, methods=METHODS[1:], verified=wrong))
    status, found = told(capsys, year)
    assert status == 1 and "wrong" in of(found, METHODS[1])["why"] and of(found, METHODS[1])["nights"] == 60


def test_a_change_between_the_phases_is_not_said_to_be_in_one(tmp_path, capsys):
    made = [one for number in range(40) for one in night(number)]
    for one in made[len(made) // 2 :]:
        for trial in one["trials"]:
            trial["open_to_close"] += 0.5
    assert track(capsys, "add", tmp_path / "s.db", write_records(tmp_path / "r.jsonl", made))[0] == 0
    _, said = track(capsys, "report", tmp_path / "s.db", "-o", tmp_path / "s.html")
    assert re.search(r"most of it outside of the phases: [\d.]+ ms before, [56]\d\d ms after", said.out), said.out


def test_an_empty_file_is_no_store_yet_and_stays(tmp_path, capsys):
    path = tmp_path / "s.db"
    path.touch()
    status, said = track(capsys, "query", path)
    assert status == 2 and "is empty; 'slabmark track add' fills it" in said.err and path.exists()
    assert track(capsys, "add", path, write_records(tmp_path / "r.jsonl", night(0)))[0] == 0 and rows(path) == [(12,)]


def test_a_store_of_wrong_data_only_says_so(tmp_path, capsys):
    wrong = {"state": "no", "elements": 1, "by": "plain reader", "mismatch": "element 7 is 0"}
    store_of = tmp_path / "u.db"
    track(capsys, "add", store_of, nights(tmp_path / "n.jsonl", 0, 2, verified=wrong))
    status, found = told(capsys, store_of)
    assert status == 1 and found["newest"] == "2026-01-02" and {one["verdict"] for one in found["cells"]} == {"missing"}
    assert track(capsys, "query", store_of)[0] == 0 and track(capsys, "report", store_of, "-o", tmp_path / "t.html")[0] == 1


@pytest.mark.parametrize(
    "words", [["--json", "-", "--csv", "q.csv"], ["--since", "2026-02-01", "--until", "2026-01-01"]]
)
def test_a_query_that_contradicts_itself_is_refused(year, capsys, words):
    status, said = track(capsys, "query", year, *words)
    assert status == 2 and words[0] in said.err


def test_a_variable_of_a_study_hides_nothing_of_the_environment(tmp_path, capsys):
    store_of = tmp_path / "v.db"
    study = {"environment": {"kernel": "mine", "OMPI_MCA_io": "ompio"}}
    more = {"study": study, "manifest__environment": {"OMPI_MCA_io": "ompio"}}
    track(capsys, "add", store_of, nights(tmp_path / "n.jsonl", 0, 1, **more))
    pairs = dict(sqlite3.connect(store_of).execute("SELECT name, value FROM attribute").fetchall())
    assert pairs["kernel"] == "Linux" and pairs["variable kernel"] == "mine"
    assert pairs["OMPI_MCA_io"] == "ompio" and "variable OMPI_MCA_io" not in pairs


def test_the_tolerance_makes_a_change_the_same_and_a_night_may_begin_at_noon(year, capsys):
    status, found = told(capsys, year, "--tolerance", "0.5")
    assert status == 0 and of(found, METHODS[1])["verdict"] == "same"
    _, found = told(capsys, year, "--day-starts", "12:00")
    assert of(found, METHODS[1])["changes"][0]["date"] == "2026-02-19"


def test_a_record_is_added_once_however_it_is_written(year, tmp_path, capsys):
    made = night(3)
    for one in made:
        one["study"] = {"name": "s", "launch": 1}
    again = tmp_path / "again.jsonl"
    again.write_text(
        "".join(json.dumps(dict(reversed(one.items())), indent=None, separators=(" ,", ":  ")) + "\n" for one in made)
    )
    before = rows(year)
    status, said = track(capsys, "add", year, again, tmp_path / "before.jsonl")
    assert status == 0 and rows(year) == before and "0 launches added; 612 were there" in said.out


def test_what_cannot_be_kept_is_named_and_the_rest_is_kept(tmp_path, capsys):
    made = [*night(0), record([1.0], started=None), record([], trials=[]), record([1.0], method="x", unsupported="no", trials=[])]
    made += [record([0.2], method="posix", pattern__name="bound")]
    wrong = {"rank": 1, "host": "n1", "rate": 2.0, "against": "its realtime clock"}
    made += [record([1.0], method="y", manifest__clocks={"seconds": 1.0, "disagreement": wrong})]
    path = write_records(tmp_path / "r.jsonl", made)
    with open(path, "a") as file:
        file.write('{"slabmark_record": 9}\n{"slabmark_rec')
    status, said = track(capsys, "add", tmp_path / "s.db", path)
    assert status == 0 and rows(tmp_path / "s.db") == [(12,)] and "5 lines skipped" in said.out
    assert "does not say when" in said.out and "version 9" in said.out and "line 19" in said.out
    assert "the clock of rank 1 on n1 runs 2 times as fast" in said.out


def python(code, *arguments, **more):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": str(LAB)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
    )


ADD = "import sys; from slabmark import command_line; sys.exit(command_line.main(['track', 'add', *sys.argv[1:]]))"
KILLED = """
import os, signal, sys
from slabmark import command_line
from slabmark.track import command, store
command.BATCH, add = 40, store.Store._add
calls = iter(range(10**6))
def _add(self, launch):
    if next(calls) == 100:
        self.connection.execute("PRAGMA cache_spill = 1")
        os.kill(os.getpid(), signal.SIGKILL)
    return add(self, launch)
store.Store._add = _add
command_line.main(["track", "add", *sys.argv[1:]])
"""


@pytest.mark.long
def test_writers_at_the_same_time_lose_nothing_and_take_nothing_twice(tmp_path):
    files = [nights(tmp_path / f"{number}.jsonl", 5 * number, 5 * number + 8) for number in range(4)]
    path = tmp_path / "s.db"
    writers = [python(ADD, path, file) for file in files]
    for writer in writers:
        assert writer.wait(120) == 0, writer.communicate()
    assert rows(path) == [(23 * 12,)] and rows(path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.long
def test_a_killed_writer_leaves_whole_transactions_and_the_same_command_goes_on(tmp_path, capsys):
    path, file = tmp_path / "s.db", nights(tmp_path / "r.jsonl", 0, 20)
    killed = python(KILLED, path, file)
    assert killed.wait(120) == -signal.SIGKILL, killed.communicate()
    status, found = told(capsys, path, "--fail-on", "none")
    assert status == 0 and found["launches"] == 80
    assert track(capsys, "add", path, file)[0] == 0
    assert rows(path) == [(240,)] and rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_a_copy_is_whole_while_another_writes(year, tmp_path, capsys):
    with store.opened(year) as writer:
        writer.connection.execute("BEGIN IMMEDIATE")
        writer.connection.execute("DELETE FROM launch")
        assert track(capsys, "copy", year, tmp_path / "laptop.db")[0] == 0
        writer.connection.execute("ROLLBACK")
    assert rows(tmp_path / "laptop.db") == [(720,)]
    assert track(capsys, "copy", year, tmp_path / "laptop.db")[0] == 0, "an earlier copy is replaced"
    (tmp_path / "thesis").write_text("mine")
    assert track(capsys, "copy", year, tmp_path / "thesis")[0] == 2 and (tmp_path / "thesis").read_text() == "mine"
    assert track(capsys, "copy", year, year)[0] == 2
    assert not list(tmp_path.glob(".slabmark-*"))


def test_what_is_pruned_stays_away_and_medians_may_stay(year, tmp_path, capsys):
    _, whole = told(capsys, year)
    assert "120 launches" in track(capsys, "prune", year, "--before", "2026-01-11", "--dry-run")[1].out
    assert rows(year) == [(720,)]
    size = year.stat().st_size
    track(capsys, "prune", year, "--before", "2026-01-21", "--trials-only")
    status, found = told(capsys, year)
    assert status == 1 and found["trials"] == whole["trials"] - 20 * 36 and of(found, METHODS[1])["nights"] == 60
    track(capsys, "prune", year, "--before", "2026-01-11")
    assert rows(year) == [(600,)] and year.stat().st_size < size
    assert "120 were there, or were pruned, already" in track(capsys, "add", year, nights(tmp_path / "o.jsonl", 0, 10))[1].out
    assert rows(year) == [(600,)]


def test_what_is_no_store_is_left_alone_with_a_sentence(year, tmp_path, capsys):
    good = write_records(tmp_path / "good.jsonl", night(0))
    (tmp_path / "text.db").write_text("mine")
    for name, change in (
        ("foreign.db", "CREATE TABLE mine (x)"),
        ("newer.db", "PRAGMA user_version = 9"),
        ("torn.db", "DROP TABLE launch"),
    ):
        if name != "foreign.db":
            (tmp_path / name).write_bytes(year.read_bytes())
        with sqlite3.connect(tmp_path / name) as connection:
            connection.execute(change)
    (tmp_path / "cut.db").write_bytes(year.read_bytes()[:20000])
    os.mkfifo(tmp_path / "pipe.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "nowhere")
    names = ["text.db", "foreign.db", "newer.db", "torn.db", "cut.db", "pipe.db", "link.db", "no/folder.db", "."]
    for name in names:
        path = tmp_path / name
        before = path.read_bytes() if path.is_file() else None
        commands = [
            ["add", path, good],
            ["report", path, "-o", tmp_path / "p.html"],
            ["query", path],
            ["prune", path, "--before", "2027-01-01"],
            ["copy", path, tmp_path / "copy.db"],
        ]
        for words in commands:
            status, said = track(capsys, *words)
            assert status == 2 and said.err.startswith("slabmark: error: ") and said.err.count("\n") == 1, (words, said)
            assert "Internal" not in said.err and not (tmp_path / "p.html").exists() and not (tmp_path / "copy.db").exists()
        assert before is None or path.read_bytes() == before
    assert "version 9" in track(capsys, "query", tmp_path / "newer.db")[1].err
    assert not (tmp_path / "nowhere").exists() and stat.S_ISFIFO((tmp_path / "pipe.db").stat().st_mode)


def test_nothing_is_made_of_what_holds_no_record_or_in_a_place_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "text.jsonl").write_text("no record\n")
    failure = {"slabmark_failure": 1, "cell": "f", "cell_id": "x", "launch": 2, "command": "x", "status": 1, "reason": "x"}
    failed = write_records(tmp_path / "failures.jsonl", [failure])
    for name in ("text.jsonl", "failures.jsonl", "absent.jsonl"):
        status, said = track(capsys, "add", tmp_path / "s.db", tmp_path / name)
        assert status == 2 and not (tmp_path / "s.db").exists(), said
    status, said = track(capsys, "add", "/proc/s.db", write_records(tmp_path / "r.jsonl", night(0)))
    assert status == 2 and "cannot be written or made here" in said.err
    assert track(capsys, "query", tmp_path / "s.db")[0] == 2 and failed.exists()


@pytest.mark.long
def test_a_full_disk_is_status_1_and_what_was_there_stays(year, tmp_path, capsys):
    before = rows(year)
    more = nights(tmp_path / "more.jsonl", 100, 160)
    limited = f'ulimit -f {year.stat().st_size // 1024 + 16}; trap "" XFSZ; exec "$@"'
    surroundings = os.environ | {"PYTHONPATH": str(LAB)}
    command = ["bash", "-c", limited, "bash", sys.executable, "-m", "slabmark", "track", "add", str(year), more]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "could not be read or written" in done.stderr, done
    assert rows(year) == before and rows(year, "PRAGMA integrity_check") == [("ok",)]
    new = tmp_path / "new.db"
    tight = ["bash", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "bash", *command[4:9], str(new), more]
    assert subprocess.run(tight, env=surroundings, capture_output=True).returncode == 1 and not new.exists()


@pytest.mark.parametrize("words", [["--before", "tomorrow"], ["--before", "2026-13-01"], []])
def test_dates_that_are_none_are_named(year, capsys, words):
    status, said = track(capsys, "prune", year, *words)
    assert status == 2 and ("date" in said.err or "--before" in said.err) and rows(year) == [(720,)]


def test_a_query_prints_what_was_put_in_to_the_last_digit(year, tmp_path, capsys):
    status, said = track(capsys, "query", year, "trials", "--json", "-", "--since", "2026-01-02", "--until", "2026-01-02")
    found = [json.loads(line) for line in said.out.splitlines()]
    expected = [trial["open_to_close"] for one in night(1) for trial in one["trials"] if not trial["warm_up"]]
    assert sorted(row["open_to_close_seconds"] for row in found) == sorted(expected)
    assert {row["hosts"] for row in found} == {"node1"} and found[0]["post_seconds"] == 0.7 * found[0]["open_to_close_seconds"]
    for what, many in (("cells", 2), ("nights", 120), ("changes", 1)):
        assert track(capsys, "query", year, what, "--csv", tmp_path / "t.csv")[0] == 0
        assert len((tmp_path / "t.csv").read_text().splitlines()) == many + 1
        assert track(capsys, "query", year, what)[0] == 0
    assert track(capsys, "query", year, "--cell", "varn", "--json", "-")[1].out.count("\n") == 1
    assert track(capsys, "query", year, "--cell", "nosuch")[0] == 2
    (tmp_path / "mine.csv").write_text("mine")
    assert track(capsys, "query", year, "--csv", tmp_path / "mine.csv")[0] == 2


def test_junit_and_openmetrics_say_what_the_report_says(year, tmp_path, capsys):
    options = ["--junit", tmp_path / "t.xml", "--openmetrics", tmp_path / "t.txt"]
    assert told(capsys, year, *options)[0] == 1
    check_junit(tmp_path / "t.xml", tests=2, failures=1, skipped=0)
    [failure] = ElementTree.parse(tmp_path / "t.xml").iter("failure")
    assert failure.get("type") == "slower" and "HDF5: 2.2.0 -> 2.3.0" in failure.text
    samples = check_openmetrics(tmp_path / "t.txt")
    assert (
        samples[
            'slabmark_track_verdict{cell="hdf5-union, 2 ranks",slabmark_track_verdict="slower",workload="Writing 3 variables on f.nc"}'
        ]
        == 1
    )
    assert told(capsys, year, *options)[0] == 1, "its own files are written over"
    twice = ["--junit", tmp_path / "new.html", "--openmetrics", tmp_path / "t.txt"]
    assert track(capsys, "report", year, "-o", tmp_path / "new.html", *twice)[0] == 2 and not (tmp_path / "new.html").exists()
    (tmp_path / "t.xml").write_text("mine")
    assert (
        track(capsys, "report", year, "-o", tmp_path / "other.html", *options)[0] == 2 and not (tmp_path / "other.html").exists()
    )


def test_compare_writes_both_too_and_names_of_any_kind_break_neither(tmp_path, capsys):
    odd = 'a"b\\c\n<d>&\x1b\uffff'
    sides = []
    for name, ratio in (("base", 1.0), ("new", 2.0)):
        made = [record([ratio * (1 + n / 100)] * 3, method=method) for n in range(8) for method in (odd, METHODS[0])]
        made += [record([1.0] * 6, method="gone")] * (name == "base")
        sides.append(str(write_records(tmp_path / f"{name}.jsonl", made)))
    options = ["--junit", str(tmp_path / "c.xml"), "--openmetrics", str(tmp_path / "c.txt")]
    assert command_line.main(["compare", *sides, *options]) == 1
    check_junit(tmp_path / "c.xml", tests=3, failures=3, skipped=0)
    samples = check_openmetrics(tmp_path / "c.txt")
    assert len([name for name, value in samples.items() if 'verdict="slower"' in name and value == 1]) == 2
    assert command_line.main(["compare", *sides, *options, "--fail-on", "slower"]) == 1
    check_junit(tmp_path / "c.xml", tests=3, failures=2, skipped=1)
    assert command_line.main(["compare", *sides, "--junit", sides[0]]) == 2


def test_no_text_breaks_junit(tmp_path):
    odd = '\x00\x1b\n\udcff\uffff\u202e<&"]]>'
    (tmp_path / "t.xml").write_bytes(
        junit.xml(odd, [Case(odd, odd, None, odd, odd, outcome) for outcome in ("failed", "skipped", "passed")])
    )
    check_junit(tmp_path / "t.xml", tests=3, failures=1, skipped=1)


def test_junit_sums_times_of_microseconds(tmp_path):
    cases = [Case("w", cell, 12e-6, "same", "", "passed") for cell in ("a", "b")]
    suite = ElementTree.fromstring(junit.xml("compare", cases)).find("testsuite")
    assert [suite.get("time"), *(case.get("time") for case in suite)] == ["0.000024000", "0.000012000", "0.000012000"]


def check_junit(path, tests, failures, skipped):
    """As the schema of Jenkins' xUnit plugin has it: counts that add up, names, and one outcome a case."""
    top = ElementTree.parse(path).getroot()
    assert top.tag == "testsuites" and {suite.tag for suite in top} == {"testsuite"}
    for element in (top, *top):
        cases = list(element.iter("testcase"))
        counts = [len(cases), *(sum(case.find(name) is not None for case in cases) for name in ("failure", "error", "skipped"))]
        assert [int(element.get(name)) for name in ("tests", "failures", "errors", "skipped")] == counts
        assert element.get("name") and float(element.get("time")) >= 0
    cases = list(top.iter("testcase"))
    assert all(case.get("name") and case.get("classname") and float(case.get("time")) >= 0 and len(case) == 1 for case in cases)
    assert (len(cases), int(top.get("failures")), int(top.get("skipped"))) == (tests, failures, skipped)


def check_openmetrics(path):
    """{sample: value}, as the specification (1.0) has it, and as Prometheus' own parser reads it."""
    text = path.read_text()
    lines = text.split("\n")
    assert lines[-2:] == ["# EOF", ""] and "" not in lines[:-1]
    family, seen, samples = None, [], {}
    for line in lines[:-2]:
        if line.startswith("# "):
            _, what, name, value = line.split(" ", 3)
            if name != family:
                assert name not in seen, "a family stands in one place"
                family = name
                seen.append(name)
            assert what != "TYPE" or value in ("gauge", "stateset")
            assert what != "UNIT" or name.endswith(f"_{value}")
        else:
            label = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
            assert re.fullmatch(rf"{family}\{{{label}(?:,{label})*\}} -?[0-9.e+-]+", line), line
            name, value = line.rsplit(" ", 1)
            assert name not in samples
            samples[name] = float(value)
    assert sum(len(family.samples) for family in parser.text_string_to_metric_families(text)) == len(samples)
    return samples


def test_the_page_stands_alone_and_names_cannot_break_it(tmp_path, capsys):
    made = [one for number in range(20) for one in night(number, methods=METHODS[:1])]
    for one in made:
        one["method"] = "</script><script>alert(1)</script>"
        one["manifest"]["kernel"] = "<!--<script>"
    path = tmp_path / "s.db"
    track(capsys, "add", path, write_records(tmp_path / "r.jsonl", made))
    assert track(capsys, "report", path, "-o", tmp_path / "p.html", "--title", "<b>")[0] == 0
    text = (tmp_path / "p.html").read_text()
    page = Page(text)
    assert text.count("<script") == 2 == text.count("</script>") and "<!--" not in text and "<b>&" not in text
    assert all(address.startswith("#") for address in page.loaded) and not re.search(r"url\((?!#)|@import", text)
    anchors = re.findall(r'href="#([^"]*)"', text)
    assert set(anchors) <= set(page.ids) and len(page.ids) == len(set(page.ids))
    assert text.count("<table") == text.count("<caption>")


def test_a_title_or_a_page_may_begin_with_a_dash(year, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["report", "--track", str(year), "--title=-x", "-o=-g.html"]) in (0, 1), capsys.readouterr()
    assert "<h1>-x" in (tmp_path / "-g.html").read_text()


def test_a_link_to_nothing_is_called_one(tmp_path, capsys):
    (tmp_path / "dn.db").symlink_to("absent.db")
    assert "is a link to 'absent.db'" in track(capsys, "query", tmp_path / "dn.db")[1].err


def test_report_makes_the_same_page(year, tmp_path, capsys):
    track(capsys, "report", year, "-o", tmp_path / "one.html")
    assert command_line.main(["report", "--track", str(year), "-o", str(tmp_path / "other.html")]) == 1
    assert (tmp_path / "one.html").read_text() == (tmp_path / "other.html").read_text()


def test_the_page_has_a_chart_a_cell_with_its_changes_and_a_line_a_change(year, capsys):
    told(capsys, year)
    text = year.with_suffix(".html").read_text()
    assert text.count('role="slider"') == 2 and len(re.findall('class="change slower"', text)) == 1
    assert [len(re.findall("M", dots)) for dots in re.findall('class="dots" d="(.*?)"', text)] == [60, 60]
    page = Page(text)
    [row] = [row for row in page.rows if len(row) == 6 and row[4] == "slower"]
    assert row[0] == "2026-02-20" and "HDF5: 2.2.0 → 2.3.0" in row[5]
    assert "1 slower, 1 unchanged." in page.texts


PROBE = """<script>window.onload = () => {
  const chart = document.querySelector('.chart'), box = chart.getBoundingClientRect(), out = {};
  chart.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.left + box.width * 0.5, clientY: box.top + 5}));
  const panel = () => document.querySelector('.night');
  out.clicked = panel().querySelector('h5').textContent;
  chart.focus();
  out.focused = document.activeElement === chart;
  const press = (key) => chart.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  press('Home'); out.first = panel().querySelector('h5').textContent;
  press('ArrowRight'); out.second = panel().querySelector('h5').textContent;
  out.trials = [...panel().querySelectorAll('li')].map((li) => li.textContent);
  out.value = chart.getAttribute('aria-valuetext');
  press('End'); press('ArrowLeft');
  for (let i = 0; i < 8; ++i) press('ArrowLeft');
  out.changed = panel().textContent;
  out.boxes = [...document.querySelectorAll('.chart svg')].map((svg) => [svg.getBoundingClientRect().width, svg.getBoundingClientRect().height]);
  out.wide = document.documentElement.scrollWidth > window.innerWidth;
  out.paper = getComputedStyle(document.body).backgroundColor;
  document.title = JSON.stringify(out); };</script>"""


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize("width, dark", [(500, False), (1200, True)])  # headless Chromium has no narrower window
def test_a_real_browser_shows_a_nights_trials_by_click_and_by_keys(year, tmp_path, capsys, width, dark):
    _, found = told(capsys, year)
    text = year.with_suffix(".html").read_text()
    (tmp_path / "report.html").write_text(text.replace("</body>", PROBE + "</body>"))
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    done = browser(tmp_path, f"--window-size={width},900", scheme, "--dump-dom")
    out = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", done.stdout.decode(), re.S).group(1)))
    assert out["focused"] and out["first"].startswith("2026-01-01: ") and out["second"].startswith("2026-01-02: ")
    assert out["clicked"][:7] in ("2026-01", "2026-02") and out["value"] in out["second"]
    slow = [one for one in night(1) if one["method"] == METHODS[1]]  # the worst stands first
    for line, one in zip(out["trials"], slow, strict=True):
        shown = [float(word.split()[0]) * {"ms": 1e-3, "s": 1}[word.split()[1]] for word in line.split(": ")[1].split(", ")]
        assert shown == pytest.approx([trial["open_to_close"] for trial in one["trials"][1:]], rel=0.01)
    assert "HDF5: 2.2.0 → 2.3.0" in out["changed"] and "2026-02-20" in out["changed"]
    assert not out["wide"] and all(w > 300 and h > 60 for w, h in out["boxes"])
    assert out["paper"] == ("rgb(20, 25, 30)" if dark else "rgb(255, 255, 255)")


@pytest.mark.long
def test_the_nightly_line_of_the_documentation_makes_a_page_and_a_failing_status(tmp_path):
    """The line of cron as it is documented, run after each of some simulated nights; `sweep` is stood in for."""
    text = (LAB.parent / "docs/how-to/track-nights.md").read_text()
    [line] = re.findall(r"^    30 1 \* \* \* (.*)$", text, re.M)
    (tmp_path / "bin").mkdir()
    slabmark = tmp_path / "bin" / "slabmark"
    slabmark.write_text(
        f'#!/bin/sh\n[ "$1" = sweep ] && {{ mkdir -p "$4" && cp "$HOME/tonight.jsonl" "$4/records.jsonl"; exit; }}\n'
        f'PYTHONPATH={LAB} exec {sys.executable} -m slabmark "$@"\n'
    )
    slabmark.chmod(0o755)
    (tmp_path / "slabmark").mkdir()
    surroundings = os.environ | {"HOME": str(tmp_path), "PATH": f"{slabmark.parent}:{os.environ['PATH']}"}
    statuses = []
    for first, last, ratio in ((0, 20, 1.0), (20, 21, 1.5), (21, 25, 1.5)):
        nights(tmp_path / "tonight.jsonl", first, last, ratio)
        done = subprocess.run(["sh", "-c", line.replace("\\%", "%")], env=surroundings, capture_output=True, text=True)
        statuses.append(done.returncode)
        assert "Traceback" not in done.stderr
    assert statuses == [0, 0, 1]
    page = (tmp_path / "slabmark" / "track.html").read_text()
    assert "1 slower, 1 unchanged." in page
    check_junit(tmp_path / "slabmark" / "track.xml", tests=2, failures=1, skipped=0)
