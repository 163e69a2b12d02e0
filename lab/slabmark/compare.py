"""Compares two sets of records cell by cell: faster, slower, same or inconclusive.

The ratio is the median of all ratios of a new to a base value, and its interval inverts the rank-sum test of Wilcoxon,
Mann and Whitney, so it holds whatever the distribution is. Values are the medians of launches where both sides have
enough launches, else trials. docs/lab.md tells the rest.
"""

import dataclasses
import itertools
import json
import statistics as standard

from rich import box
from rich.table import Table
from rich.text import Text

from slabmark import cells, gates, records, statistics, units
from slabmark.command_line import a_number
from slabmark.errors import InputError, did_you_mean

FASTER, SLOWER, SAME, INCONCLUSIVE = "faster", "slower", "same", "inconclusive"
MISSING = "missing"  # no verdict: a cell of BASE that was not compared
ALPHA = 0.05  # the probability that any cell of an unchanged system is called faster or slower is at most this
# With 4 launches a side the greatest difference has a probability of 2/70 under chance; with 3 it is 2/20.
FEWEST_LAUNCHES = 4

# What must agree for seconds to be comparable, by the name that --accept takes.
CONDITIONS = {
    "pattern": lambda cell: (
        cell.bytes,
        cell.first.pattern.get("datasets"),
        cell.first.pattern.get("rounds"),
        cell.first.pattern["requests"]["total"],
    ),
    "ranks": lambda cell: cell.ranks,
    "nodes": lambda cell: cell.attributes["nodes"],
    "sync": lambda cell: cell.first.sync,
    "cache": lambda cell: cell.first.cache,
    "machine": lambda cell: (cell.first.manifest.get("cores"), cell.first.manifest.get("memory_bytes")),
    "file system": lambda cell: cell.attributes["file system"],
}


@dataclasses.dataclass(frozen=True)
class Comparison:
    label: str
    base: cells.Cell
    new: cells.Cell
    ratio: statistics.Ratio
    verdict: str
    unit: str  # "launches" or "trials": what the values are
    medians: tuple  # of the values of either side
    detectable: float | None  # the slowdown that would be found 8 times in 10
    needed: int | None  # values a side that a verdict would take, if there is none yet
    note: str


@dataclasses.dataclass
class Matching:
    pairs: list  # (base, new)
    only_base: list
    only_new: list
    refused: list  # (base, new, what differs in words)

    @property
    def missing(self):
        """[(cell of BASE, why it was not compared)]"""
        return [(cell, "it is not in NEW") for cell in self.only_base] + [(cell, why) for cell, _, why in self.refused]


def add_arguments(parser):
    parser.add_argument("base", metavar="BASE", help="file or folder of records")
    parser.add_argument("new", metavar="NEW", help="file or folder of records")
    add_tolerance(parser)
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        choices=list(CONDITIONS),
        metavar="CONDITION",
        help=f"compare although this differs: {', '.join(CONDITIONS)}; may be repeated",
    )
    parser.add_argument(
        "--per-cell", action="store_true", help="95 %% for each cell by itself, instead of for all of them together"
    )
    add_fail_on(parser, "a cell of BASE has no partner in NEW, or one that cannot be compared")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    gates.add_arguments(parser)


def add_tolerance(parser):
    parser.add_argument(
        "--tolerance",
        type=a_number(float, 0, 10),
        default=statistics.TOLERANCE,
        metavar="SHARE",
        help=f"what is slower or faster by up to this share is called the same (default {statistics.TOLERANCE})",
    )


def add_fail_on(parser, missing):
    """What `missing` means is said in words."""
    parser.add_argument(
        "--fail-on",
        type=outcomes_among((SLOWER, MISSING, INCONCLUSIVE)),
        default=[SLOWER, MISSING],
        metavar="A,B",
        help=f"what makes the exit status 1: slower, missing ({missing}), inconclusive, or none (default slower,missing)",
    )


def outcomes_among(known):
    """For `type` of --fail-on."""

    def parse(text):
        chosen = [] if text == "none" else text.split(",")
        for name in (name for name in chosen if name not in known):
            raise InputError(f"'{name}' is nothing to --fail-on.{did_you_mean(name, known)}")
        return chosen

    return parse


