"""The command line of `slabmark describe`."""

from slabmark.commands import options
from slabmark.commands.parsing import Argument, Command, Flag

COMMAND = Command(
    "describe",
    "slabmark.pattern.describe:main",
    "Make a pattern file from a short text or a Darshan log",
    "Makes a pattern file from a short text (TOML), whose keys docs/reference/patterns.md explains, or from a log of Darshan.",
    [
        Argument("description", "FILE", "Text (TOML) that says what ranks write, or a log of Darshan (NAME.darshan)"),
        Flag("--read", "From a log of Darshan, take what was read instead of what was written"),
        options.output("the pattern (default: the text's name, .pattern)"),
        options.overwrite(),
    ],
)
