"""The numbers that pages state, the records they come from, and whether both agree. docs/dev/results.md explains it."""

import dataclasses
import json
import math
import pathlib
import re
import statistics
import tomllib

import stated

PAGES = ("README.md", "docs/**/*.md")
GENERATED = "docs/results/measured.md"
FOLDER = "docs/results/records"
# How far a stated number without an interval may be from what is measured.
TOLERANCE = 0.1


def interval(values):
    """(low, high, kind): the distribution-free 95 % interval of the median, or the range of fewer than six values."""
    values = sorted(values)
    n = len(values)
    if n < 6:
        return values[0], values[-1], "range"
    # The k-th values from both ends enclose the median unless fewer than k values lie on one side of it.
    outside, k = 0.0, 0
    while 2 * (outside + math.comb(n, k) / 2**n) <= 0.05:
        outside += math.comb(n, k) / 2**n
        k += 1
    return values[k - 1], values[n - k], "95 %"


def measurement(line):
    low, high, kind = interval(line["values"])
    return {"name": line["name"], "unit": line["unit"], "median": statistics.median(line["values"]), "low": low, "high": high,
            "interval": kind, "values": line["values"]}


def parse(text):
    """(value, low, high) of a number as a page states it."""
    found = [float(number.replace(",", "")) for number in re.findall(stated.NUMBER, text)]
    if len(found) >= 3:
        return tuple(found[:3])
    return found[0], found[0] * (1 - TOLERANCE), found[0] * (1 + TOLERANCE)


def holds(text, measured):
    """Whether a number that is stated is still true: one of the two medians lies in the other's interval."""
    value, low, high = parse(text)
    scale = 1e3 if re.search(r"\bms\b", text) and measured["unit"] == "s" else 1
    return low <= measured["median"] * scale <= high or measured["low"] * scale <= value <= measured["high"] * scale


def restate(text, measured):
    """The text with what was measured, as exact as each number was."""
    scale = 1e3 if re.search(r"\bms\b", text) and measured["unit"] == "s" else 1
    fresh = iter(scale * measured[key] for key in ("median", "low", "high"))
    return re.sub(stated.NUMBER, lambda old: f"{next(fresh):.{len(old[0].partition('.')[2])}f}", text, count=3)