def main(arguments, console):
    gates.check(arguments, [file for path in (arguments.base, arguments.new) for file in records.record_files(path)])
    read = [records.read([path]) for path in (arguments.base, arguments.new)]
    skipped = [line for collection in read for line in collection.skipped]
    sides = ([cell for load in cells.workloads(collection.records) for cell in load.cells] for collection in read)
    matching = match(*sides, accepted=arguments.accept)
    if not matching.pairs:
        raise InputError(_refusal(matching))
    found = compare(matching.pairs, arguments.tolerance, arguments.per_cell)
    outcomes = {comparison.verdict for comparison in found} | ({MISSING} if matching.missing else set())
    failed = [name for name in arguments.fail_on if name in outcomes]
    gates.write(arguments, "compare", _tests(found, matching, arguments.fail_on), _metrics(found, matching))
    if arguments.json:
        print(json.dumps(as_json(found, matching, arguments, skipped, failed), indent=2))
    else:
        for line in skipped:
            console.say(f"warning: {line}")
        show(found, matching, arguments, console)
        if failed:
            console.say(f"Exit status 1, because of --fail-on {','.join(arguments.fail_on)}: {', '.join(failed)}.")
    return 1 if failed else 0


def core(cell):
    """What makes two cells the same question: pattern, method and direction, but not where the map, or the pattern's file,
    lies. Stores of `slabmark track` hold it as it is made here: 'map' always."""
    settings = cell.first.pattern["settings"]
    name = cells.map_name(settings)
    settings = settings | {"map": name} | {key: name for key in cells.OF_FILES if key in settings}
    return cell.first.pattern["name"], cells.frozen(settings), cell.method, cell.first.direction


def asked(cell):
    """What the user asked for beyond that."""
    given = {key: value for key, value in cell.attributes.items() if "." in key or key.startswith("hint ")}
    return (
        cell.ranks,
        cells.frozen(given),
        cells.frozen(cell.first.study.get("environment", {})),
        cell.first.sync,
        cell.first.cache,
        cell.attributes["program"],
    )


def match(base, new, accepted=()):
    """Pairs cells that agree in all that was asked for; of those left over, the ones that are the only ones of their
    pattern, method and direction on both sides: there, what differs is what is compared."""
    pairs, refused = [], []
    for key in (lambda cell: (core(cell), asked(cell)), lambda cell: (core(cell), cell.ranks), core):
        base_by, new_by = _unique(base, key), _unique(new, key)
        for name in (name for name in base_by if name in new_by):  # in the order of BASE
            pair = base_by[name], new_by[name]
            difference = differences(*pair, accepted)
            refused.append((*pair, difference)) if difference else pairs.append(pair)
            base = [cell for cell in base if cell is not pair[0]]
            new = [cell for cell in new if cell is not pair[1]]
    pairs.sort(key=lambda pair: (pair[0].title, core(pair[0]), pair[0].ranks, pair[0].label))
    return Matching(pairs, base, new, refused)


def _unique(side, key):
    grouped = {}
    for cell in side:
        grouped.setdefault(key(cell), []).append(cell)
    return {name: group[0] for name, group in grouped.items() if len(group) == 1}


def differences(base, new, accepted=()):
    """Why the two cells cannot be compared, in words; empty if they can."""
    found = []
    for name, condition in CONDITIONS.items():
        if name not in accepted and (a := condition(base)) != (b := condition(new)):
            found.append(f"{name} ({_words(a)} and {_words(b)})")
    for side, cell in (("BASE", base), ("NEW", new)):
        if cell.verified == "no":
            found.append(f"{side} failed its verification")
    return ", ".join(found)


def _words(value):
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _refusal(matching):
    if matching.refused:
        base, _, difference = matching.refused[0]
        return (
            f"Nothing can be compared: {base.label} differs in {difference}. If that is what you want to compare, allow it "
            f"with --accept CONDITION ({', '.join(CONDITIONS)})."
        )
    if not matching.only_base or not matching.only_new:
        return "Nothing can be compared: one side has no measured cell."
    base, new = matching.only_base[0], matching.only_new[0]
    return (
        "Nothing can be compared: no pattern, method and direction of BASE is in NEW. BASE has, for example, "
        f"{base.title} by {base.method}; NEW has {new.title} by {new.method}."
    )


