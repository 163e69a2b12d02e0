"""The command line of `slabmark advise`."""

import math

from slabmark.commands import options
from slabmark.commands.parsing import Argument, Choice, Command, Flag, Kind, Option, number, whole

# Methods of programs whose authors never thought about it, the commonest first.
PLAINEST = ("hdf5-slab", "pnetcdf-vara", "mpiio-independent", "posix")
SIZES = {"float32": 4, "float64": 8, "int32": 4, "int64": 8}
USES = ("write", "series", "level", "field")  # of a file that has chunks
CHUNKS, PIO = "with --chunks", "with --pio"


def _mix(text):
    found = {name: float(count) for name, count in (part.split("=") for part in text.split(","))}
    if not set(found) <= set(USES) or not all(0 <= count < math.inf for count in found.values()) or max(found.values()) == 0:
        raise ValueError
    return found


def _counts(text):
    found = [int(part) for part in text.split(",")]
    if min(found) < 1:
        raise ValueError
    return found


COMMAND = Command(
    "advise",
    "slabmark.advise.command:main",
    "Try methods and settings, and say which to use here",
    "Tries methods, hints and settings on one pattern by successive halving, confirms the winner against what you do today, and prints the "
    "setting as flags and as lines of C.",
    [
        Argument(
            "pattern",
            "MAP-OR-PATTERN",
            "Decomposition file, pattern file, or a workload of slabmark bench with its options in quotes, such as 'decomp --map f.nc "
            "--variables 10'",
        ),
        *options.launching(4),
        Option("--time-limit", "SECONDS", "Seconds that all launches may take together", number(1, 1e7), default="120", retired=["--time"]),
        options.output_dir(),
        Option(
            "--method",
            "LIST",
            "Methods, separated by commas, such as hdf5-union or 'pnetcdf-*' (default: all of this build that write the format)",
            Kind("methods separated by commas", lambda text: text.split(",")),
        ),
        Option(
            "--format",
            "WORD",
            "Only methods that write netcdf or hdf5 files; any: also files without header (default: the format of --today; any with "
            "--method)",
            Choice(["netcdf", "hdf5", "any"]),
        ),
        Option(
            "--today",
            "METHOD",
            "Method that you use today, with which the winner is compared (default: the first of "
            f"{', '.join(PLAINEST)} that writes the format and is in --method)",
        ),
        Flag("--read", "Measure reading, and advise on it"),
        Flag("--sync", "Make files durable (fsync) inside the times"),
        options.json(had_no_value=False),
        Flag("--chunks", "Measure shapes of chunks and filters for the pattern's first variable", group=CHUNKS),
        Option(
            "--mix",
            "USE=N,...",
            "How often a file is written, and its series at a point, one level, or whole fields are read; what is not named: never",
            Kind(f"a mix of {', '.join(USES)}, such as write=1,series=10", _mix),
            default="write=1,series=10,level=10,field=1",
            group=CHUNKS,
        ),
        Flag("--pio", "Run nothing; compute what SCORPIO's and PIO's rearrangers would do with the map", group=PIO),
        options.map_index(group=PIO),
        Option(
            "--io-tasks",
            "N,N",
            "Numbers of I/O tasks (default: 1, 2, 4, ... ranks, and one per node)",
            Kind("numbers from 1, separated by commas", _counts),
            group=PIO,
        ),
        Option("--root", "RANK", "First I/O task", whole(0, 1 << 24), default="0", group=PIO),
        Option("--ranks-per-node", "N", "Count this many consecutive ranks as a node, for the drop-in beside it (default: all)", whole(1, 1 << 24), group=PIO),
        Option("--type", "WORD", "Element type of the variables", Choice(SIZES), default="float64", group=PIO),
        Option("--variables", "N", "Number of variables that are written together", whole(1, 100_000), default="1", group=PIO),
    ],
)
