"""Compares two sets of records cell by cell: faster, slower, same or inconclusive.

The ratio is the median of all ratios of a new to a base value, and its interval inverts the rank-sum test of Wilcoxon,
Mann and Whitney, so it holds whatever the distribution is. Values are the medians of launches where both sides have
enough launches, else trials. docs/lab.md tells the rest.
"""

import dataclasses
import os

from rich import box
from rich.table import Table

from slabmark import cells, records, statistics, units
from slabmark.errors import InputError
from slabmark.terminal import say

FASTER, SLOWER, SAME, INCONCLUSIVE = "faster", "slower", "same", "inconclusive"
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
    detectable: float | None  # the slowdown that would be found 8 times in 10
    note: str


@dataclasses.dataclass
class Matching:
    pairs: list  # (base, new)
    only_base: list
    only_new: list
    refused: list  # (base, new, what differs in words)


def add_arguments(parser):
    parser.add_argument("base", metavar="BASE", help="file or folder of records")
    parser.add_argument("new", metavar="NEW", help="file or folder of records")
    parser.add_argument(
        "--tolerance",
        type=_share,
        default=0.05,
        metavar="SHARE",
        help="slower by up to this share is not held against NEW (default 0.05)",
    )
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


def _share(text):
    value = float(text)
    if not 0 <= value < 10:
        raise ValueError
    return value


_share.__name__ = "share"  # argparse names it in its message


def main(arguments, console):
    sides = []
    for path in (arguments.base, arguments.new):
        collection = records.read([path])
        for skipped in collection.skipped:
            say(console, f"warning: {skipped}")
        sides.append([cell for load in cells.workloads(collection.records) for cell in load.cells])
    matching = match(*sides, accepted=arguments.accept)
    if not matching.pairs:
        raise InputError(_refusal(matching))
    found = compare(matching.pairs, arguments.tolerance, arguments.per_cell)
    show(found, matching, arguments, console)
    return 1 if any(comparison.verdict == SLOWER for comparison in found) else 0


def _core(cell):
    """What makes two cells the same question: pattern, method and direction, but not where the map lies."""
    settings = {
        key: os.path.basename(value) if key == "map" else value for key, value in cell.first.pattern["settings"].items()
    }
    return cell.first.pattern["name"], cells.frozen(settings), cell.method, cell.first.direction


def _asked(cell):
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
    for key in (lambda cell: (_core(cell), _asked(cell)), lambda cell: (_core(cell), cell.ranks), _core):
        base_by, new_by = _unique(base, key), _unique(new, key)
        for name in base_by.keys() & new_by.keys():
            pair = base_by[name], new_by[name]
            difference = differences(*pair, accepted)
            refused.append((*pair, difference)) if difference else pairs.append(pair)
            base = [cell for cell in base if cell is not pair[0]]
            new = [cell for cell in new if cell is not pair[1]]
    pairs.sort(key=lambda pair: (_core(pair[0]), pair[0].ranks, pair[0].label))
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
        f"{cells.titles(base.first)[0]} by {base.method}; NEW has {cells.titles(new.first)[0]} by {new.method}."
    )


def compare(pairs, tolerance=0.05, per_cell=False):
    alpha = ALPHA if per_cell else ALPHA / len(pairs)
    return [_compare(base, new, tolerance, alpha) for base, new in pairs]


def _compare(base, new, tolerance, alpha):
    values, unit = [base.seconds, new.seconds], "trials"
    if min(len(base.launch_medians), len(new.launch_medians)) >= FEWEST_LAUNCHES:
        values, unit = [base.launch_medians, new.launch_medians], "launches"
    ratio = statistics.ratio(*values, alpha)
    note = ""
    if ratio.low is None:
        note = f"at least {statistics.fewest_to_compare(alpha)} {unit} a side are needed"
    elif unit == "trials":
        note = "few launches a side: what differs from launch to launch counts as a change"
    return Comparison(
        new.label if base.label == new.label else f"{new.method}, {cells.counted(new.ranks, 'rank')}",
        base,
        new,
        ratio,
        verdict(ratio, tolerance),
        unit,
        statistics.detectable(*values, alpha, tolerance),
        note,
    )


def verdict(ratio, tolerance):
    """Starts from inconclusive: what is claimed must hold in the whole interval."""
    if ratio.low is None:
        return INCONCLUSIVE
    if ratio.low > 1 + tolerance:
        return SLOWER
    if ratio.high < 1 / (1 + tolerance):
        return FASTER
    if ratio.low >= 1 / (1 + tolerance) and ratio.high <= 1 + tolerance:
        return SAME
    return INCONCLUSIVE


def changes(pairs):
    """[(what, base, new)] of attributes in which pairs differ: what an upgrade or the user changed."""
    found = {}
    for base, new in pairs:
        for name in [*base.attributes, *(n for n in new.attributes if n not in base.attributes)]:
            a, b = base.attributes.get(name, "-"), new.attributes.get(name, "-")
            if a != b:
                found[name, a, b] = None
    return list(found)


COLOURS = {FASTER: "green", SLOWER: "red", SAME: "default", INCONCLUSIVE: "yellow"}


def show(found, matching, arguments, console):
    wide = console.width >= 100
    title, table = None, None
    for comparison in found:
        heading = cells.titles(comparison.base.first)[0]
        if heading != title:
            if table is not None:
                console.print(table)
            title = heading
            table = _table(heading, wide)
        _row(table, comparison, wide)
    console.print(table)
    for name, a, b in changes([(c.base, c.new) for c in found]):
        say(console, f"changed: {name}: {a} -> {b}")
    for note in dict.fromkeys(comparison.note for comparison in found if comparison.note):
        say(console, f"note: {note}")
    for base, _, difference in matching.refused:
        say(console, f"not comparable: {base.label}: {difference}")
    for side, left in (("BASE", matching.only_base), ("NEW", matching.only_new)):
        for cell in left:
            say(console, f"only in {side}: {cells.titles(cell.first)[0]}: {cell.label}")
    scope = "each by itself" if arguments.per_cell else "together"
    say(
        console,
        f"Ratios of open-to-close seconds, NEW / BASE; {len(found)} interval{'s' * (len(found) > 1)} with 95 %, {scope}; "
        f"tolerance {units.percent(arguments.tolerance)}."
        + ("\n'finds' is the slowdown that would be called slower 8 times in 10." if wide else ""),
    )
    counts = {name: sum(c.verdict == name for c in found) for name in COLOURS}
    say(console, "Verdicts: " + ", ".join(f"{count} {name}" for name, count in counts.items() if count) + ".")


def _table(heading, wide):
    table = Table(title=heading, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("cell", overflow="fold", min_width=20)
    for name in ("base", "new", "ratio", "interval", *(("values", "finds") if wide else ())):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    return table


def _row(table, comparison, wide):
    ratio = comparison.ratio
    interval = f"{ratio.low:.3f} to {ratio.high:.3f}" if ratio.low is not None else "-"
    finds = f"+{units.percent(comparison.detectable - 1)}" if comparison.detectable else "-"
    colour = COLOURS[comparison.verdict]
    table.add_row(
        comparison.label,
        units.seconds(comparison.base.summary.median),
        units.seconds(comparison.new.summary.median),
        f"{ratio.median:.3f}",
        interval,
        *((f"{ratio.base}+{ratio.new} {comparison.unit}", finds) if wide else ()),
        f"[{colour}]{comparison.verdict}[/]",
    )
