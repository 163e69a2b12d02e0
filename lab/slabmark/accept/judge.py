"""Whether an acceptance is valid, and what it says of each target."""

import collections
import dataclasses
import json

from slabmark import cells, compare, findings, statistics, units
from slabmark.accept import nodes

PASS, FAIL, INCONCLUSIVE, MISSING = "pass", "fail", "inconclusive", "missing"
INVALID, SLOW_NODE = "invalid", "slow-node"


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
        return int(found) if found.isdigit() and int(found) > 1 else None


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


@dataclasses.dataclass(frozen=True)
class Rule:
    name: str
    meaning: str
    broken: list  # sentences

    @property
    def is_met(self):
        return not self.broken


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
    rules = _rules(suite, mine, measured, collection.failures, changed, {one.label for one in _judged(verdicts)})
    return Outcome(measured, verdicts, rules, search, alpha)


def _judged(verdicts):
    return [verdict.measured for verdict in verdicts if verdict.measured]


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


def _rules(suite, records, measured, failures, changed, judged):
    """By name: what each asks, and what broke it."""
    chosen, machine = suite.tables.suite, suite.tables.machine
    plain = [one for one in measured if one.case.program == "slabmark-bench"]
    rules = []
    add = lambda name, meaning, broken: rules.append(Rule(name, meaning, list(dict.fromkeys(broken))))
    add("size", "the suite runs at its own size", ["it was run with --tiny"] * suite.tiny)
    add(
        "memory",
        f"a trial moves at least {chosen.memory:g} times the memory of its nodes",
        (
            f"{one.label}: {units.size(one.cell.bytes)} with {units.size(memory)} of memory"
            for one in measured
            if one.case.grow and one.cell.bytes < chosen.memory * (memory := max(map(_memory, one.cell.records), default=0))
        ),
    )
    known = {one.cell.first.study["cell_id"] for one in measured}
    labels = {cell.id: cell.label for cell in suite.plan.cells}
    add(
        "launches",
        f"each cell was launched {chosen.launches} times, and none failed",
        [f"{label}: none is recorded" for id, label in labels.items() if id not in known]
        + [
            f"{one.label}: {len(one.cell.launch_medians)} are recorded"
            for one in measured
            if len(one.cell.launch_medians) < chosen.launches
        ]
        + [f"{failure.cell}: launch {failure.launch}: {failure.reason}" for failure in failures if failure.cell_id in labels],
    )
    add(
        "spread",
        f"the half-width of the median of what has a target is at most {units.percent(chosen.spread)}",
        (
            f"{one.label}: {units.percent(width)}"
            for one in measured
            if one.label in judged and (width := statistics.summarise(one.cell.launch_medians).half_width) > chosen.spread
        ),
    )
    accepted = machine.file_systems
    places = {
        (record.manifest.get("output", {}).get("type"), record.manifest.get("output", {}).get("mount_point"))
        for record in records
    }
    add(
        "file-system",
        "all files lay on one file system" + (f" ({' or '.join(accepted)})" if accepted else ""),
        [f"they lay on {kind} at {place}" for kind, place in sorted(places, key=str) if accepted and kind not in accepted]
        + ["they lay on " + " and ".join(f"{kind} at {place}" for kind, place in sorted(places, key=str))] * (len(places) > 1),
    )
    add(
        "nodes",
        f"each launch had its nodes, with at most {units.counted(machine.ranks_per_node, 'rank')} each",
        (why for one in measured for record in one.cell.records if (why := _elsewhere(one, record, machine.ranks_per_node))),
    )
    add(
        "verified",
        "all that was written was read back by another rank and was right",
        (f"{one.label}: {one.cell.verified}" for one in measured if one.cell.verified != "yes"),
    )
    add(
        "durable",
        "writes ended when their data was durable" if chosen.sync else "the suite does not ask for durable writes",
        (
            f"{one.label}: without sync"
            for one in measured
            if chosen.sync and one.cell.first.direction == "write" and not all(record.sync for record in one.cell.records)
        ),
    )
    add(
        "cold",
        "reads came from the file system, not from pages in memory",
        (
            f"{one.label}: pages were in memory"
            for one in plain
            if one.cell.first.direction == "read" and any(record.cache != "cold" for record in one.cell.records)
        ),
    )
    unlike = collections.defaultdict(set)
    for record in records:
        for name, value in _conditions(record).items():
            unlike[record.manifest.get("program", {}).get("name"), name].add(json.dumps(value))
    add(
        "alike",
        "all launches ran the same programs and libraries on the same kind of node",
        (f"{name} of {of}: {' and '.join(sorted(values))}" for (of, name), values in unlike.items() if len(values) > 1),
    )
    builds = {record.manifest.get("program", {}).get("build_type") for record in records}
    add(
        "release",
        "the programs were built with PRESET=release",
        (f"a {build} build" for build in sorted(map(str, builds - {"Release"}))),
    )
    add("unchanged", "suite and programs are those that were launched first", (f"{name} has changed" for name in changed))
    return rules


def _elsewhere(one, record, ranks_per_node):
    """Why a launch did not have the nodes that it was to have; None if it did."""
    hosts = [host.get("ranks", 1) for host in record.manifest.get("hosts", [])]
    if len(hosts) == one.nodes and max(hosts) <= ranks_per_node:
        return None
    most = units.counted(max(hosts, default=0), "rank")
    return f"{one.label}: it had {units.counted(len(hosts), 'node')} with at most {most} each"


def _memory(record):
    """Of all nodes that a record ran on, bytes."""
    return (record.manifest.get("memory_bytes") or 0) * max(1, len(record.manifest.get("hosts", [])))


def _conditions(record):
    manifest = record.manifest
    program = manifest.get("program", {})
    return {
        "revision": program.get("git_revision"),
        "MPI": manifest.get("mpi"),
        "MPI-IO": manifest.get("mpi_io"),
        "libraries": manifest.get("libraries"),
        "kernel": manifest.get("kernel"),
        "cores": manifest.get("cores"),
        "memory": units.size(manifest.get("memory_bytes")),  # nodes of a kind differ by some pages
    }


def warnings(outcome):
    """What `report` would say of the cells, but for what has a rule here."""
    left_out = {"few-trials", "noisy", "not-verified", "page-cache", "warm-reads", "unoptimised-build", "outliers"}
    found = {}
    for one in outcome.measured:
        for finding in findings.of_cell(one.cell):
            if finding.code not in left_out:
                found.setdefault(finding.code, (finding, []))[1].append(one.label)
    return list(found.values())
