"""Runs a program with a faster way of writing in it, unchanged: slabmark apply -- mpiexec -n 4 ./model

The drop-in for PnetCDF, or the connector of HDF5. The exit status is that of the command.
"""

import argparse
import mmap
import os
import pathlib
import shutil
import signal
import struct
import sys

from slabmark import launch, programs
from slabmark.errors import InputError

LIBRARY = "libslabmark_pnetcdf.so"
PRELOAD, REPORT, SWITCH = "LD_PRELOAD", "SLABMARK_REPORT", "SLABMARK_DROPIN"
PLUGIN, CONNECTOR, PLUGINS = "libslablog.so", "HDF5_VOL_CONNECTOR", "HDF5_PLUGIN_PATH"
PNETCDF, LAYOUTS, NOTHING = "pnetcdf", ("canonical", "log"), "nothing"  # what can be in a program
# What a file has in it that PnetCDF, or the drop-in, is linked into, whatever else was stripped from it.
TEXT_OF_PNETCDF, TEXT_OF_DROPIN = b"PnetCDF library version", SWITCH.encode()


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
    variables = settings(arguments.way, arguments.report) | dict(arguments.env)
    if arguments.way == PNETCDF:
        for word in command:
            check_program(word)
    command, more = launch.forward(command, variables)
    sys.stdout.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and what it starts would, too
        signal.signal(number, signal.SIG_DFL)
    os.execve(program, command, environment_of_user() | more)


def _variable(text):
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"'{text}' is no variable such as NAME=VALUE")
    return name, value


def settings(way=PNETCDF, report=False):
    """The variables with which a program writes that way. InputError where they cannot work."""
    if report and way != PNETCDF:
        raise InputError("--report is of the drop-in for PnetCDF.")
    if way == NOTHING:
        return {}
    if way in LAYOUTS:
        folder = os.path.dirname(programs.find_library(PLUGIN))
        others = os.environ.get(PLUGINS)
        connector = f"slablog under_vol=0;under_info={{}};layout={way}"
        return {CONNECTOR: connector, PLUGINS: f"{folder}:{others}" if others else folder}
    if os.environ.get(SWITCH) in ("off", "0", "disable"):
        raise InputError(f"{SWITCH}={os.environ[SWITCH]} in the environment switches the drop-in off; unset it.")
    library = programs.find_library(LIBRARY)
    if any(c in library for c in " :,"):
        raise InputError(f"'{library}' cannot be preloaded: the dynamic linker takes blanks, colons and commas for ends of names. "
                         "Install Slabmark in another folder.")
    others = os.environ.get(PRELOAD)
    return {PRELOAD: f"{library}:{others}" if others else library} | ({REPORT: "1"} if report else {})


def environment_of_user():
    """Without the folder of the lab, which our own wrapper put before what Python looks through."""
    environment = dict(os.environ)
    own = str(pathlib.Path(__file__).resolve().parents[1])
    if own in (paths := environment.get("PYTHONPATH", "").split(os.pathsep)):
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path != own)
        if not environment["PYTHONPATH"]:
            del environment["PYTHONPATH"]
    return environment


def check_program(word):
    """InputError if the word names a program in which nothing can stand in for PnetCDF: one that has it inside. Words that
    name no program, and scripts, are good."""
    path = shutil.which(word)
    if not path or os.path.getsize(path) == 0:
        return
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        if not image[:4] == b"\x7fELF" or image.find(TEXT_OF_PNETCDF) < 0:
            return
        if image.find(TEXT_OF_DROPIN) >= 0:
            raise InputError(f"'{word}' has the drop-in inside already: run it as it is.")
        if not any(name.startswith("libpnetcdf.") for name in needed_libraries(image)):
            raise InputError(
                f"'{word}' is linked with a static PnetCDF (libpnetcdf.a), for which nothing that is preloaded can stand "
                "in: link it with the shared library, or with libslabmark_pnetcdf_wrap.a (docs/pnetcdf-drop-in.md)."
            )


def needed_libraries(image):
    """Of an ELF file of this machine: the names in its dynamic section."""
    if image[4:6] != bytes([2, 1 if sys.byteorder == "little" else 2]):
        return []
    read = lambda form, at: struct.unpack_from("=" + form, image, at)
    (sections,) = read("Q", 0x28)
    size, count = read("HH", 0x3A)
    found = []
    for number in range(count):
        _, kind, _, _, offset, length, link = read("IIQQQQI", sections + number * size)
        if kind != 6:  # SHT_DYNAMIC
            continue
        (texts,) = read("Q", sections + link * size + 0x18)
        for at in range(offset, offset + length, 16):
            tag, value = read("QQ", at)
            if tag == 1:  # DT_NEEDED
                found.append(image[texts + value : image.find(b"\0", texts + value)].decode(errors="replace"))
    return found
