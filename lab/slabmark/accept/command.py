"""Runs the suite of an acceptance, and says whether a file system meets what was agreed: pass, fail or inconclusive for each
target, the rules that the result breaks, nodes that are slow, and a report to hand in. docs/how-to/accept-a-file-system.md tells how."""

import pathlib
import shlex

from rich.text import Text

from slabmark import compare, documents, files, gates, programs, records, sweep, tables
from slabmark.accept import judge, page, suite
from slabmark.errors import InputError, printable
from slabmark.terminal import Terminal


def main(arguments, console):
    if arguments.new is not None:
        files.check_output(arguments.new, (), arguments.overwrite)
        files.write(pathlib.Path(arguments.new), suite.standard().encode())
        then = shlex.join(["slabmark", "accept", arguments.new])
        console.say(f"{printable(arguments.new)}: complete [machine], [launch] and the targets, then: {then}")
        return 0
    if arguments.suite is None:
        raise InputError("No suite was named; 'slabmark accept --new FILE' writes the standard one, to be completed.")
    sweep.check(arguments)
    chosen = suite.read(arguments.suite, arguments.results, arguments.tiny)
    if arguments.dry_run:
        return sweep.dry_run(chosen.plan, console)
    if not arguments.collect:
        suite.check_completed(chosen)
    if arguments.job is None:
        files.check_output(arguments.output, [arguments.suite], arguments.overwrite, files.REPORT)
        gates.check(arguments, [arguments.suite], arguments.overwrite, [arguments.output])
        documents.check(arguments.json, [arguments.suite, arguments.output, arguments.junit, arguments.openmetrics])
    told = Terminal(stderr=True) if arguments.json == documents.PRINT else console
    with sweep.opened(chosen.plan, arguments) as results:
        identity = suite.Identity(chosen)
        if not arguments.collect:
            identity.keep(results)
        if arguments.retry:
            results.forget_failures()
        remaining = sweep.settle(results)
        if remaining and not arguments.collect:
            make_maps(chosen, told.say)
        if arguments.job:
            return sweep.write_job(results, arguments.job, remaining, console)
        if not arguments.collect:
            sweep.run(results, remaining, told)
        if not results.records.exists():
            raise InputError(f"Nothing is recorded in '{results.folder}' yet; without --collect the suite runs.")
        collection = records.read([results.records, *([results.failures] if results.failures.exists() else [])])
        outcome = judge.judge(chosen, collection, identity.changed(), arguments.per_target)
        hashes = hashes_of(chosen, identity, results)
    failed = [name for name in arguments.fail_on if name in outcome.outcomes]
    files.write(
        arguments.output, page.make(chosen, outcome, collection, hashes, failed, arguments).encode("utf-8", "backslashreplace")
    )
    gates.write(arguments, "accept", _tests(outcome, arguments.fail_on), _metrics(outcome))
    documents.put([document(chosen, outcome, hashes, collection.skipped, failed)], arguments.json)
    if arguments.json != documents.PRINT:
        show(outcome, arguments, failed, console)
    return 1 if failed else 0


def make_maps(chosen, tell):
    """Those decompositions that are not there yet."""
    for file, words in chosen.maps.items():
        if not file.exists():
            tell(f"making {file.name}")
            file.parent.mkdir(exist_ok=True)
            programs.output_of([*programs.command("slabmark decomp"), "generate", *words, "-o", str(file)], timeout=3600)


def hashes_of(chosen, identity, results):
    """Of all files that a reader may want to check."""
    found = [("suite", chosen.plan.file, identity.now["suite"])]
    found += [("program", programs.executable(name), identity.now[name]) for name in chosen.programs]
    there = [("records", results.records), ("failures", results.failures), *(("map", file) for file in chosen.maps)]
    found += [(what, file, suite.digest(file)) for what, file in there if file.exists()]
    return [documents.Hash(what=what, name=str(name), sha256=digest) for what, name, digest in found]


def _interval(one):
    if one.low is None:
        return "-"
    low, high = one.shown(one.low), one.shown(one.high)
    number, _, unit = low.partition(" ")
    return f"{number} to {high}" if high.endswith(f" {unit}") else f"{low} to {high}"


COLUMNS = [
    tables.Column("target", lambda one: one.label, is_name=True),
    tables.Column("agreed", lambda one: one.shown(one.target.least)),
    tables.Column("measured", lambda one: one.shown(one.value), optional=2),
    tables.Column("interval", _interval, optional=1),
    tables.Column("launches", lambda one: one.launches, optional=3),
    tables.Column("verdict", lambda one: Text(one.verdict, page.COLOURS[one.verdict]), justify="left"),
]