def show(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


@dataclasses.dataclass
class Table:
    """docs/results/numbers.toml of a checkout, with the records beside it."""

    top: pathlib.Path

    def __post_init__(self):
        text = (self.top / "docs/results/numbers.toml").read_text(encoding="utf-8")
        content = tomllib.loads(text)
        self.machine, self.runs, self.pages = content["machine"], content["run"], content["page"]
        self.machines = content["machines"]
        self.numbers = content.get("number", [])
        path = self.top / FOLDER / "stated.json"
        self.listed = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.records = {path.relative_to(self.top / FOLDER).with_suffix("").as_posix(): json.loads(path.read_text(encoding="utf-8"))
                        for path in sorted((self.top / FOLDER).glob("*/*.json"))}

    def folder_of(self, run, machine):
        """Runs on nodes that are namespaces have records apart from those of the machine they are on."""
        on = self.runs[run].get("on")
        return f"{machine}-{on}" if on else machine

    def measured(self, number):
        """What the record of a number has, on the machine whose numbers the pages state; None without a record."""
        record = self.records.get(f"{self.folder_of(number['run'], self.machine)}/{number['run']}")
        return record and next((one for one in record["measurements"] if one["name"] == number["name"]), None)

    def section_of(self, page, heading):
        """What is known of the numbers of a section: those of its page, and its own."""
        return self.pages.get(page, {}) | self.pages.get(page, {}).get("sections", {}).get(heading, {})


def stated_numbers(top):
    """{page: {heading: [number as it is written]}}"""
    found = {}
    for path in sorted({path for pattern in PAGES for path in top.glob(pattern)}):
        page = path.relative_to(top).as_posix()
        if page == GENERATED:
            continue
        for heading, _, lines in stated.sections(path.read_text(encoding="utf-8")):
            numbers = stated.numbers_of(lines, results_page=page.startswith("docs/results/"))
            if numbers:
                found.setdefault(page, {}).setdefault(heading, []).extend(numbers)
    return found


def places(table, number):
    """(page, lines of the page, index of the line with the number or None, text) of each place that states it."""
    for place in number["stated"]:
        path = table.top / place["page"]
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        at = next((i for i, line in enumerate(lines) if place["line"] in line and place["text"] in line), None)
        yield place, lines, at


def unlisted(table):
    """Sentences about numbers that pages state and no record has, and about listed ones that no page states."""
    now = stated_numbers(table.top)
    for page in sorted({*now, *table.listed}):
        for heading in {**now.get(page, {}), **table.listed.get(page, {})}:
            here, listed = now.get(page, {}).get(heading, []), table.listed.get(page, {}).get(heading, [])
            measured = [place["text"] for number in table.numbers if table.measured(number) for place in number["stated"] if place["page"] == page]
            extra = [n for n in here if here.count(n) > listed.count(n) and not any(n in text or text in n for text in measured)]
            gone = [n for n in listed if listed.count(n) > here.count(n)]
            for numbers, what in ((extra, "states"), (gone, "no longer states")):
                if numbers:
                    yield f"{page}, '{heading}': {what} {', '.join(dict.fromkeys(numbers))}, against its record. Run 'make results LIST=1'."
            if here and table.section_of(page, heading).get("machine") not in table.machines:
                yield f"{page}, '{heading}': numbers of no machine. Name one in docs/results/numbers.toml."


def untrue(table):
    """Sentences about stated numbers that are not where they should be, or that their record contradicts."""
    for number in table.numbers:
        if number["run"] not in table.runs:
            yield f"'{number['name']}' is of the run '{number['run']}', which docs/results/numbers.toml does not have."
            continue
        measured = table.measured(number)
        for place, _, at in places(table, number):
            if at is None:
                yield f"{place['page']} does not state '{place['text']}' in a line with '{place['line']}'. Correct docs/results/numbers.toml."
            elif measured and not holds(place["text"], measured):
                yield (f"{place['page']}:{at + 1}: '{place['text']}' is no longer true: {number['run']} measured {restate(place['text'], measured)} "
                       f"{measured['unit']} ({number['name']}). Correct the page, or run 'make results UPDATE=1'.")


def update(table):
    """Writes measured numbers over those that no longer hold, in the pages and in the table."""
    listing = table.top / "docs/results/numbers.toml"
    for number in table.numbers:
        measured = table.measured(number)
        if not measured:
            continue
        for place, lines, at in places(table, number):
            if at is None or holds(place["text"], measured):
                continue
            fresh = restate(place["text"], measured)
            lines[at] = lines[at].replace(place["text"], fresh)
            (table.top / place["page"]).write_text("\n".join(lines) + "\n", encoding="utf-8")
            old = f'line = {json.dumps(place["line"], ensure_ascii=False)}, text = "{place["text"]}"'
            text = listing.read_text(encoding="utf-8")
            listing.write_text(text.replace(old, old.replace(place["text"], fresh)), encoding="utf-8")
            print(f"{place['page']}: {place['text']} -> {fresh}")


def environment_rows(record):
    where = record["environment"]
    gib = where["memory_bytes"] / 2**30
    yield "Machine", f"{where['cores']} cores, {where['cpu']}, {gib:.0f} GiB, {where['kernel']}"
    yield "Versions", f"Slabmark {where['slabmark']}, {where['compiler']}, {where['mpi']} ({where['mpi_io']}), HDF5 {where['hdf5']}, PnetCDF {where['pnetcdf']}"
    yield "Durability", record["durability"]
    yield "File system", where["file_system"]
    yield "Measured", f"{record['started'][:10]}, in {record['seconds']:.0f} s"
    for absent in record["absent"]:
        yield "Absent", absent


def page_of_records(table):
    """The text of docs/results/measured.md."""
    out = ["# Results: all measurements", "", "`make results` writes this page from the records in `docs/results/records`. "
           "An interval is a 95 % interval of the median, or the range of fewer than six values.", ""]
    for name, record in table.records.items():
        out += [f"## {name.replace('/', ': ')}", "", f"    {record['command']}", "", "| | |", "|---|---|"]
        out += [f"| {key} | {value} |" for key, value in environment_rows(record)]
        out += ["", "| measurement | median | interval | unit | values |", "|---|---|---|---|---|"]
        out += [f"| {one['name']} | {show(one['median'])} | [{show(one['low'])}, {show(one['high'])}]{'' if one['interval'] == '95 %' else ' range'} "
                f"| {one['unit']} | {len(one['values'])} |" for one in record["measurements"]]
        out.append("")
    out += ["## Stated numbers by section", "", "Numbers of these sections that no run above measures are older than records, or of another "
            "machine. `docs/results/records/stated.json` lists them.", "", "| page | section | numbers | machine | command |", "|---|---|---|---|---|"]
    for page, sections in sorted(table.listed.items()):
        for heading, numbers in sections.items():
            known = table.section_of(page, heading)
            command = f"`{known['command']}`" if known.get("command") else known.get("source", "")
            out.append(f"| {page} | {heading} | {len(numbers)} | {table.machines.get(known.get('machine'), {}).get('about', '?')} | {command} |")
    return "\n".join(out) + "\n"


def stale(table):
    page = table.top / GENERATED
    if not page.exists() or page.read_text(encoding="utf-8") != page_of_records(table):
        yield f"{GENERATED} is not the page of the records. Run 'make results LIST=1'."


def check(table):
    return [*untrue(table), *unlisted(table), *stale(table)]


def list_stated(table):
    """Lists what pages state today, and writes the page of measurements."""
    path = table.top / FOLDER / "stated.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stated_numbers(table.top), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_page(table.top)


def write_page(top):
    (top / GENERATED).write_text(page_of_records(Table(top)), encoding="utf-8")
