"""The command line of `slabmark doctor`."""

from slabmark.commands import options
from slabmark.commands.parsing import Command, Flag

COMMAND = Command(
    "doctor",
    "slabmark.doctor:main",
    "Show what is in effect on this machine and what is wrong",
    "Shows what is in effect on this machine (MPI, MPI-IO, HDF5, PnetCDF, file system, page cache), and what is wrong with it. The exit "
    "status is 1 if something is wrong.",
    [
        options.output_dir(),
        *options.launching(2, " (default: none are started)"),
        Flag("--fix-hints", "With each finding, print the line for a job script, tried on this machine where that is possible"),
    ],
)
