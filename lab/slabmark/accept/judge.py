"""Whether an acceptance is valid, and what it says of each target."""

import collections
import dataclasses

from slabmark import cells, compare, findings, statistics, units
from slabmark.accept import nodes, rules
from slabmark.verdicts import FAIL, INCONCLUSIVE, INVALID, MISSING, PASS, SLOW_NODE


@dataclasses.dataclass(frozen=True)
class Measured:
    """A cell of the suite: its records by method and direction."""

    case: object
    nodes: int
    cell: cells.Cell

    @property
    def label(self):
        read = ", read" if self.cell.first.direction == "read" else ""
        return f"{self.case.name}, {self.cell.method}, {units.counted(self.nodes, 'node')}{read}"

    @property
    def files(self):
        """How many a trial makes, or None."""
        found = self.cell.first.pattern["settings"].get("files", "")
        number = units.whole(found)
        return number if number is not None and number > 1 else None


@dataclasses.dataclass(frozen=True)
class Verdict:
    target: object
    measured: Measured | None
    verdict: str
    value: float | None  # of what the target names, with its interval
    low: float | None
    high: float | None
    launches: int
    needed: int | None  # launches in all that a verdict would take
    note: str

    @property
    def label(self):
        if self.measured:
            return self.measured.label
        named = (self.target.case, self.target.method, self.target.nodes and units.counted(self.target.nodes, "node"))
        return ", ".join(filter(None, (*named, self.target.direction))) or "all cells"

    def shown(self, value):
        if value is None:
            return "-"
        if self.target.kind == "limit":
            return units.percent(value)
        return units.rate(value) if self.target.kind == "rate" else f"{units.three_digits(value)} files/s"

    @property
    def words(self):
        """What follows a verdict that is none yet."""
        parts = [self.note] if self.note else []
        if self.verdict == INCONCLUSIVE:
            about = f"about {self.needed}" if self.needed else f"more than {statistics.MOST_NEEDED}"
            parts.append(f"a verdict takes {about} launches, if they are like these {self.launches}")
        return "; ".join(parts)


@dataclasses.dataclass
class Outcome:
    measured: list
    verdicts: list
    rules: list
    search: nodes.Search
    alpha: float  # of each target

    @property
    def broken(self):
        return [rule for rule in self.rules if not rule.is_met]

    @property
    def outcomes(self):
        """What --fail-on may name, as far as it is there."""
        found = {verdict.verdict for verdict in self.verdicts}
        found |= {INVALID} if self.broken else set()
        return found | ({SLOW_NODE} if self.search.slow_nodes else set())


def judge(suite, collection, changed, per_target=False):
    """Of a suite and the records of its folder. `changed`: what is not as it was when it was first run."""
    mine = [record for record in collection.records if record.study.get("cell_id") in suite.of_cell]
    measured = _measured(suite, mine)
    search = nodes.search(mine, suite.tables.suite.slow_node)
    pairs = [(target, _of_target(suite, target, measured)) for target in suite.tables.target]
    alpha = compare.ALPHA / (1 if per_target else max(1, sum(max(1, len(found)) for _, found in pairs)))
    verdicts = []
    for target, found in pairs:
        verdicts += [_verdict(target, one, alpha) for one in found]
        if not found:
            verdicts.append(Verdict(target, None, MISSING, None, None, None, 0, None, "no launch of it left a record"))
    judged = {verdict.measured.label for verdict in verdicts if verdict.measured}
    evidence = rules.Evidence(suite, mine, measured, collection.failures, changed, judged)
    return Outcome(measured, verdicts, rules.all_of(evidence), search, alpha)


def _measured(suite, records):
    """In the order of the suite."""
    grouped = collections.defaultdict(list)
    limits = collections.defaultdict(list)
    for record in records:
        key = record.study["cell_id"], record.direction
        (limits if record.is_bound else grouped)[(*key, record.method)].append(record)
    order = {id: place for place, id in enumerate(suite.of_cell)}
    found = []
    for (id, direction, _), same in sorted(grouped.items(), key=lambda item: (order[item[0][0]], item[0][1:])):
        if not any(record.measured for record in same):
            continue
        cell = cells.Cell(same, cells.attributes(same[0]))
        beside = [cells.Cell(group, {}) for (other, way, _), group in limits.items() if (other, way) == (id, direction)]
        beside = [limit for limit in beside if limit.summary]
        cell.limit = min(beside, key=lambda limit: limit.summary.median, default=None)
        cell.label = cell.method
        found.append(Measured(*suite.of_cell[id], cell))
    return found


def _of_target(suite, target, measured):
    ids = suite.matching(target)
    return [
        one
        for one in measured
        if one.cell.first.study["cell_id"] in ids
        and target.method in (None, one.cell.method)
        and target.direction in (None, one.cell.first.direction)
        and (target.case is not None or target.kind != "files" or one.files)
    ]


def _verdict(target, measured, alpha):
    cell, wanted = measured.cell, target.least
    seconds = cell.launch_medians
    missing = lambda why: Verdict(target, measured, MISSING, None, None, None, len(seconds), None, why)
    if target.kind == "limit":
        if cell.limit is None:
            return missing("no limit was measured beside it")
        limit = [value / wanted for value in cell.limit.launch_medians]  # what may be taken
        ratio = statistics.ratio(limit, seconds, alpha)
        value, *ends = (wanted / part if part else None for part in (ratio.median, ratio.high, ratio.low))
        fewest = statistics.fewest_to_compare(alpha)
        more = lambda: statistics.needed(limit, seconds, alpha, 0)
    else:
        amount = cell.bytes if target.kind == "rate" else measured.files
        if not amount:
            return missing("its records do not say how many files a trial makes")
        median = statistics.median(seconds, alpha)
        value, *ends = (amount / part if part else None for part in (median[0], median[2], median[1]))
        fewest = statistics.fewest_for_interval(alpha)
        more = lambda: statistics.median_needed(seconds, amount / wanted, alpha)
    low, high = ends
    found = INCONCLUSIVE if low is None else PASS if low >= wanted else FAIL if high < wanted else INCONCLUSIVE
    needed = None if found != INCONCLUSIVE else fewest if low is None else more()
    note = f"{fewest} launches are the fewest for a verdict on so many targets" if low is None else ""
    return Verdict(target, measured, found, value, low, high, len(seconds), needed, note)


def warnings(outcome):
    """What `report` would say of the cells, but for what has a rule here."""
    left_out = {"few-trials", "noisy", "not-verified", "page-cache", "warm-reads", "unoptimised-build", "outliers", "clocks-disagree"}
    found = {}
    for one in outcome.measured:
        for finding in findings.of_cell(one.cell):
            if finding.code not in left_out:
                found.setdefault(finding.code, (finding, []))[1].append(one.label)
    return list(found.values())