def show(outcome, arguments, failed, console):
    console.say(page.answer(outcome))
    console.say()
    if outcome.verdicts:
        tables.say_left_out(console, tables.show(console, COLUMNS, outcome.verdicts))
    for one in outcome.verdicts:
        if one.words:
            console.say(f"{one.verdict}: {one.label}: {one.words}")
    for slow in outcome.search.slow:
        console.say(slow.words)
    for rule in outcome.broken:
        console.say(
            f"not valid: {rule.name}: {rule.meaning}; but {'; '.join(rule.broken[:5])}"
            + ("; ..." if len(rule.broken) > 5 else "")
        )
    console.say(f"{printable(arguments.output)}: the report to hand in.")
    if failed:
        console.say(f"Exit status 1, because of --fail-on {','.join(arguments.fail_on)}: {', '.join(failed)}.")


def document(chosen, outcome, hashes, skipped, failed):
    """The same as `show` tells, for programs."""
    targets = [
        documents.Target(
            cell=one.label,
            kind=one.target.kind,
            agreed=one.target.least,
            measured=documents.Interval(median=one.value, low=one.low, high=one.high),
            launches=one.launches,
            needed=one.needed,
            verdict=one.verdict,
            note=one.note,
        )
        for one in outcome.verdicts
    ]
    return documents.Acceptance(
        answer=page.answer(outcome),
        suite=chosen.tables.suite.name,
        is_standard=chosen.is_standard,
        valid=not outcome.broken,
        coverage=1 - compare.ALPHA,
        targets=targets,
        rules=[documents.Rule(name=rule.name, met=rule.is_met, broken=rule.broken) for rule in outcome.rules],
        slow_nodes=outcome.search.slow,
        hashes=hashes,
        skipped=skipped,
        failed=failed,
    )


def _tests(outcome, fail_on):
    state = lambda name: "failed" if name in fail_on else "skipped"
    made = []
    for one in outcome.verdicts:
        words = f"agreed {one.shown(one.target.least)}, measured {one.shown(one.value)}"
        if one.low is not None:
            words += f", {one.shown(one.low)} to {one.shown(one.high)}"
        words = "; ".join(filter(None, (words, one.words)))
        seconds = one.measured.cell.summary.median if one.measured else None
        status = "passed" if one.verdict == judge.PASS else state(one.verdict)
        made.append(gates.Case("targets", f"{one.label}: {one.target.kind}", seconds, one.verdict, words, status))
    for rule in outcome.rules:
        verdict, words = ("met", rule.meaning) if rule.is_met else (judge.INVALID, "; ".join(rule.broken))
        made.append(gates.Case("rules", rule.name, None, verdict, words, "passed" if rule.is_met else state(judge.INVALID)))
    for slow in outcome.search.slow:
        verdict = judge.SLOW_NODE if slow.is_node else judge.INCONCLUSIVE
        made.append(gates.Case("nodes", f"{slow.host}, by {slow.by}", None, verdict, slow.words, state(verdict)))
    return made


def _metrics(outcome):
    measured = [one for one in outcome.verdicts if one.value is not None]
    labels = lambda one: {"cell": one.label, "target": one.target.kind}
    of_agreed = lambda one, value: None if value is None else value / one.target.least
    parts = {"median": "value", "low": "low", "high": "high"}
    return [
        gates.Gauge(
            "slabmark_accept_open_to_close_seconds",
            "Median over all trials.",
            [({"cell": one.label}, one.cell.summary.median) for one in outcome.measured],
            "seconds",
        ),
        gates.Gauge(
            "slabmark_accept_target_ratio",
            "Measured / agreed: the median and the interval.",
            [(labels(one) | {"of": of}, of_agreed(one, getattr(one, name))) for one in measured for of, name in parts.items()],
            "ratio",
        ),
        gates.States(
            "slabmark_accept_verdict",
            "Verdict of accept on the target.",
            [(labels(one), one.verdict) for one in outcome.verdicts],
            (judge.PASS, judge.FAIL, judge.INCONCLUSIVE, judge.MISSING),
        ),
        gates.Gauge(
            "slabmark_accept_rule_met",
            "1 where the result meets the rule.",
            [({"rule": rule.name}, int(rule.is_met)) for rule in outcome.rules],
        ),
        gates.Gauge(
            "slabmark_accept_slow_nodes",
            "1 for each node that was found to be slow.",
            [({"node": host}, 1) for host in outcome.search.slow_nodes],
        ),
    ]
