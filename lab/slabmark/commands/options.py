"""Options that several commands have: one name, one kind of value and one default for each."""

from slabmark import launchers, verdicts
from slabmark.commands.parsing import PRINT, Choice, Choices, Flag, Option, number, whole


def output(what, default=None):
    return Option("-o, --output", "FILE", f"File to write: {what}", default=default)


def overwrite(more=""):
    return Flag("--overwrite", f"Replace output files that exist already{more}")


def output_dir():
    return Option("-d, --output-dir", "DIR", "Directory for the files that are written", default=".", retired=["-o"])


def results(default):
    return Option("-r, --results", "DIR", f"Directory of the records (default: {default})")


def title():
    return Option("--title", "TEXT", "Heading of the page")


def map_index(group=""):
    return Option("--map-index", "K", "Use only this map of a file with several, from 1 on", whole(1, 1 << 31), group=group, retired=["--map"])


def launching(ranks, more=""):
    """How ranks are started, and how many."""
    names = ", ".join(launchers.TEMPLATES)
    return [
        Option("--launch", "TEMPLATE", f"How ranks are started: {names}, or a line with {{ranks}} and {{command}}{more}"),
        Option("-n, --ranks", "N", "Number of ranks", whole(1, 1 << 24), default=str(ranks)),
    ]


def json(had_no_value=True):
    """`had_no_value`: in earlier releases it printed."""
    bare = PRINT if had_no_value else None
    return Option("--json", "FILE", f"Append one JSON document per line to this file; {PRINT} prints it", bare=bare)


def gates():
    return [
        Option("--junit", "FILE", "Write the verdicts as JUnit XML"),
        Option("--openmetrics", "FILE", "Write the verdicts as OpenMetrics text"),
    ]


def tolerance():
    text = "Call a change of up to this share the same"
    return Option("--tolerance", "SHARE", text, number(0, 10), default=str(verdicts.TOLERANCE))


def fail_on(outcomes, default, what):
    text = f"Outcomes that make the exit status 1, of {', '.join(outcomes)}{what}; or none"
    return Option("--fail-on", "LIST", text, Choices(outcomes, "none"), default=",".join(default))


def dry_run(done):
    return Flag("--dry-run", f"Only say what would be {done}")


def running():
    """Of commands that run a study: some run it in another way."""
    return [
        dry_run("launched"),
        Option("--job", "SCHEDULER", "Write a job script instead of running", Choice(launchers.SCHEDULERS)),
        Flag("--collect", "Launch nothing; gather the records of a job script"),
        Flag("--retry", "Run launches that failed once more"),
    ]
