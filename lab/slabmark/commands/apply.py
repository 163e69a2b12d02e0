"""The command line of `slabmark apply`."""

import re

import click

from slabmark.commands.parsing import Command, Flag, Kind, Option, TrailingCommand
from slabmark.errors import InputError

PNETCDF, LAYOUTS, NOTHING = "pnetcdf", ("canonical", "log"), "nothing"  # what can be in a program


class Way(click.ParamType):
    name = "way"
    choices = (PNETCDF, *LAYOUTS, *(f"{PNETCDF},{layout}" for layout in LAYOUTS), NOTHING)

    def convert(self, value, param, ctx):
        ways, known = value.split(","), [PNETCDF, *LAYOUTS, NOTHING]
        if unknown := [way for way in ways if way not in known]:
            raise InputError(f'{param.label} is "{value}": \'{unknown[0]}\' is none of {", ".join(known)}.')
        if len(ways) != len(set(ways)) or len(set(ways) & set(LAYOUTS)) > 1 or len(ways) > 1 and NOTHING in ways:
            raise InputError(f'{param.label} is "{value}", which cannot be had together: of two, one is {PNETCDF}, and one of '
                             f"{', '.join(LAYOUTS)}.")
        return ",".join(sorted(ways, key=known.index))


def _flushes(text):
    if text != "on" and not (text.isdecimal() and 0 < int(text) < 1 << 31):
        raise ValueError
    return text


def _memory(text):
    if not re.fullmatch("[1-9][0-9]{0,11}[KMGT]?", text):
        raise ValueError
    return text


def _variable(text):
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ValueError
    return name, value


COMMAND = Command(
    "apply",
    "slabmark.apply:main",
    "Run a program with the PnetCDF drop-in or the HDF5 connector",
    "Runs a program, unchanged, with a faster way of writing in it: the drop-in for PnetCDF, or the connector of HDF5. The exit "
    "status is that of the command.\n\nslabmark apply -- mpiexec -n 4 ./model",
    [
        Option(
            "--with",
            "WORD",
            "Use the drop-in for PnetCDF (pnetcdf), the HDF5 connector with a layout (canonical or log, see "
            "docs/reference/hdf5-connector.md), both (pnetcdf,canonical or pnetcdf,log), or only --env (nothing)",
            Way(),
            into=["way"],
            default=PNETCDF,
        ),
        Option("--env", "NAME=VALUE", "Variable of all ranks; may be repeated", Kind("a variable such as NAME=VALUE", _variable), multiple=True),
        Option(
            "--compress",
            "FILTER",
            "Compression of the files that the program makes through PnetCDF, which become netCDF-4 when it closes them: zstd[:LEVEL], "
            "deflate[:LEVEL] or none",
        ),
        Flag("--shuffle", "Sort the bytes of elements before they are compressed by --compress"),
        Flag("--report", "Print for each file what the drop-in for PnetCDF moved by plan, and what it did not and why"),
        Option(
            "--overlap",
            "FLUSHES",
            "Write while the program goes on: a flush returns when its data is in memory; FLUSHES of a file may wait there (without a "
            "number: as many as --overlap-memory holds)",
            Kind("a number of flushes", _flushes),
            implied="on",
        ),
        Option(
            "--overlap-memory",
            "SIZE",
            "With --overlap, most bytes of a process that wait to be written (default: a quarter of the node's free memory, divided by its "
            "processes)",
            Kind("a size such as 512M", _memory),
        ),
        Flag(
            "--check",
            "Also run the command without the accelerator, and compare each dataset that the two runs leave in files of HDF5 and classic "
            "netCDF; a difference gives exit status 1",
        ),
        Option(
            "--check-dir",
            "DIR",
            "With --check, a directory of the program's files, including those that it changes (default: the working directory, and paths "
            "that the command names); may be repeated",
            multiple=True,
            retired=["--files"],
        ),
        TrailingCommand("Program or script, or a launcher with one; launchers hand the drop-in on to other nodes", required=True),
    ],
)
