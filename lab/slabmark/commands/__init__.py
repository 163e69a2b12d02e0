"""The command lines of the lab: one module for each command, which declares its options and names the function that it runs."""

import json
import platform

from slabmark import __version__
from slabmark.commands.parsing import Ending, Group

LAB = Group(
    "slabmark",
    "",
    "From records of the Slabmark benchmarks to answers.",
    ["sweep", "report", "compare", "track", "accept", "advise", "apply", "capture", "describe", "decomp", "doctor"],
    [
        Ending("--version", "Print the version and exit", lambda ctx: f"slabmark {__version__}, Python {platform.python_version()}"),
        Ending("--describe-options", "", lambda ctx: json.dumps(LAB.describe(ctx)["commands"]), hidden=True),
    ],
)
