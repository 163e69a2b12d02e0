"""The command line of `slabmark report`."""

from slabmark.commands import options
from slabmark.commands.parsing import Argument, Command, Flag, Option

COMMAND = Command(
    "report",
    "slabmark.report.command:main",
    "Make one self-contained HTML page from records",
    "Makes one HTML page from records that opens offline and prints well. It can also write figures as PNG and numbers as CSV.",
    [
        Argument("results", "RESULTS", "Files or directories of records", repeated=True),
        options.output("the page", "report.html"),
        Option("--track", "STORE", "In place of RESULTS: the page of 'slabmark track report STORE'"),
        options.title(),
        Option("--png-dir", "DIR", "Directory for each figure as a PNG", retired=["--png"]),
        Option("--csv-dir", "DIR", "Directory for cells.csv and trials.csv", retired=["--csv"]),
        Flag("--pool", "Take several RESULTS for launches of one measurement"),
        options.overwrite(),
    ],
)
