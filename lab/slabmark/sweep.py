"""Runs a study: launch after launch in random order, each recorded as it ends, to be interrupted at any moment."""

import contextlib
import os
import shlex
import time

from slabmark import files, launch, progress, schedulers, study, units
from slabmark.errors import InputError, printable
from slabmark.results import Results


def check(arguments):
    """InputError for arguments of which one makes another do nothing, or undoes it."""
    if arguments.collect and (arguments.job is not None or arguments.retry):
        other = "--job" if arguments.job is not None else "--retry"
        raise InputError(f"--collect launches nothing, so it does not go with {other}; give them one after the other.")


def opened(plan, arguments):
    """The results of a plan, to be closed."""
    results = Results(plan)
    if arguments.collect:
        results.check_there()
    return contextlib.closing(results.open(launching=not (arguments.collect or arguments.job)))


def main(arguments, console):
    check(arguments)
    plan = study.read(arguments.study, arguments.results)
    if arguments.dry_run:
        return dry_run(plan, console)
    with opened(plan, arguments) as results:
        if arguments.retry:
            results.forget_failures()
        remaining = settle(results)
        if arguments.job:
            return write_job(results, arguments.job, remaining, console)
        if not arguments.collect:
            run(results, remaining, console)
            remaining = []
        elif remaining:
            console.say(f"{units.counted(len(remaining), 'launch')} not ended yet.")
        return summary(results, console) or (1 if remaining else 0)


def dry_run(plan, console):
    order = plan.plan()
    console.say(
        f"{len(plan.cells)} cells, {plan.tables.study.launches} launches each, {len(order)} in all. Round by round in random "
        "order; the first round:"
    )
    for one in order[: len(plan.cells)]:
        console.say(f"  {one.cell.label}\n    {shlex.join(plan.command(one, 'RECORDS'))}")
    return 0


def settle(results):
    """Gathers what earlier runs left, and returns the launches that are still to do. What has no exit status may be at work
    in a job, and is touched by nobody but a sweep that is to launch it itself."""
    done, failed = results.done(), results.failed()
    remaining = []
    for one in results.study.plan():
        status = results.read_status(one)
        if status is None and not results.launching:
            if one.key not in done and one.key not in failed:
                remaining.append(one)
        elif one.key in done:
            results.discard(one)
        elif one.key not in failed and not results.collect(one, status).was_there:
            remaining.append(one)
    return remaining


def write_job(results, scheduler, remaining, console):
    if not remaining:
        console.say("Every launch has ended; there is nothing to submit.")
        return 0
    path = results.folder / "job.sh"
    text = schedulers.script(results, scheduler, remaining)
    files.check_output(path, [results.study.file], ours=files.JOB_SCRIPT)
    files.write(path, os.fsencode(text))
    path.chmod(0o755)
    console.say(
        f"{printable(path)} holds {units.counted(len(remaining), 'launch')}.\n"
        f"Read it, then: {schedulers.SCHEDULERS[scheduler][1]} {shlex.quote(str(path))}\n"
        f"Afterwards:    {schedulers.collect_command(results.study)}"
    )
    return 0


def run(results, remaining, console):
    """Runs them one after the other."""
    hosts = hosts_of(results.study)
    total = len(results.study.cells) * results.study.tables.study.launches
    first = total - len(remaining) + 1
    pace = progress.Pace(one.cell.id for one in remaining)
    with progress.Progress() as shown:
        for number, one in enumerate(remaining, start=first):
            shown.at(f"[{number}/{total}] {one.cell.label}", pace.left)
            if hosts:
                plan = results.study
                per_node = plan.tables.launch.ranks_per_node or one.cell.ranks
                text = launch.rotated(hosts, plan.first_host(one), plan.nodes(one), per_node)
                files.write(results.file(one, ".hosts"), os.fsencode(text))
            begun = time.monotonic()
            if reason := run_launch(results, one):
                with shown.aside():
                    console.say(f"failed: {one.cell.label}: {reason}")
            pace.took(one.cell.id, time.monotonic() - begun)


def hosts_of(plan):
    """The nodes for a template with {hostfile}, else nothing. InputError if there are too few."""
    if not plan.rotates:
        return []
    hosts = plan.tables.launch.hosts or schedulers.hosts_of_job()
    most = max(map(plan.nodes, plan.plan()[: len(plan.cells)]))
    if len(hosts) < most:
        raise InputError(
            f"The template asks for a {{hostfile}} of {units.counted(most, 'node')}, and {len(hosts)} are known; start this "
            "inside a job of that many nodes, or name them by hosts = [...] in [launch]."
        )
    return hosts


def run_launch(results, one):
    """Runs one launch and records its outcome. Returns the reason if it failed."""
    command, timeout = results.command(one), results.study.tables.study.timeout
    reason = f"It was still running after {units.duration(timeout)} and was ended ('timeout' of [study])."
    try:
        with open(results.file(one, ".log"), "wb") as log:
            # The lock goes with it, so that no second sweep starts while it runs.
            shared = {"folder": results.study.file.parent, "descriptors": (results.lock,)}
            status = launch.run(command, timeout, dict(one.cell.environment), log, **shared)
        if status is not None:
            return results.collect(one, status).failure
    except InputError as error:
        reason = str(error)
    results.record_failure(one, None, reason)
    return reason


def summary(results, console):
    done, failed = results.done(), results.failed()
    mine = {one.key for one in results.study.plan()}
    kept, lost = len(done & mine), {key: reason for key, reason in failed.items() if key in mine and key not in done}
    text = f"{kept} of {len(mine)} launches are recorded in {printable(results.records)}"
    if lost:
        text += f"; {len(lost)} failed, with their reasons in {printable(results.failures)} (run them again with --retry)"
    console.say(text + ".")
    if kept:
        console.say(f"Next: {shlex.join(['slabmark', 'report', str(results.folder), '-o', 'report.html'])}")
    return 1 if lost else 0