def compare(pairs, tolerance=statistics.TOLERANCE, per_cell=False):
    alpha = ALPHA if per_cell else ALPHA / len(pairs)
    return [_compare(base, new, tolerance, alpha) for base, new in pairs]


def _compare(base, new, tolerance, alpha):
    values, unit = [base.seconds, new.seconds], "trials"
    if min(len(base.launch_medians), len(new.launch_medians)) >= FEWEST_LAUNCHES:
        values, unit = [base.launch_medians, new.launch_medians], "launches"
    ratio = statistics.ratio(*values, alpha)
    found = verdict(ratio, tolerance)
    note, needed = "", None
    if ratio.low is None:
        needed = statistics.fewest_to_compare(alpha)
        lacking = ", ".join(f"{needed - len(v)} in {side}" for v, side in zip(values, ("BASE", "NEW")) if len(v) < needed)
        note = f"at least {needed} {unit} a side are needed; missing: {lacking} ({unit})"
    elif unit == "trials":
        note = "few launches a side: what differs from launch to launch counts as a change"
    if found == INCONCLUSIVE and not needed:
        needed = statistics.needed(*values, alpha, tolerance)
    label = new.label if base.label == new.label else f"{new.method}, {units.counted(new.ranks, 'rank')}"
    medians, finds = tuple(map(standard.median, values)), statistics.detectable(*values, alpha, tolerance)
    return Comparison(label, base, new, ratio, found, unit, medians, finds, needed, note)


def verdict(ratio, tolerance):
    """Starts from inconclusive: what is claimed must hold in the whole interval."""
    if ratio.low is None:
        return INCONCLUSIVE
    low, high = 1 / (1 + tolerance), 1 + tolerance
    if ratio.low > high:
        return SLOWER
    if ratio.high < low:
        return FASTER
    return SAME if low <= ratio.low and ratio.high <= high else INCONCLUSIVE


def changes(pairs):
    """[(what, base, new)] of attributes in which pairs differ: what an upgrade or the user changed."""
    found = {}
    for base, new in pairs:
        for name in base.attributes | new.attributes:
            sides = [cell.attributes.get(name, "-") for cell in (base, new)]
            if sides[0] != sides[1]:
                found[name, *sides] = None
    return list(found)


COLOURS = {FASTER: "green", SLOWER: "red", SAME: "default", INCONCLUSIVE: "yellow"}
COLUMNS = [  # between the cell and its verdict
    ("base", lambda c: units.seconds(c.medians[0])),
    ("new", lambda c: units.seconds(c.medians[1])),
    ("ratio", lambda c: f"{c.ratio.median:.3f}"),
    ("interval", lambda c: "-" if c.ratio.low is None else f"{c.ratio.low:.3f} to {c.ratio.high:.3f}"),
    ("values", lambda c: f"{c.ratio.base}+{c.ratio.new} {c.unit}"),
    ("finds", lambda c: f"+{units.percent(c.detectable - 1)}" if c.detectable else "-"),
]


# As many of them as leave room for the names of the cells, by the width from which on there is.
ALL_COLUMNS = tuple(name for name, _ in COLUMNS)
FITTING = [(100, ALL_COLUMNS), (72, ALL_COLUMNS[:4]), (56, ALL_COLUMNS[2:4]), (0, ("ratio",))]


