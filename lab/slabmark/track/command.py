"""Keeps the records of many nights in one store, finds lasting changes, and makes a page of them. docs/how-to/track-nights.md tells how."""

import csv
import datetime
import gc
import io
import itertools
import math
import pathlib

from slabmark import compare, documents, files, gates, records, tables, units
from slabmark.errors import InputError, printable
from slabmark.track import history, page, store

BATCH = 2000  # launches a transaction: another writer waits no longer than for these
MOST_NAMED = 20  # lines that were not kept


def add(arguments, console):
    store.check(arguments.store, make=True)  # before the work
    skipped, counts = [], {"limits": 0, "failures": 0}
    batches = itertools.batched if hasattr(itertools, "batched") else _batched
    launches = batches(_launches(arguments.records, skipped, counts), BATCH)
    first = next(launches, ())
    if not first:
        reason = f" The first that was there: {skipped[0]}." if skipped else ""
        raise InputError(f"No record with measured trials was found in {', '.join(arguments.records)}.{reason}")
    added = there = 0
    with store.opened(arguments.store, make=True) as opened:
        for batch in itertools.chain([first], launches):
            new = opened.add(batch)
            added, there = added + new, there + len(batch) - new
    for sentence in skipped[:MOST_NAMED]:
        console.say(f"warning: {sentence}")
    parts = [f"{units.counted(added, 'launch')} added"]
    parts += [f"{there} were there, or were pruned, already"] * bool(there)
    parts += [f"{units.counted(counts['limits'], 'record')} of a limit stay with their cells"] * bool(counts["limits"])
    parts += [f"{units.counted(counts['failures'], 'failed launch')} left out"] * bool(counts["failures"])
    parts += [f"{units.counted(len(skipped), 'line')} skipped"] * bool(skipped)
    console.say(f"{printable(arguments.store)}: {'; '.join(parts)}.")
    return 0


def _batched(values, count):
    values = iter(values)
    while batch := tuple(itertools.islice(values, count)):
        yield batch


def _launches(paths, skipped, counts):
    for entry in records.entries(paths):
        if isinstance(entry, records.Failure):
            counts["failures"] += 1
        elif isinstance(entry, str):
            skipped.append(entry)
        elif entry.is_bound:
            counts["limits"] += 1
        elif not entry.unsupported:
            try:
                yield store.launch_of(entry)
            except ValueError as reason:
                skipped.append(f"{entry.file}, line {entry.line}: skipped, because {reason}")


def _judged(arguments, opened):
    try:
        past = history.read(opened, arguments.day_starts)
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:  # what no `add` wrote
        raise InputError(f"The store '{arguments.store}' is damaged ({error}); copy it from a backup.") from None
    if not (asked_for := history.named(past, arguments.cell)):
        holding = " whose name holds " + " and ".join(map(repr, arguments.cell)) if arguments.cell else ""
        raise InputError(f"The store '{arguments.store}' has no cell{holding}; 'slabmark track query STORE' lists them.")
    history.judge(past, arguments.tolerance, arguments.recent, arguments.false_alarms)
    past.histories = asked_for
    return past


def report(arguments, console):
    gc.disable()  # nothing is dropped before the end
    files.check_output(arguments.output, [arguments.store], arguments.overwrite, files.REPORT)
    gates.check(arguments, [arguments.store], arguments.overwrite, [arguments.output])
    documents.check(arguments.json, [arguments.store, arguments.output, arguments.junit, arguments.openmetrics])
    with store.opened(arguments.store) as opened:
        past = _judged(arguments, opened)
    current = [one for one in past.histories if not history.is_over(one, past.newest, arguments.recent)]
    outcomes = {one.verdict for one in current}
    failed = [name for name in arguments.fail_on if name in outcomes]
    html = page.make(past, current, arguments)
    files.write(arguments.output, html.encode("utf-8", "backslashreplace"))
    gates.write(arguments, "track", _tests(current, arguments.fail_on), _metrics(current))
    documents.put([document(past, current, arguments, failed)], arguments.json)
    if arguments.json != documents.PRINT:
        show(past, current, arguments, failed, console)
    return 1 if failed else 0


