"""The command lines of the lab: one module for each command, which declares its options and names the function that it runs."""

import sys

from slabmark import __version__
from slabmark.commands.parsing import Ending, Group


def describe(ctx):
    """All commands as JSON."""
    import json

    return json.dumps(LAB.describe(ctx)["commands"])


LAB = Group(
    "slabmark",
    "",
    "From records of the Slabmark benchmarks to answers.",
    ["sweep", "report", "compare", "track", "accept", "advise", "apply", "capture", "describe", "decomp", "doctor"],
    [
        Ending("--version", "Print the version and exit", lambda ctx: f"slabmark {__version__}, Python {sys.version.split()[0]}"),
        Ending("--describe-options", "", describe, hidden=True),
    ],
)
