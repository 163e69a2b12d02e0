"""slabmark report: the page tells what the records hold, whole and alone, also in a real browser."""

import csv
import html.parser
import json
import os
import random
import re
import shutil
import subprocess
import sys

import pytest
from conftest import LAB, noise, record, write_records
from slabmark import command_line, units

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


class Page(html.parser.HTMLParser):
    """Rows of all tables, the text, and every address that a browser would load."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.texts, self.loaded, self.ids = [], [], [], []
        self.cell = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.cell = True
        self.loaded += [attributes[name] for name in ("src", "href", "xlink:href") if attributes.get(name)]
        if "id" in attributes:
            self.ids.append(attributes["id"])

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = False

    def handle_data(self, data):
        self.texts.append(data)
        if self.cell:
            self.rows[-1][-1] += data

    def row(self, label):
        [found] = [row for row in self.rows if row and row[0].strip() == label and len(row) == 9]
        return [cell.strip() for cell in found]


@pytest.fixture
def results(tmp_path):
    generator = random.Random(1)
    made = []
    for method, scale in (("pnetcdf-varn", 1.0), ("hdf5-union", 2.0), ("mpiio-collective", 40.0)):
        notes = ["The hint cb_nodes is 1 and not 4."] if method == "hdf5-union" else []
        for ranks in (2, 4):
            effective = {"hints": {"cb_nodes": "1"}, "notes": notes}
            made.append(record(noise(generator, 8, scale / ranks), method=method, ranks=ranks, effective=effective))
    made.append(record([], method="hdf5-points", unsupported="It has too many points.", trials=[]))
    return write_records(tmp_path / "records.jsonl", made)


def report(tmp_path, *arguments):
    words = ["report", *arguments, "-o", tmp_path / "report.html", "--csv-dir", tmp_path / "csv", "--png-dir", tmp_path / "png"]
    assert command_line.main([str(word) for word in words]) == 0
    return (tmp_path / "report.html").read_text()


def report_of(tmp_path, *made):
    return report(tmp_path, write_records(tmp_path / "r.jsonl", made))


def test_the_figures_of_the_page_equal_those_of_the_records(results, tmp_path):
    page = Page(report(tmp_path, results))
    for line in results.read_text().splitlines():
        made = json.loads(line)
        if made["unsupported"]:
            continue
        seconds = sorted(trial["open_to_close"] for trial in made["trials"] if not trial["warm_up"])
        median = (seconds[3] + seconds[4]) / 2
        row = page.row(f"{made['method']}, {made['pattern']['ranks']} ranks")
        assert row[1] == units.seconds(median)
        assert row[2] == f"{units.seconds(seconds[0])} – {units.seconds(seconds[7])}"
        assert row[3] == units.rate(2**20 / median)
        assert row[4] == units.percent(0.25 / median)
        assert row[6:] == ["1.25", "8", "yes"]


def test_the_tables_hold_every_trial_to_the_last_digit(results, tmp_path):
    report(tmp_path, results)
    with open(tmp_path / "csv" / "trials.csv") as file:
        table = sorted(float(row["open_to_close_seconds"]) for row in csv.DictReader(file))
    assert table == sorted(
        trial["open_to_close"] for line in results.read_text().splitlines() for trial in json.loads(line)["trials"]
    )
    with open(tmp_path / "csv" / "cells.csv") as file:
        assert len(list(csv.DictReader(file))) == 6


@pytest.mark.long
def test_every_trial_is_a_dot(results, tmp_path):
    text = report(tmp_path, results)
    first_panel = re.search(r'<g id="axes_1">.*?<g id="axes_2">', text, re.S).group(0)
    assert first_panel.count("<use ") >= 6 * 8


def test_the_page_stands_alone(results, tmp_path):
    text = report(tmp_path, results)
    page = Page(text)
    assert all(address.startswith("#") for address in page.loaded)
    assert not re.search(r"url\((?!#)|@import|<script", text)
    clips = [name for name in page.ids if re.fullmatch(r"[pm][0-9a-f]{10}", name)]
    assert len(clips) == len(set(clips)), "names of one figure must not meet those of another"


def test_what_was_skipped_failed_or_not_supported_is_told(results, tmp_path):
    with open(results, "a") as file:
        file.write('{"slabmark_record": 9}\n{"slabmark_rec')
    failure = {"slabmark_failure": 1, "cell": "f, broken", "cell_id": "x", "launch": 2, "command": "x", "status": 1}
    write_records(tmp_path / "failures.jsonl", [failure | {"reason": "The disk is full."}])
    text = " ".join(Page(report(tmp_path, tmp_path)).texts)
    assert "line 8: skipped, because it is of version 9" in text and "line 9: skipped" in text
    assert "The disk is full." in text and "It has too many points." in text


def test_warnings_name_cause_and_next_step(results, tmp_path):
    text = " ".join(Page(report(tmp_path, results)).texts)
    assert "setting-not-in-effect" in text and "cb_nodes is 1 and not 4" in text
    assert "far-from-limit" in text and "slabmark advise" in text


def test_names_from_records_cannot_break_the_page(tmp_path):
    settings = {"map": "<script>alert(1)</script>.nc", "variables": "1"}
    assert "<script>alert" not in report_of(tmp_path, record([1.0] * 6, method="<b>x</b>&", pattern__settings=settings))


@pytest.mark.long
def test_a_report_is_made_again_over_an_earlier_one_and_over_nothing_else(results, tmp_path, capsys):
    before = results.read_bytes()
    report(tmp_path, results)
    report(tmp_path, results)  # its own page, figures and tables
    cases = {"thesis.html": b"<html>mine", "csv/cells.csv": b"mine", "png/rates-1.png": b"\x89PNG mine"}
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
    command = ["report", str(results), "--csv-dir", str(tmp_path / "csv"), "--png-dir", str(tmp_path / "png"), "-o"]
    fresh = str(tmp_path / "fresh.html")
    assert command_line.main([*command[:2], "-o", str(tmp_path / "thesis.html")]) == 2
    assert command_line.main([*command, fresh]) == 2
    assert not (tmp_path / "fresh.html").exists(), "all is checked before the first is written"
    for name, content in cases.items():
        assert (tmp_path / name).read_bytes() == content
    assert command_line.main([*command, fresh, "--overwrite"]) == 0
    assert (tmp_path / "csv/cells.csv").read_bytes() != b"mine"
    (tmp_path / "link").symlink_to(results)
    os.mkfifo(tmp_path / "pipe")
    for output in (results, tmp_path / "link", tmp_path / "pipe", "/dev/null", tmp_path):
        assert command_line.main(["report", str(results), "-o", str(output), "--overwrite"]) == 2
    assert results.read_bytes() == before
    assert "is one of the inputs" in capsys.readouterr().err


def test_two_outputs_of_one_name_are_refused(results, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["report", str(results), "-o", "cells.csv", "--csv-dir", "."]) == 2
    assert "two outputs" in capsys.readouterr().err and not (tmp_path / "cells.csv").exists()


@pytest.mark.parametrize("name", ["n" * 300, "a\0b"])
def test_a_map_whose_name_no_file_has_ends_no_report(tmp_path, name):
    assert report_of(tmp_path, record([1.0], pattern__settings={"map": name, "variables": "1"}))


@pytest.mark.long
def test_an_earlier_report_stays_whole_where_the_new_one_does_not_fit(results, tmp_path):
    report(tmp_path, results)
    before = (tmp_path / "report.html").read_bytes()
    command = [sys.executable, "-m", "slabmark", "report", str(results), "-o", str(tmp_path / "report.html")]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 4; trap "" XFSZ; exec "$@"', "bash", *command],
        env=os.environ | {"PYTHONPATH": str(LAB)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "File too large" in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "report.html").read_bytes() == before
    assert not list(tmp_path.glob(".slabmark-*"))


@pytest.mark.long
def test_a_study_of_many_cells_is_reported_whole(tmp_path):
    """studies/lab measures 10,000 cells; here only that all of some hundred arrive."""
    generator = random.Random(3)
    made = [
        record(
            noise(generator, 6),
            ranks=2,
            settings={"options": {}, "hints": {"cb_nodes": str(n)}},
            pattern__settings={"map": f"m{n % 20}.nc", "variables": "1"},
        )
        for n in range(400)
    ]
    page = Page(report_of(tmp_path, *made))
    assert len([row for row in page.rows if len(row) == 9 and row[0].startswith("pnetcdf-varn")]) == 400


@pytest.mark.long
def test_ways_of_one_program_to_move_the_same_bytes_stand_side_by_side(tmp_path):
    """h5perf names its API among the settings of the pattern; the same bytes by three libraries are one question."""
    made = [
        record(
            [0.1 * size] * 6,
            method=method,
            pattern__settings={"api": api, "storage": storage, "buffer": str(size << 18), "block": "1024"},
            pattern__name="transfer",
        )
        for api, method, storage in (("posix", "posix", "contiguous"), ("phdf5", "hdf5-slab", "chunked"))
        for size in (1, 2)
    ]
    text = report_of(tmp_path, *made)
    assert re.findall("<h2>(.*?)</h2>", text) == [f"Writing transfer, buffer {size}.0 KiB" for size in (256, 512)]
    assert [len(re.findall(f">{name}, storage=", text)) > 0 for name in ("posix", "hdf5-slab")] == [True, True]


@pytest.mark.long
def test_programs_that_move_the_same_bytes_are_one_comparison_and_writing_stands_beside_reading(tmp_path):
    """Two programs, three libraries, both directions: one entry of the answers, with a table of their rates."""
    said = {"h5perf": {"files": "1", "api": "x"}, "slabmark-bench": {}}  # h5perf names what the other takes for granted
    made = [
        record(
            [seconds * slower] * 6,
            method=method,
            direction=direction,
            cache="warm" if direction == "read" else None,
            pattern__settings=said[program] | {"bytes": "1024", "block": "1024"},
            pattern__name="transfer",
            manifest__program={"name": program, "git_revision": "a", "build_type": "Release"},
        )
        for program, slower in (("h5perf", 1), ("slabmark-bench", 2))
        for method, seconds in (("posix", 0.1), ("mpiio-independent", 0.3), ("hdf5-slab", 0.9))
        for direction in ("write", "read")
    ]
    text = report_of(tmp_path, *made)
    assert re.findall("<h2>(.*?)</h2>", text) == ["Writing transfer", "Reading transfer"]
    answers = text[text.index('class="answers"') : text.index("</ol>")]
    assert answers.count("<li>") == 1 and answers.count("<tr>") == 1 + 6 and "program=h5perf" in answers
    assert '<th scope="col" class="number">writing</th><th scope="col" class="number">reading</th>' in answers
    assert "One method is clearly fastest in 2 of 2 workloads" in text and "18.0 times as fast as hdf5-slab, program=slabmark-bench" in text
    assert text.index("One method is clearly fastest") < text.index('class="answers"')


@pytest.mark.long
def test_a_map_is_the_same_wherever_a_program_was_started_unless_it_makes_other_bytes(tmp_path):
    place = lambda path, size: record([1.0] * 6, pattern__settings={"map": path, "variables": "3"}, pattern__bytes=size)
    text = report_of(tmp_path, place("a/f.nc", 1 << 20), place("/b/f.nc", 1 << 20), place("c/f.nc", 1 << 21))
    assert len(re.findall("<h2>(Writing .*?)</h2>", text)) == 2


def test_the_share_of_the_limit_is_that_of_the_rows_shown(tmp_path):
    """Two nights with a limit each, which differ from the bounds that the records quote of single launches."""
    nights = [tmp_path / "before.jsonl", tmp_path / "after.jsonl"]
    for night, seconds in zip(nights, (0.2, 0.3)):
        quoted = record([1.0] * 6, bounds=[{"method": "posix", "bytes": 2**20, "seconds": 0.111, "share": 0.1}])
        write_records(night, [quoted, record([seconds] * 6, method="posix", pattern__name="bound", bounds=[])])
    rows = {row[0].strip(): row for row in Page(report(tmp_path, *nights)).rows if len(row) == 9}
    for night, seconds in zip(nights, (0.2, 0.3)):
        assert rows[f"posix (limit), results={night}"][1] == units.seconds(seconds)
        assert rows[f"pnetcdf-varn, results={night}"][4] == units.percent(seconds)


@pytest.mark.long
def test_two_results_are_given_a_verdict(tmp_path):
    sides = []
    generator = random.Random(2)
    for name, scale in (("before", 1.0), ("after", 2.0)):
        made = [record(noise(generator, 6, scale)) for _ in range(8)]
        sides.append(write_records(tmp_path / f"{name}.jsonl", made))
    page = Page(report(tmp_path, *sides))
    [row] = [row for row in page.rows if len(row) == 7 and row[-1] == "slower"]
    assert float(row[4]) == pytest.approx(2, rel=0.1) and "1 slower." in page.texts
    assert "verdicts" not in Page(report(tmp_path, *sides, "--pool")).ids


def test_the_words_say_what_each_method_does_as_far_as_its_record_does(tmp_path):
    made = [record([1.0] * 6, method=name, **more) for name, more in (("new", {"method_summary": "<one call>"}), ("old", {}))]
    words = re.findall(r'<dt id="word-(.*?)">.*?</dt><dd>(.*?)</dd>', report_of(tmp_path, *made))
    assert ("new", "&lt;one call&gt;") in words and "old" not in dict(words)


def first_screen(text):
    shown = text[text.index('<dl class="first">') : text.index('<details class="how">')]
    return dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", shown))


def test_the_first_screen_says_what_is_fastest_by_how_much_how_sure_and_what_to_do(tmp_path):
    made = [record([seconds + n / 1000 for n in range(8)], method=name) for name, seconds in (("a", 1.0), ("b", 2.0), ("c", 8.0))]
    text = report_of(tmp_path, *made)
    told = first_screen(text)
    assert text.index('<dl class="first">') < text.index('id="answers"') and list(told) == [
        "Measured", "Fastest", "By how much", "How sure", "What to do"]
    assert told["Measured"].endswith("; 3 cells, 8 trials each.") and told["Fastest"].startswith("a at ")
    assert told["By how much"] == "2.00 [1.99, 2.00] times as fast as the next, b; 7.98 times as fast as the slowest, c."
    assert told["How sure"].startswith("Sure of the order") and told["What to do"].startswith("Use a.")


@pytest.mark.parametrize("methods, trials, lead, sure, advice", [
    ("ab", 8, "Fastest by median, but indistinguishable from 1 other (intervals overlap): ", "Not sure which of these is fastest", "Choose either"),
    ("abc", 8, "Fastest by median, but indistinguishable from 2 others (intervals overlap): ", "Not sure which", "Choose any of the 3 fastest"),
    ("ab", 3, "Fastest by median, but there are too few trials to be sure: ", "Not sure: fewer than 6 trials", "Measure at least 6 trials"),
    ("a", 8, "a at ", "The 95 % interval stands in the table", "Measure other methods beside it"),
])
def test_the_first_screen_is_not_surer_than_the_intervals(tmp_path, methods, trials, lead, sure, advice):
    made = [record([1.0 + n / 10 + place / 1000 for n in range(trials)], method=name) for place, name in enumerate(methods)]
    told = first_screen(report_of(tmp_path, *made))
    assert told["Fastest"].startswith(lead) and told["How sure"].startswith(sure) and told["What to do"].startswith(advice)


def test_the_first_screen_of_wrong_data_advises_to_use_no_number(tmp_path):
    wrong = {"state": "no", "by": "x", "elements": 1, "mismatch": "element 3"}
    made = [record([1.0] * 8, method="a", verified=wrong), record([2.0 + n for n in range(8)], method="b")]
    assert first_screen(report_of(tmp_path, *made))["What to do"].startswith("Find out why data are wrong")


def test_the_first_screen_of_nothing_says_so(tmp_path):
    assert first_screen(report_of(tmp_path, record([], trials=[], unsupported="It cannot."))) == {
        "Measured": "Nothing: no record holds a trial."}


def test_who_cannot_see_is_told_what_figures_and_tables_show(results, tmp_path):
    text = report(tmp_path, results)
    drawn = re.findall("<svg [^>]*>", text)
    assert drawn and all('role="img"' in svg and re.search('aria-label="[^"]{40,}"', svg) for svg in drawn)
    assert text.count("<table") == text.count("<caption>")
    anchors = re.findall(r'<a (?:class="skip" )?href="#([^"]*)"', text)
    assert set(anchors) <= set(Page(text).ids) and len(anchors) >= 8


def test_a_phase_that_only_a_newer_program_knows_is_drawn_and_named(tmp_path):
    made = record([1.0] * 6)
    for trial in made["trials"]:
        trial["phases"]["teleport"] = dict(next(iter(trial["phases"].values())))
    assert "teleport" in report_of(tmp_path, made)


needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here (Debian: apt-get install chromium)"
)


def browser(tmp_path, *arguments):
    plain = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--proxy-server=127.0.0.1:9"]
    command = [CHROMIUM, *plain, f"--user-data-dir={tmp_path / 'profile'}", *arguments, f"file://{tmp_path / 'report.html'}"]
    return subprocess.run(command, capture_output=True, timeout=90, env=os.environ | {"HOME": str(tmp_path)})


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize("width", [500, 1200])  # headless Chromium has no narrower window
def test_a_real_browser_without_network_draws_the_page(width, results, tmp_path):
    with open(results, "a") as file:  # a workload of one row, too, and one with long labels
        for name in ("one", "long " * 12):
            file.write(json.dumps(record(noise(random.Random(4), 8), method=name, direction="read" if name == "one" else "write")) + "\n")
    text = report(tmp_path, results)
    probe = """<script>window.onload = () => { const out = [];
      for (const svg of document.querySelectorAll('figure svg')) { const box = svg.getBoundingClientRect(); out.push([box.width, box.height]); }
      const cut = [...document.querySelectorAll('figure svg text')].filter(t => { const b = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect();
        return b.left < s.left - 2 || b.right > s.right + 2; }).map(t => t.textContent);
      const boxes = [...document.querySelectorAll('figure svg text')].map(t => [t.ownerSVGElement, t.getBoundingClientRect(), t.textContent]);
      const over = boxes.flatMap(([s, a, x], i) => boxes.slice(i + 1).filter(([r, b]) => r === s && a.left < b.right - 1 && b.left < a.right - 1
        && a.top < b.bottom - 2 && b.top < a.bottom - 2).map(([r, b, y]) => x + ' over ' + y));
      document.title = JSON.stringify({figures: out, cut, over, wide: document.documentElement.scrollWidth > window.innerWidth}); };</script>"""
    (tmp_path / "report.html").write_text(text.replace("</body>", probe + "</body>"))
    done = browser(tmp_path, f"--window-size={width},900", "--dump-dom")
    found = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", done.stdout.decode(), re.S).group(1)))
    assert len(found["figures"]) == 3 and all(w > 400 and height > 90 for w, height in found["figures"])
    assert found["over"] == [], "no label is printed over another"
    assert found["cut"] == [], "no label reaches beyond its figure"
    assert not found["wide"], "nothing is wider than the window"


@pytest.mark.long
@needs_browser
def test_it_prints_on_a_few_pages_with_all_its_tables(results, tmp_path):
    report(tmp_path, results)
    pdf = tmp_path / "report.pdf"
    browser(tmp_path, f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 6
    if shutil.which("pdftotext"):
        words = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True).stdout
        assert "mpiio-collective, 4 ranks" in words and "How it was measured" in words


def test_records_whose_file_system_is_unknown_are_shown_and_say_so(tmp_path):
    one = record([1.0, 1.1])
    one["manifest"]["output"] |= {"type": None, "mount_point": None, "source": None, "options": None}
    path = write_records(tmp_path / "r.jsonl", [one])
    assert command_line.main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 0
    assert "unknown: no mount holds the folder" in (tmp_path / "page.html").read_text()