def answer(current):
    """The result in one sentence."""
    counts = {name: sum(one.verdict == name for one in current) for name in history.ORDER}
    parts = [f"{count} {name}" for name, count in counts.items() if count and name not in (compare.SLOWER, history.UNCHANGED)]
    rest = f"; {', '.join(parts)}" if parts else ""
    slower = [one for one in current if one.verdict == compare.SLOWER]
    if not slower:
        known = "known to be " if counts[compare.MISSING] or counts[compare.INCONCLUSIVE] or counts[history.SHORT] else ""
        return f"No cell of {len(current)} is {known}slower than it was; {counts[history.UNCHANGED]} unchanged{rest}."
    most = max(slower, key=lambda one: one.ratio.median)
    many = f"{len(slower)} of {units.counted(len(current), 'cell')} {'is' if len(slower) == 1 else 'are'} slower"
    return f"{many}, most {most.name} {most.why}: {compare.times(most.ratio)}{rest}."


def show(past, current, arguments, failed, console):
    console.say(answer(current))
    console.say()
    for one in sorted(current, key=lambda one: history.ORDER.index(one.verdict)):
        if one.verdict in (history.UNCHANGED, history.SHORT):
            continue
        console.say(
            f"{one.verdict}: {one.name}: {', '.join(filter(None, [one.ratio and compare.interval_words(one.ratio), one.why]))}"
        )
        if one.ratio:
            for line in history.told(one.changes[-1]):
                console.say(f"    {line}")
    counts = {name: sum(one.verdict == name for one in current) for name in history.ORDER}
    console.say(
        f"{printable(arguments.output)}: {units.counted(len(current), 'cell')}, {past.count['launches']} launches, "
        f"{past.count['trials']} trials to {history.date(past.newest)}; at most {arguments.false_alarms:g} false alarms a year."
    )
    console.say("Verdicts: " + ", ".join(f"{count} {name}" for name, count in counts.items() if count) + ".")
    if failed:
        console.say(f"Exit status 1, because of --fail-on {','.join(arguments.fail_on)}: {', '.join(failed)}.")


def _tests(current, fail_on):
    made = []
    for one in current:
        words = [one.ratio and compare.interval_words(one.ratio), one.why, *(history.told(one.changes[-1]) if one.ratio else ())]
        seconds = one.latest.median if one.nights else None
        outcome = compare.outcome(one.verdict, fail_on)
        made.append(gates.Case(one.title, one.label, seconds, one.verdict, "; ".join(filter(None, words)), outcome))
    return made


def _metrics(current):
    labels = lambda one: {"workload": one.title, "cell": one.label}
    measured = [(labels(one), one) for one in current if one.nights]
    changed = [(labels(one), one.ratio) for one in current if one.ratio]
    return [
        gates.Gauge(
            "slabmark_track_open_to_close_seconds",
            "Median of the launches of the latest night.",
            [(row, one.latest.median) for row, one in measured],
            "seconds",
        ),
        gates.Gauge(
            "slabmark_track_measured_timestamp_seconds",
            "When the latest launch began, since 1970.",
            [(row, one.latest.launches[-1].started / 1000) for row, one in measured],
            "seconds",
        ),
        gates.Gauge(
            "slabmark_track_changes",
            "Number of lasting changes that were found.",
            [(row, len(one.changes)) for row, one in measured],
        ),
        gates.Gauge(
            "slabmark_track_level_ratio",
            "The level now / the one before, where it changed lately: the median and the interval.",
            [(row | {"of": of}, getattr(ratio, of)) for row, ratio in changed for of in ("median", "low", "high")],
            "ratio",
        ),
        gates.States(
            "slabmark_track_verdict",
            "Verdict of track on the cell.",
            [(labels(one), one.verdict) for one in current],
            history.ORDER,
        ),
    ]


def document(past, current, arguments, failed):
    """The same as `show` tells, for programs."""
    made = [
        documents.TrackedCell(**_named(one), nights=len(one.nights), verdict=one.verdict, why=one.why, ratio=one.ratio, changes=one.changes)
        for one in current
    ]
    return documents.Tracking(
        answer=answer(current),
        newest=history.date(past.newest),
        tolerance=arguments.tolerance,
        recent_days=arguments.recent,
        false_alarms_a_year=arguments.false_alarms,
        launches=past.count["launches"],
        trials=past.count["trials"],
        cells=made,
        failed=failed,
    )


def _cells(past, within):
    for one in past.histories:
        nights = [night for night in one.nights if within(night)]
        if nights:
            yield documents.CellRow(
                **_named(one),
                nights=len(nights),
                launches=sum(len(night.launches) for night in nights),
                trials=sum(len(launch.table) for night in nights for launch in night.launches),
                first=nights[0].date,
                last=nights[-1].date,
                latest_seconds=nights[-1].median,
                changes=len(one.changes),
                verdict=one.verdict,
            )


