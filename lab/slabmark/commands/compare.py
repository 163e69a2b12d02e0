"""The command line of `slabmark compare`."""

from slabmark.commands import options
from slabmark.commands.parsing import Argument, Choice, Command, Flag, Option
from slabmark.verdicts import CONDITIONS, INCONCLUSIVE, MISSING, SLOWER

COMMAND = Command(
    "compare",
    "slabmark.compare:main",
    "Tell whether NEW is faster or slower than BASE",
    "Compares two sets of records cell by cell: faster, slower, same or inconclusive. The ratio is the median of all ratios of a new "
    "to a base value. Its interval inverts the rank-sum test of Wilcoxon, Mann and Whitney, so it holds for any distribution.",
    [
        Argument("base", "BASE", "File or directory of records"),
        Argument("new", "NEW", "File or directory of records"),
        options.tolerance(),
        Option(
            "--accept",
            "CONDITION",
            f"Compare although this differs: {', '.join(CONDITIONS)}; may be repeated",
            Choice(CONDITIONS),
            multiple=True,
        ),
        Flag("--per-cell", "Give 95 % for each cell by itself, instead of for all of them together"),
        options.fail_on(
            (SLOWER, MISSING, INCONCLUSIVE), (SLOWER, MISSING), " (missing: a cell of BASE without a partner in NEW)"
        ),
        options.json(),
        *options.gates(),
    ],
)
