"""Runs a program with a faster way of writing in it, unchanged: slabmark apply -- mpiexec -n 4 ./model

The drop-in for PnetCDF, or the connector of HDF5. The exit status is that of the command.
"""

import argparse
import os
import shutil
import signal
import sys

from slabmark import launch, linked, programs, surroundings
from slabmark.errors import InputError

LIBRARY = "libslabmark_pnetcdf.so"
PRELOAD, REPORT, SWITCH = "LD_PRELOAD", "SLABMARK_REPORT", "SLABMARK_DROPIN"
PLUGIN, CONNECTOR, PLUGINS = "libslablog.so", "HDF5_VOL_CONNECTOR", "HDF5_PLUGIN_PATH"
PNETCDF, LAYOUTS, NOTHING = "pnetcdf", ("canonical", "log"), "nothing"  # what can be in a program


def add_arguments(parser):
    parser.usage = "slabmark apply [--with WHAT] [--env NAME=VALUE] [--report] -- COMMAND ..."
    parser.add_argument(
        "--with",
        dest="way",
        choices=[PNETCDF, *LAYOUTS, NOTHING],
        default=PNETCDF,
        help="pnetcdf: the drop-in (default); canonical or log: the connector of HDF5 with that layout (docs/slablog.md); "
        "nothing: only what --env says",
    )
    parser.add_argument(
        "--env", action="append", type=_variable, default=[], metavar="NAME=VALUE", help="a variable of all ranks; may be repeated"
    )
    parser.add_argument(
        "--report", action="store_true", help="print for each file what was moved by plan, and what not and why"
    )
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="a program or script, or a launcher with one; launchers get what hands the drop-in on to other nodes",
    )


def main(arguments, console):
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise InputError("A command is missing, such as 'slabmark apply -- mpiexec -n 4 ./model'.")
    if not (program := shutil.which(command[0])):
        raise InputError(f"The command '{command[0]}' is no program that can be run, here or in the PATH.")
    named = dict(arguments.env)
    if arguments.way in LAYOUTS and CONNECTOR in named:
        raise InputError(f"--with {arguments.way} sets {CONNECTOR} itself: leave it out of --env, or say --with {NOTHING}.")
    variables = named | settings(arguments.way, arguments.report, os.environ | named)
    if arguments.way != NOTHING:
        check_programs(command, arguments.way, surroundings.environment_of_user() | named)
    command, more = launch.forward(command, variables)
    sys.stdout.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and what it starts would, too
        signal.signal(number, signal.SIG_DFL)
    os.execve(program, command, surroundings.environment_of_user() | more)


def _variable(text):
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"'{text}' is no variable such as NAME=VALUE")
    return name, value


def settings(way=PNETCDF, report=False, before=None):
    """The variables with which a program writes that way, where it would find those of `before` (default: of the environment).
    InputError where they cannot work."""
    before = os.environ if before is None else before
    if report and way != PNETCDF:
        raise InputError("--report is of the drop-in for PnetCDF.")
    if way == NOTHING:
        return {}
    if way in LAYOUTS:
        folder = os.path.dirname(programs.find_library(PLUGIN))
        others = before.get(PLUGINS)
        connector = f"slablog under_vol=0;under_info={{}};layout={way}"
        return {CONNECTOR: connector, PLUGINS: f"{folder}:{others}" if others else folder}
    if before.get(SWITCH) in ("off", "0", "disable"):
        raise InputError(f"{SWITCH}={before[SWITCH]} switches the drop-in off; leave it out, or say --with {NOTHING}.")
    library = programs.find_library(LIBRARY)
    if any(c in library for c in " :,"):
        raise InputError(f"'{library}' cannot be preloaded: the dynamic linker takes blanks, colons and commas for ends of names. "
                         "Install Slabmark in another folder.")
    others = before.get(PRELOAD)
    return {PRELOAD: f"{library}:{others}" if others else library} | ({REPORT: "1"} if report else {})


def check_programs(words, way, environment):
    """InputError if one of the words names a program into which this way cannot be put."""
    own = programs.find_library(LIBRARY if way == PNETCDF else PLUGIN)
    ours = linked.libraries(own, environment)
    for word in words:
        theirs = linked.libraries(shutil.which(word), environment)
        if way == PNETCDF:
            linked.check_pnetcdf(word)
            if bound := linked.bound_pnetcdf(word, theirs):
                raise InputError(f"'{word}' calls PnetCDF from Fortran, and '{bound}' was linked so that nothing can stand in for what it calls "
                                 "inside (-Bsymbolic-functions, as in Ubuntu): have it find another of that version (docs/pnetcdf-drop-in.md).")
        elif other := linked.other_hdf5(word, theirs, own, ours):
            raise InputError(f"{other}: HDF5 takes connectors of its own library alone. Build one of them with the shared HDF5 of the other, "
                             "1.14 or newer (docs/building.md).")
        linked.check_mpi(word, theirs, own, ours)
