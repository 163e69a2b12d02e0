"""Compares two sets of records cell by cell: faster, slower, same or inconclusive.

The ratio is the median of all ratios of a new to a base value, and its interval inverts the rank-sum test of Wilcoxon,
Mann and Whitney, so it holds whatever the distribution is. Values are the medians of launches where both sides have
enough launches, else trials. docs/reference/lab.md tells the rest.
"""

import collections
import dataclasses
import itertools
import math
import os
import statistics as standard
from typing import NamedTuple

from rich.text import Text

from slabmark import cells, documents, gates, records, statistics, tables, units
from slabmark.errors import InputError, printable
from slabmark.verdicts import CONDITIONS, FASTER, INCONCLUSIVE, MISSING, SAME, SLOWER, TOLERANCE

ALPHA = 0.05  # the probability that any cell of an unchanged system is called faster or slower is at most this
# With 4 launches a side the greatest difference has a probability of 2/70 under chance; with 3 it is 2/20.
FEWEST_LAUNCHES = 4


class Sides(NamedTuple):
    base: float
    new: float


@dataclasses.dataclass(frozen=True)
class Comparison:
    label: str
    base: cells.Cell
    new: cells.Cell
    ratio: statistics.Ratio
    verdict: str
    unit: str  # "launches" or "trials": what the values are
    medians: Sides  # of the values
    detectable: float | None  # the slowdown that would be found 8 times in 10
    needed: int | None  # values a side that a verdict would take, if there is none yet
    note: str


class Pair(NamedTuple):
    base: cells.Cell
    new: cells.Cell


class Refused(NamedTuple):
    pair: Pair
    difference: str  # in words


class Difference(NamedTuple):
    """An attribute in which the cells of a pair differ."""

    what: str
    base: str
    new: str


@dataclasses.dataclass
class Matching:
    pairs: list[Pair]
    only_base: list
    only_new: list
    refused: list[Refused]

    @property
    def missing(self):
        """[(cell of BASE, why it was not compared)]"""
        return [(cell, "it is not in NEW") for cell in self.only_base] + [(one.pair.base, one.difference) for one in self.refused]


def main(arguments, console):
    inputs = [file for path in (arguments.base, arguments.new) for file in records.record_files(path)]
    gates.check(arguments, inputs)
    documents.check(arguments.json, [*inputs, arguments.junit, arguments.openmetrics])
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
    documents.put([document(found, matching, arguments, skipped, failed)], arguments.json)
    if arguments.json != documents.PRINT:
        console.say(answer(found, matching, arguments.base, arguments.new))
        console.say()
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
            pair = Pair(base_by[name], new_by[name])
            difference = differences(*pair, accepted)
            refused.append(Refused(pair, difference)) if difference else pairs.append(pair)
            base = [cell for cell in base if cell is not pair.base]
            new = [cell for cell in new if cell is not pair.new]
    pairs.sort(key=lambda pair: (pair.base.title, core(pair.base), pair.base.ranks, pair.base.label))
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
        pair, difference = matching.refused[0]
        return (
            f"Nothing can be compared: {pair.base.label} differs in {difference}. If that is what you want to compare, allow it "
            f"with --accept CONDITION ({', '.join(CONDITIONS)})."
        )
    if not matching.only_base or not matching.only_new:
        return "Nothing can be compared: one side has no measured cell."
    base, new = matching.only_base[0], matching.only_new[0]
    return (
        "Nothing can be compared: no pattern, method and direction of BASE is in NEW. BASE has, for example, "
        f"{base.title} by {base.method}; NEW has {new.title} by {new.method}."
    )


def compare(pairs, tolerance=TOLERANCE, per_cell=False):
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
    medians, finds = Sides(*map(standard.median, values)), statistics.detectable(*values, alpha, tolerance)
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
    """[Difference]: what an upgrade or the user changed."""
    found = {}
    for base, new in pairs:
        for name in base.attributes | new.attributes:
            change = Difference(name, base.attributes.get(name, "-"), new.attributes.get(name, "-"))
            if change.base != change.new:
                found[change] = None
    return list(found)


COLOURS = {FASTER: "green", SLOWER: "red", SAME: "default", INCONCLUSIVE: "yellow"}
FINDS = "finds"
COLUMNS = [
    tables.Column("cell", lambda c: c.label, is_name=True),
    tables.Column("base", lambda c: units.seconds(c.medians.base), optional=2),
    tables.Column("new", lambda c: units.seconds(c.medians.new), optional=2),
    tables.Column("ratio", lambda c: f"{c.ratio.median:.3f}"),
    tables.Column("interval", lambda c: "-" if c.ratio.low is None else f"{c.ratio.low:.3f} to {c.ratio.high:.3f}", optional=1),
    tables.Column("values", lambda c: f"{c.ratio.base}+{c.ratio.new} {c.unit}", optional=3),
    tables.Column(FINDS, lambda c: f"+{units.percent(c.detectable - 1)}" if c.detectable else "-", optional=3),
    tables.Column("verdict", lambda c: Text(c.verdict, COLOURS[c.verdict]), justify="left"),
]


