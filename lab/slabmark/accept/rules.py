"""What makes an acceptance valid: rules, and what broke each."""

import collections
import dataclasses
import json

from slabmark import findings, statistics, study, units


@dataclasses.dataclass(frozen=True)
class Rule:
    name: str
    meaning: str
    broken: list  # sentences

    @property
    def is_met(self):
        return not self.broken


@dataclasses.dataclass(frozen=True)
class Evidence:
    suite: object
    records: list  # of the suite
    measured: list  # of judge.Measured
    failures: list  # launches that left none
    changed: list  # names of what is not as it was when the suite was first run
    judged: set  # labels of what has a target

    @property
    def chosen(self):
        return self.suite.tables.suite

    @property
    def machine(self):
        return self.suite.tables.machine


def all_of(evidence):
    """In the order in which they are shown."""
    rules = [(name, *rule(evidence)) for name, rule in _RULES.items()]
    return [Rule(name, meaning, list(dict.fromkeys(broken))) for name, meaning, broken in rules]


def _size(evidence):
    return "the suite runs at its own size", ["it was run with --tiny"] * evidence.suite.tiny


def _memory(evidence):
    times = evidence.chosen.memory
    broken = []
    for one in evidence.measured:
        memory = max(map(_memory_of, one.cell.records), default=0)
        if one.case.grow and one.cell.bytes < times * memory:
            broken.append(f"{one.label}: {units.size(one.cell.bytes)} with {units.size(memory)} of memory")
    return f"a trial moves at least {times:g} times the memory of its nodes", broken


def _launches(evidence):
    wanted = evidence.chosen.launches
    known = {one.cell.first.study["cell_id"] for one in evidence.measured}
    labels = {cell.id: cell.label for cell in evidence.suite.plan.cells}
    broken = [f"{label}: none is recorded" for id, label in labels.items() if id not in known]
    for one in evidence.measured:
        if len(one.cell.launch_medians) < wanted:
            broken.append(f"{one.label}: {len(one.cell.launch_medians)} are recorded")
    for failure in evidence.failures:
        if failure.cell_id in labels:
            broken.append(f"{failure.cell}: launch {failure.launch}: {failure.reason}")
    return f"each cell was launched {wanted} times, and none failed", broken


def _spread(evidence):
    most = evidence.chosen.spread
    broken = []
    for one in evidence.measured:
        if one.label in evidence.judged and (width := statistics.summarise(one.cell.launch_medians).half_width) > most:
            broken.append(f"{one.label}: {units.percent(width)}")
    return f"the half-width of the median of what has a target is at most {units.percent(most)}", broken


def _file_system(evidence):
    accepted = evidence.machine.file_systems
    outputs = [record.manifest.get("output", {}) for record in evidence.records]
    places = sorted({(output.get("type"), output.get("mount_point")) for output in outputs}, key=str)
    broken = [f"they lay on {kind} at {place}" for kind, place in places if accepted and kind not in accepted]
    if len(places) > 1:
        broken.append("they lay on " + " and ".join(f"{kind} at {place}" for kind, place in places))
    return "all files lay on one file system" + (f" ({' or '.join(accepted)})" if accepted else ""), broken


def _nodes(evidence):
    most = evidence.machine.ranks_per_node
    broken = [_elsewhere(one, record, most) for one in evidence.measured for record in one.cell.records]
    return f"each launch had its nodes, with at most {units.counted(most, 'rank')} each", filter(None, broken)


def _verified(evidence):
    broken = [f"{one.label}: {one.cell.verified}" for one in evidence.measured if one.cell.verified != "yes"]
    return "all that was written was read back by another rank and was right", broken


def _durable(evidence):
    if not evidence.chosen.sync:
        return "the suite does not ask for durable writes", []
    written = [one for one in evidence.measured if one.cell.first.direction == "write"]
    broken = [f"{one.label}: without sync" for one in written if not all(record.sync for record in one.cell.records)]
    return "writes ended when their data was durable", broken


def _cold(evidence):
    plain = [one for one in evidence.measured if one.case.program == study.BENCH]
    read = [one for one in plain if one.cell.first.direction == "read"]
    warm = [one for one in read if any(record.cache != "cold" for record in one.cell.records)]
    return "reads came from the file system, not from pages in memory", [f"{one.label}: pages were in memory" for one in warm]


def _alike(evidence):
    unlike = collections.defaultdict(set)
    for record in evidence.records:
        for name, value in _conditions(record).items():
            unlike[record.manifest.get("program", {}).get("name"), name].add(json.dumps(value))
    broken = [f"{name} of {of}: {' and '.join(sorted(values))}" for (of, name), values in unlike.items() if len(values) > 1]
    return "all launches ran the same programs and libraries on the same kind of node", broken


def _release(evidence):
    builds = {record.manifest.get("program", {}).get("build_type") for record in evidence.records}
    broken = [f"a {build} build" for build in sorted(map(str, builds - {"Release"}))]
    return "the programs were built with PRESET=release", broken


def _unchanged(evidence):
    return "suite and programs are those that were launched first", [f"{name} has changed" for name in evidence.changed]


def _clocks(evidence):
    broken = [findings.clocks_disagree(record.manifest) for record in evidence.records]
    return "the clocks of all ranks ran at one rate", filter(None, broken)


_RULES = {
    "size": _size,
    "memory": _memory,
    "launches": _launches,
    "spread": _spread,
    "file-system": _file_system,
    "nodes": _nodes,
    "verified": _verified,
    "durable": _durable,
    "cold": _cold,
    "alike": _alike,
    "release": _release,
    "clocks": _clocks,
    "unchanged": _unchanged,
}


def _elsewhere(one, record, ranks_per_node):
    """Why a launch did not have the nodes that it was to have; None if it did."""
    hosts = [host.get("ranks", 1) for host in record.manifest.get("hosts", [])]
    if len(hosts) == one.nodes and max(hosts) <= ranks_per_node:
        return None
    most = units.counted(max(hosts, default=0), "rank")
    return f"{one.label}: it had {units.counted(len(hosts), 'node')} with at most {most} each"


def _memory_of(record):
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
