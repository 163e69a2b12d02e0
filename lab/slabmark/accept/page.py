"""The report of an acceptance: one file that loads nothing, to be handed in."""

import collections

from slabmark import cells, findings, units
from slabmark.accept import judge
from slabmark.report import figures, layout
from slabmark.report import page as report

COLOURS = {judge.PASS: "green", judge.FAIL: "red", judge.INCONCLUSIVE: "yellow", judge.MISSING: "red"}
STYLES = {judge.PASS: "faster", judge.FAIL: "slower", judge.INCONCLUSIVE: "inconclusive", judge.MISSING: "missing"}  # of page.css
MOST_NODES_SHOWN = 20


def answer(outcome):
    """The first thing a reader wants to know."""
    counts = collections.Counter(verdict.verdict for verdict in outcome.verdicts)
    total = len(outcome.verdicts)
    if not total:
        words = "Nothing was agreed: the suite has no target"
    elif counts[judge.PASS] == total:
        words = f"Passed: all {units.counted(total, 'target')}"
    elif counts[judge.FAIL]:
        words = f"Failed: {counts[judge.FAIL]} of {units.counted(total, 'target')}"
    else:
        words = f"No verdict yet: {counts[judge.PASS]} of {units.counted(total, 'target')} passed"
    others = [f"{counts[name]} {name}" for name in (judge.INCONCLUSIVE, judge.MISSING) if counts[name]]
    words += f" ({', '.join(others)})" if others else ""
    if slow := outcome.search.slow_nodes:
        words += f"; slow: {', '.join(slow)}"
    if outcome.broken:
        broken = ", ".join(rule.name for rule in outcome.broken)
        return (
            f"Not valid for acceptance, since it breaks the {'rule' if len(outcome.broken) == 1 else 'rules'} {broken}. {words}."
        )
    return f"{words}. The result is valid."


def make(suite, outcome, collection, hashes, failed, arguments):
    """The page as text."""
    loads = cells.workloads([record for record in collection.records if record.study.get("cell_id") in suite.of_cell])
    shown = sorted(loads, key=lambda load: -len(load.cells))[: report.MOST_DRAWN_WORKLOADS]
    scaling = collections.defaultdict(list)
    for one in outcome.measured:
        if one.case.nodes == "one to all" and one.cell.rate:
            scaling[f"{one.case.name}, {one.cell.method}, {one.cell.first.direction}"].append(one)
    return layout.render(
        "accept/page.html.j2",
        title=arguments.title or f"Acceptance: {suite.tables.suite.name}",
        parts=[
            ("answers", "Answer", True),
            ("targets", "Targets", outcome.verdicts),
            ("rules", "Rules", True),
            ("nodes", "Nodes", True),
            ("cells", "Cells", True),
            ("findings", "Worth a look", True),
            ("machine", "What ran where", True),
            ("hashes", "Hashes", True),
        ],
        suite=suite,
        outcome=outcome,
        answer=answer(outcome),
        styles_of=STYLES,
        most_nodes=MOST_NODES_SHOWN,
        per_target=arguments.per_target,
        failed=failed,
        scaling=scaling.items(),
        drawings=[figures.rates(load, f"rates-{number}") for number, load in enumerate(shown) if load.cells],
        findings=findings.grouped(loads),
        machines=report.machines(collection.records),
        recipe=report.recipe(collection.records),
        collection=collection,
        hashes=hashes,
        text=suite.text,
    )
