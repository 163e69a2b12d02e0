"""The command line of `slabmark sweep`."""

from slabmark.commands import options
from slabmark.commands.parsing import Argument, Command

COMMAND = Command(
    "sweep",
    "slabmark.sweep:main",
    "Measure the cells of a study in random order",
    "Runs a study: launch after launch in random order, each recorded as it ends. It can be interrupted at any moment, and goes on "
    "where it ended when it is started again.",
    [
        Argument("study", "STUDY.toml", "Study that says what to measure"),
        options.results("as the study says, or NAME-results beside it"),
        *options.running(),
    ],
)