def _nights(past, within):
    for one, night in _within(past, within):
        yield documents.NightRow(
            **_named(one),
            date=night.date,
            median_seconds=night.median,
            limit_seconds=night.limit,
            launches=len(night.launches),
            trials=sum(len(launch.table) for launch in night.launches),
        )


def _trials(past, within):
    for one, night in _within(past, within):
        for number, launch in enumerate(night.launches):
            at = datetime.datetime.fromtimestamp(launch.started / 1000, datetime.UTC).isoformat(timespec="milliseconds")
            of_launch = {**_named(one), "date": night.date, "launch": number, "started": at, "hosts": past.hosts[launch.hosts]}
            for values in launch.table.tolist():
                phases = {f"{name}_seconds": value for name, value in zip(launch.columns, values)}
                yield documents.TrialRow(**of_launch, **phases)


def _changes(past, within):
    for one in past.histories:
        for change in one.changes:
            if within(one.nights[change.place]):
                yield documents.ChangeRow(
                    **_named(one),
                    date=change.date,
                    found=change.found,
                    ratio=change.ratio.median,
                    low=change.ratio.low,
                    high=change.ratio.high,
                    verdict=change.verdict,
                    what_else_changed="; ".join(f"{other.what}: {other.before} -> {other.after}" for other in change.changed),
                )


def _named(one):
    return {"workload": one.title, "cell": one.label}


def _within(past, within):
    return ((one, night) for one in past.histories for night in one.nights if within(night))


QUERIES = {"cells": _cells, "nights": _nights, "trials": _trials, "changes": _changes}


def query(arguments, console):
    if arguments.csv is not None and arguments.json:
        raise InputError("--csv and --json are two ways to have the same rows; give one of them.")
    if None not in (arguments.since, arguments.until) and arguments.since > arguments.until:
        since, until = history.date(arguments.since), history.date(arguments.until)
        raise InputError(f"No day is from --since {since} on and to --until {until}.")
    if arguments.csv is not None:
        files.check_output(arguments.csv, [arguments.store], arguments.overwrite, files.TABLE)
    documents.check(arguments.json, [arguments.store])
    with store.opened(arguments.store) as opened:
        past = _judged(arguments, opened)
    first = arguments.since if arguments.since is not None else -math.inf
    last = arguments.until if arguments.until is not None else math.inf
    rows = QUERIES[arguments.what](past, lambda night: first <= night.day <= last)
    if arguments.csv is not None:
        rows = [row.model_dump() for row in rows]
        text = io.StringIO(newline="")
        table = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)) or ["workload", "cell"])
        table.writeheader()
        table.writerows(rows)
        files.write(arguments.csv, text.getvalue().encode("utf-8", "backslashreplace"))
        console.say(f"{printable(arguments.csv)}: {units.counted(len(rows), 'row')}.")
    elif arguments.json:
        documents.put(rows, arguments.json)
    else:
        show_rows([row.model_dump() for row in rows], console)
    return 0


def show_rows(rows, console):
    if not rows:
        console.say("The store has no such rows.")
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [
        tables.Column(
            name.replace("_", " "),
            lambda row, name=name: _shown(name, row.get(name)),
            is_name=name in NAMES,
            optional=place if place > 2 else 0,
        )
        for place, name in enumerate(names)
    ]
    left_out = tables.show(console, columns, rows)
    tables.say_left_out(console, left_out)
    if left_out:
        console.say("--csv FILE writes all of them.")


NAMES = ("workload", "cell", "what_else_changed")  # columns whose texts may be folded


def _shown(name, value):
    if value is None:
        return ""
    if isinstance(value, float):
        return units.seconds(value) if name.endswith("_seconds") else f"{value:.3f}"
    return str(value)


def prune(arguments, console):
    before = arguments.before * history.DAY
    of_what = "the trials of " if arguments.trials_only else ""
    with store.opened(arguments.store) as opened:
        if arguments.dry_run:
            many, done = opened.pruned_at(before, arguments.trials_only), "would be"
        else:
            many, done = opened.prune(before, arguments.trials_only), "were"
    console.say(
        f"{printable(arguments.store)}: {of_what}{units.counted(many, 'launch')} before {history.date(arguments.before)} {done} removed."
    )
    return 0


def copy(arguments, console):
    target = pathlib.Path(arguments.copy)
    files.check_output(target, [arguments.store], ours=store.MAGIC)
    if target.exists():
        with store.opened(target):  # a data base of somebody else is no store
            pass
    with store.opened(arguments.store) as opened:
        opened.copy(target)
    console.say(f"{printable(target)}: a copy of {printable(arguments.store)}.")
    return 0