def answer(found, matching, base, new):
    """The result in one sentence. `base`, `new`: paths of the two sides."""
    base, new = _names(base, new)
    counts = collections.Counter(c.verdict for c in found)
    leading = next(verdict for verdict in (SLOWER, FASTER, SAME, INCONCLUSIVE) if counts[verdict])
    most = max((c for c in found if c.verdict == leading), key=lambda c: abs(math.log(c.ratio.median)))
    parts = [f"{counts[verdict]} {word}" for verdict, word in OTHERS.items() if counts[verdict] and verdict != leading]
    parts += [f"{len(matching.missing)} missing"] * bool(matching.missing)
    rest = f"; {', '.join(parts)}" if parts else ""
    if len(found) == 1 or leading == SLOWER:
        how = {SLOWER: "is slower than", FASTER: "is faster than", SAME: "is as fast as", INCONCLUSIVE: "has no verdict yet against"}
        of_all = f" in {counts[leading]} of {len(found)} cells, most" if len(found) > 1 else ""
        return f"{new} {how[leading]} {base}{of_all} in {_evidence(most)}{rest}."
    if leading == INCONCLUSIVE:
        return f"{new} has no verdict yet against {base} in any of {len(found)} cells{rest}."
    known = "known to be " if counts[INCONCLUSIVE] or matching.missing else ""
    example = f", most in {_evidence(most)}" if leading == FASTER else ""
    return f"No cell of {new} is {known}slower than in {base}; {counts[leading]} of {len(found)} {OTHERS[leading]}{example}{rest}."


OTHERS = {FASTER: "faster", SAME: "the same", INCONCLUSIVE: "inconclusive"}


def _names(base, new):
    """Of the sides: as short as tells them apart."""
    short = [os.path.basename(os.path.normpath(path)) for path in (base, new)]
    return map(printable, short if short[0] != short[1] else (base, new))


def _evidence(c):
    return f"{c.label}: {times(c.ratio)}"


def times(ratio):
    """'1.5 times its seconds (95 % interval 1.4 to 1.6)'"""
    interval = "no interval yet" if ratio.low is None else f"95 % interval {ratio.low:.3g} to {ratio.high:.3g}"
    return f"{ratio.median:.3g} times its seconds ({interval})"


def show(found, matching, arguments, console):
    left_out = []
    for heading, comparisons in itertools.groupby(found, lambda c: c.base.title):
        left_out += tables.show(console, COLUMNS, list(comparisons), heading)
    tables.say_left_out(console, left_out)
    for name, a, b in changes(matching.pairs):
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
        "'base' and 'new' are medians of open-to-close seconds. 'ratio' is not their quotient, but the median of the quotients "
        f"of each new value by each base value. {units.counted(len(found), 'interval')} with 95 %, {scope}; "
        f"tolerance {units.percent(arguments.tolerance)}."
        + ("\n'finds' is the slowdown that would be called slower 8 times in 10." if FINDS not in left_out else "")
    )
    counts = {name: sum(c.verdict == name for c in found) for name in COLOURS} | {MISSING: len(matching.missing)}
    console.say("Verdicts: " + ", ".join(f"{count} {name}" for name, count in counts.items() if count) + ".")


def document(found, matching, arguments, skipped, failed):
    """The same as `show` tells, for programs."""
    name = lambda cell: {"workload": cell.title, "cell": cell.label}
    made = []
    for c in found:
        values = documents.Values(unit=c.unit, base=c.ratio.base, new=c.ratio.new, needed=c.needed)
        finds = c.detectable and c.detectable - 1
        of_cell = dict(verdict=c.verdict, ratio=c.ratio, values=values, seconds=c.medians, finds=finds, note=c.note)
        made.append(documents.ComparedCell(workload=c.base.title, cell=c.label, **of_cell))
    return documents.Comparison(
        answer=answer(found, matching, arguments.base, arguments.new),
        tolerance=arguments.tolerance,
        coverage=1 - ALPHA,
        coverage_of="each" if arguments.per_cell else "all",
        cells=made,
        missing=[documents.MissingCell(**name(cell), reason=why) for cell, why in matching.missing],
        only_in_new=[documents.NewCell(**name(cell)) for cell in matching.only_new],
        changed=changes(matching.pairs),
        skipped=skipped,
        failed=failed,
    )


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
        made.append(gates.Case(c.base.title, c.label, c.medians.new, c.verdict, words, outcome(c.verdict, fail_on)))
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
