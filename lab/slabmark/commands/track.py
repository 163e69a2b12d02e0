"""The command lines of `slabmark track`."""

import datetime

from slabmark.commands import options
from slabmark.commands.parsing import Argument, Choice, Command, Flag, Group, Kind, Option, number, whole
from slabmark.verdicts import INCONCLUSIVE, MISSING, SLOWER


def _day(text):
    """Days since 1970."""
    return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days


def _time(text):
    """Milliseconds after midnight."""
    parsed = datetime.datetime.strptime(text, "%H:%M")
    return (parsed.hour * 60 + parsed.minute) * 60_000


DAY, TIME = Kind("a day such as 2026-01-31", _day), Kind("a time such as 06:00", _time)


def action(name, summary, *parameters):
    store = Argument("store", "STORE", "File of the store")
    return Command(name, f"slabmark.track.command:{name}", summary, f"{summary}.", [store, *parameters])


def judging():
    return [
        Option("--cell", "TEXT", "Only cells whose names hold this; may be repeated", multiple=True),
        options.tolerance(),
        Option(
            "--recent", "DAYS", "Hold the level now against the one that was in force so many days ago", whole(1, 100_000), default="30"
        ),
        Option(
            "--false-alarms", "NUMBER", "Changes per year, of all cells together, that may be mistaken", number(1e-6, 1000), default="0.5"
        ),
        Option("--day-starts", "HH:MM", "Time at which a night's day begins, in UTC", TIME, default="00:00"),
    ]


COMMAND = Group(
    "track",
    "Keep many nights in a store and find what changed, and when",
    "Keeps the records of many nights in one store, finds lasting changes, and makes a page of them. docs/how-to/track-nights.md tells how.",
    [
        action(
            "add",
            "Put records into the store, each launch once; a store that does not exist is made",
            Argument("records", "RECORDS", "Files or directories of records", repeated=True, required=True),
        ),
        action(
            "report",
            "Find changes, write a page, and end with status 1 if a cell is slower or missing",
            options.output("the page", "track.html"),
            options.title(),
            *judging(),
            options.fail_on(
                (SLOWER, MISSING, INCONCLUSIVE),
                (SLOWER, MISSING),
                " (missing: a cell was not measured lately, or was read back wrong)",
            ),
            options.json(),
            *options.gates(),
            options.overwrite(),
        ),
        action(
            "query",
            "Print what is in the store",
            Argument("what", "WHAT", "Rows of cells, nights, trials or changes", Choice(["cells", "nights", "trials", "changes"]),
                     default="cells"),
            Option("--since", "DAY", "From this day on, such as 2026-01-31", DAY),
            Option("--until", "DAY", "To this day", DAY),
            *judging(),
            options.json(),
            Option("--csv", "FILE", "Write a table"),
            options.overwrite(),
        ),
        action(
            "prune",
            "Remove what is old, for good: it does not come back with the next add",
            Option("--before", "DAY", "Launches before this day, such as 2026-01-31 (UTC)", DAY, required=True),
            Flag("--trials-only", "Keep their medians, from which changes are found"),
            options.dry_run("removed"),
        ),
        action(
            "copy",
            "Copy the store as it is at one moment, while others may add to it",
            Argument("copy", "COPY", "File to make; an earlier store there is replaced"),
        ),
    ],
    metavar="ACTION",
)  # fmt: skip