def show(found, matching, arguments, console):
    fit = next((names for width, names in FITTING if console.width >= width), FITTING[-1][1])
    columns = [column for column in COLUMNS if column[0] in fit]
    for heading, comparisons in itertools.groupby(found, lambda c: c.base.title):
        table = Table(title=Text(heading), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
        table.add_column("cell", overflow="fold", min_width=12)
        for name, _ in columns:
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        for c in comparisons:
            values = (value(c) for _, value in columns)
            table.add_row(Text(c.label), *values, Text(c.verdict, COLOURS[c.verdict]))
        console.print(table)
    for name, a, b in changes([(c.base, c.new) for c in found]):
        console.say(f"changed: {name}: {a} -> {b}")
    for note in dict.fromkeys(c.note for c in found if c.note):
        console.say(f"note: {note}")
    for c in found:
        if c.verdict == INCONCLUSIVE and c.ratio.low is not None:
            about = f"about {c.needed}" if c.needed else f"more than {statistics.MOST_NEEDED}"
            console.say(f"inconclusive: {c.label}: a verdict takes {about} {c.unit} a side, if they are like these")
    for cell, why in matching.missing:
        console.say(f"missing: {cell.title}: {cell.label}: {why}")
    for cell in matching.only_new:
        console.say(f"only in NEW: {cell.title}: {cell.label}")
    scope = "each by itself" if arguments.per_cell else "together"
    console.say(
        "'base' and 'new' are medians of open-to-close seconds. 'ratio' is no quotient of these two, but the median of the "
        f"quotients of each new value by each base value; {units.counted(len(found), 'interval')} with 95 %, {scope}; "
        f"tolerance {units.percent(arguments.tolerance)}."
        + ("\n'finds' is the slowdown that would be called slower 8 times in 10." if "finds" in fit else "")
    )
    counts = {name: sum(c.verdict == name for c in found) for name in COLOURS} | {MISSING: len(matching.missing)}
    console.say("Verdicts: " + ", ".join(f"{count} {name}" for name, count in counts.items() if count) + ".")


def as_json(found, matching, arguments, skipped, failed):
    """What `show` tells, for programs; seconds, and shares of 1."""
    name = lambda cell: {"workload": cell.title, "cell": cell.label}
    return {
        "slabmark_comparison": 1,
        "tolerance": arguments.tolerance,
        "coverage": 1 - ALPHA,
        "coverage_of": "each" if arguments.per_cell else "all",
        "cells": [
            name(c.base)
            | {
                "verdict": c.verdict,
                "ratio": {"median": c.ratio.median, "low": c.ratio.low, "high": c.ratio.high},
                "values": {"unit": c.unit, "base": c.ratio.base, "new": c.ratio.new, "needed": c.needed},
                "seconds": dict(zip(("base", "new"), c.medians)),
                "finds": c.detectable and c.detectable - 1,
                "note": c.note,
            }
            for c in found
        ],
        "missing": [name(cell) | {"reason": why} for cell, why in matching.missing],
        "only_in_new": [name(cell) for cell in matching.only_new],
        "changed": [dict(zip(("what", "base", "new"), c)) for c in changes([(c.base, c.new) for c in found])],
        "skipped": skipped,
        "failed": failed,
    }


def interval_words(ratio):
    """'ratio 1.234, 1.100 to 1.345'"""
    return f"ratio {ratio.median:.3f}, " + ("no interval yet" if ratio.low is None else f"{ratio.low:.3f} to {ratio.high:.3f}")


def outcome(verdict, fail_on):
    """Of a test in JUnit's words: what is not known is skipped, not passed."""
    return "failed" if verdict in fail_on else "skipped" if verdict in (INCONCLUSIVE, MISSING) else "passed"


def _tests(found, matching, fail_on):
    made = []
    for c in found:
        words = ", ".join(filter(None, [interval_words(c.ratio), c.note]))
        made.append(gates.Case(c.base.title, c.label, c.medians[1], c.verdict, words, outcome(c.verdict, fail_on)))
    state = outcome(MISSING, fail_on)
    return made + [gates.Case(cell.title, cell.label, None, MISSING, why, state) for cell, why in matching.missing]


def _metrics(found, matching):
    labels = lambda cell, label: {"workload": cell.title, "cell": label}
    rows = [(labels(c.base, c.label), c) for c in found]
    states = [(row, c.verdict) for row, c in rows] + [(labels(cell, cell.label), MISSING) for cell, _ in matching.missing]
    return [
        gates.Gauge(
            "slabmark_compare_open_to_close_seconds",
            "Median of the values of a side.",
            [(row | {"side": side}, seconds) for row, c in rows for side, seconds in zip(("base", "new"), c.medians)],
            "seconds",
        ),
        gates.Gauge(
            "slabmark_compare_ratio",
            "New / base seconds: the median and the interval.",
            [(row | {"of": of}, getattr(c.ratio, of)) for row, c in rows for of in ("median", "low", "high")],
            "ratio",
        ),
        gates.States(
            "slabmark_compare_verdict",
            "Verdict of compare on the cell.",
            states,
            (SLOWER, FASTER, SAME, INCONCLUSIVE, MISSING),
        ),
    ]
