"""Options that several commands have: one name, one kind of value and one default for each."""

from slabmark import launchers, verdicts
from slabmark.commands.parsing import PRINT, Choice, Choices, Flag, Option, number, whole


def output(what, default=None):
    return Option("-o, --output", "FILE", what, default=default)


def overwrite(what="Replace files that exist already"):
    return Flag("--overwrite", what)


def output_dir():
    return Option("-d, --output-dir", "DIR", "Directory for the files that are written", default=".", retired=["-o"])


def results(what):
    return Option("-r, --results", "DIR", what)


def title():
    return Option("--title", "TEXT", "Heading of the page")


def map_index(group=""):
    return Option("--map-index", "K", "Use only this map of a file with several, from 1", whole(1, 1 << 31), group=group, retired=["--map"])


def launching(what, ranks):
    """How ranks are started, and how many."""
    names = ", ".join(launchers.TEMPLATES)
    return [
        Option("--launch", "TEMPLATE", f"{what}: {names}, or a line with {{ranks}} and {{command}}"),
        Option("-n, --ranks", "N", "Number of ranks", whole(1, 1 << 24), default=str(ranks)),
    ]


def json(what="the result", had_no_value=True):
    """`had_no_value`: in earlier releases it printed."""
    bare = PRINT if had_no_value else None
    return Option("--json", "FILE", f"Append {what} to this file as a line of JSON; '-' prints it", bare=bare)


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


def read(what):
    return Flag("--read", what)


def running():
    """Of commands that run a study: some run it in another way."""
    return [
        Flag("--dry-run", "Only list what would be launched"),
        Option("--job", "SCHEDULER", "Write a job script instead of running", Choice(launchers.SCHEDULERS)),
        Flag("--collect", "Launch nothing; gather the records of a job script"),
        Flag("--retry", "Run launches that failed once more"),
    ]
