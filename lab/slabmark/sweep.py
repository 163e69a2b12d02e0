"""Runs a study: launch after launch in random order, each recorded as it ends, to be interrupted at any moment."""

import os
import shlex
import sys
import time

from slabmark import files, launch, schedulers, study, units
from slabmark.errors import InputError
from slabmark.results import Results
from slabmark.terminal import say


def add_arguments(parser):
    parser.add_argument("study", metavar="STUDY.toml", help="what to measure")
    parser.add_argument(
        "-r",
        "--results",
        metavar="FOLDER",
        help="where the records go (default: as the study says, or NAME-results beside it)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only list what would be launched")
    parser.add_argument(
        "--job", metavar="SCHEDULER", help="write a job script for slurm, pbs or flux instead of running"
    )
    parser.add_argument("--collect", action="store_true", help="only gather the records of a job script")
    parser.add_argument("--retry", action="store_true", help="run launches that failed once more")


def main(arguments, console):
    plan = study.read(arguments.study, arguments.results)
    if arguments.dry_run:
        return dry_run(plan, console)
    if arguments.job is not None and arguments.job not in schedulers.SCHEDULERS:
        raise InputError(
            f"'{arguments.job}' is no scheduler that --job knows; it knows {', '.join(schedulers.SCHEDULERS)}."
        )
    results = Results(plan).open()
    try:
        if arguments.retry:
            results.forget_failures()
        remaining = settle(results)
        if arguments.job:
            return write_job(results, arguments.job, remaining, console)
        if not arguments.collect:
            run(results, remaining, console)
            remaining = []
        elif remaining:
            say(console, f"{units.counted(len(remaining), 'launch')} not ended yet.")
        return summary(results, console) or (1 if remaining else 0)
    finally:
        results.close()


def dry_run(plan, console):
    order = plan.plan()
    say(
        console,
        f"{len(plan.cells)} cells, {plan.launches} launches each, {len(order)} in all. Round by round in random "
        "order; the first round:",
    )
    for cell, _ in order[: len(plan.cells)]:
        say(console, f"  {cell.label}\n    {' '.join(plan.command(cell, 'RECORDS'))}")
    return 0


def settle(results):
    """Gathers what earlier runs left, and returns the launches that are still to do."""
    done, failed = results.done(), results.failed()
    remaining = []
    for cell, number in results.study.plan():
        key = cell.id, number
        if key in done:
            results.discard(cell, number)
        elif key not in failed:
            _, settled = results.collect(cell, number, results.read_status(cell, number))
            if not settled:
                remaining.append((cell, number))
    return remaining


def write_job(results, scheduler, remaining, console):
    if not remaining:
        say(console, "Every launch has ended; there is nothing to submit.")
        return 0
    path = results.folder / "job.sh"
    text = schedulers.script(results, scheduler, remaining)
    files.check_output(path, [results.study.file], ours=files.JOB_SCRIPT)
    files.write(path, os.fsencode(text))
    path.chmod(0o755)
    say(
        console,
        f"{path} holds {units.counted(len(remaining), 'launch')}.\n"
        f"Read it, then: {schedulers.SCHEDULERS[scheduler].submit} {shlex.quote(str(path))}\n"
        f"Afterwards:    {schedulers.collect_command(results.study)}",
    )
    return 0


def run(results, remaining, console):
    """Runs them one after the other."""
    total = len(results.study.cells) * results.study.launches
    started = time.monotonic()
    for position, (cell, number) in enumerate(remaining):
        elapsed = time.monotonic() - started
        left = f", {units.duration(elapsed / position * (len(remaining) - position))} left" if position else ""
        _progress(console, f"[{total - len(remaining) + position + 1}/{total}{left}] {cell.label}")
        reason = run_launch(results, cell, number)
        if reason:
            _progress(console, "")
            say(console, f"failed: {cell.label}: {reason}")
    _progress(console, "")


def _progress(console, text):
    """One line that is written over on a terminal; elsewhere a line each."""
    if console.is_terminal:
        sys.stdout.write("\r\033[K" + text[: console.width - 1])
        sys.stdout.flush()
    elif text:
        print(text, flush=True)


def run_launch(results, cell, number):
    """Runs one launch and records its outcome. Returns the reason if it failed."""
    plan = results.study
    command = plan.command(cell, results.record_file(cell, number))
    reason = None
    with open(results.log_file(cell, number), "wb") as log:
        try:
            # The lock goes with it, so that no second sweep starts while it runs.
            status = launch.run(
                command,
                plan.timeout,
                dict(cell.environment),
                log,
                folder=plan.file.parent,
                descriptors=(results.lock,),
            )
        except InputError as error:
            reason = str(error)
    if reason is None and status is None:
        reason = f"It was still running after {units.duration(plan.timeout)} and was ended ('timeout' of [study])."
    if reason:
        results.record_failure(cell, number, None, reason)
        return reason
    return results.collect(cell, number, status)[0]


def summary(results, console):
    done, failed = results.done(), results.failed()
    mine = {(cell.id, number) for cell, number in results.study.plan()}
    kept, lost = len(done & mine), {key: reason for key, reason in failed.items() if key in mine and key not in done}
    text = f"{kept} of {len(mine)} launches are recorded in {results.records}"
    if lost:
        text += f"; {len(lost)} failed, with their reasons in {results.failures} (run them again with --retry)"
    say(console, text + ".")
    if kept:
        say(console, f"Next: slabmark report {results.folder} -o report.html")
    return 1 if lost else 0
