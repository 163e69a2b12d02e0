"""The command line of `slabmark accept`."""

from slabmark.commands import options
from slabmark.commands.parsing import Argument, Command, Flag, Option
from slabmark.verdicts import FAIL, INCONCLUSIVE, INVALID, MISSING, SLOW_NODE

FAILURES = (FAIL, MISSING, INVALID, SLOW_NODE)

COMMAND = Command(
    "accept",
    "slabmark.accept.command:main",
    "Judge a file system against its targets by a fixed suite",
    "Runs the suite of an acceptance and says whether a file system meets its targets: pass, fail or inconclusive for each. It also names "
    "broken rules and slow nodes, and writes a report to hand in. docs/how-to/accept-a-file-system.md tells how.",
    [
        Argument("suite", "SUITE.toml", "Suite that says what to measure, and what was agreed", required=False),
        Option("--new", "FILE", "Write the standard suite, to be completed, and end"),
        options.results("NAME-results beside the suite"),
        options.output("the report", "accept.html"),
        options.title(),
        Flag("--tiny", "Run with small data, to try everything; the result is marked as not valid"),
        *options.running(),
        Flag("--per-target", "Give 95 % for each target by itself, instead of for all of them together"),
        options.fail_on((*FAILURES, INCONCLUSIVE), FAILURES, ""),
        options.json(),
        *options.gates(),
        options.overwrite(),
    ],
)
