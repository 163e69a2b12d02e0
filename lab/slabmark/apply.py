"""Runs a program with a faster way of writing in it, unchanged: slabmark apply -- mpiexec -n 4 ./model

The drop-in for PnetCDF, or the connector of HDF5. The exit status is that of the command.
"""

import argparse
import mmap
import os
import shutil
import signal
import struct
import sys

from slabmark import launch, programs, surroundings
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
    named = dict(arguments.env)
    if arguments.way in LAYOUTS and CONNECTOR in named:
        raise InputError(f"--with {arguments.way} sets {CONNECTOR} itself: leave it out of --env, or say --with {NOTHING}.")
    variables = named | settings(arguments.way, arguments.report, os.environ | named)
    if arguments.way == PNETCDF:
        for word in command:
            check_program(word)
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


def check_program(word):
    """InputError if the word names a program in which nothing can stand in for PnetCDF: one that has it inside. Words that
    name no program, or one that may be run and not read, and scripts, are good."""
    path = shutil.which(word)
    try:
        if not path or os.path.getsize(path) == 0:
            return
        file = open(path, "rb")
    except OSError:
        return
    with file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        if not image[:4] == b"\x7fELF" or image.find(TEXT_OF_PNETCDF) < 0:
            return
        if image.find(TEXT_OF_DROPIN) >= 0:
            raise InputError(f"'{word}' has the drop-in inside already: run it as it is.")
        try:
            needed = needed_libraries(image)
        except (struct.error, ValueError):
            return  # cut short, or of another machine: the system says what is wrong with it
        if not any(name.startswith("libpnetcdf.") for name in needed):
            raise InputError(
                f"'{word}' is linked with a static PnetCDF (libpnetcdf.a), for which nothing that is preloaded can stand "
                "in: link it with the shared library, or with libslabmark_pnetcdf_wrap.a (docs/pnetcdf-drop-in.md)."
            )


def needed_libraries(image):
    """Of an ELF file of this machine: the names in its dynamic section, found as the loader does, since sections may have been
    stripped. ValueError or struct.error for what is none or is cut short."""
    if image[4:6] != bytes([2, 1 if sys.byteorder == "little" else 2]):
        raise ValueError("not of this machine")
    read = lambda form, at: struct.unpack_from("=" + form, image, at)
    (first,) = read("Q", 0x20)
    size, count = read("HH", 0x36)
    segments = [read("IIQQQQ", first + number * size) for number in range(count)]  # kind, flags, offset, address, -, length
    tags = []
    for kind, _, offset, _, _, length in segments:
        if kind == 2:  # PT_DYNAMIC
            tags += [read("QQ", at) for at in range(offset, offset + length, 16)]
    if not (names := [value for tag, value in tags if tag == 1]):  # DT_NEEDED
        return []
    texts = next((value for tag, value in tags if tag == 5), -1)  # DT_STRTAB, an address
    for kind, _, offset, address, _, length in segments:
        if kind == 1 and address <= texts < address + length:  # PT_LOAD
            begins = [texts - address + offset + name for name in names]
            return [image[begin : image.find(b"\0", begin)].decode(errors="replace") for begin in begins]
    raise ValueError("its names are in none of its segments")
