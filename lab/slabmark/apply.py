"""Runs a program with a faster way of writing in it, unchanged: slabmark apply -- mpiexec -n 4 ./model

The drop-in for PnetCDF, or the connector of HDF5. The exit status is that of the command.
"""

import itertools
import os
import re
import shutil
import signal
import stat
import subprocess
import sys

from slabmark import launch, linked, programs, surroundings
from slabmark.commands.apply import LAYOUTS, NOTHING, PNETCDF
from slabmark.errors import InputError

LIBRARY = "libslabmark_pnetcdf.so"
COMPRESSOR, COMPRESS, SHUFFLE = "libslabmark_compress.so", "SLABMARK_COMPRESS", "SLABMARK_COMPRESS_SHUFFLE"
# In a process of its own, since it loads MPI and HDF5.
ASK_COMPRESSOR = """import ctypes, sys
ask = ctypes.CDLL(sys.argv[1]).slabmark_compress_refusal
ask.restype, ask.argtypes = ctypes.c_char_p, (ctypes.c_char_p, ctypes.c_int)
print((ask(sys.argv[2].encode(), int(sys.argv[3])) or b"").decode(errors="replace"))"""
PRELOAD, REPORT, SWITCH = "LD_PRELOAD", "SLABMARK_REPORT", "SLABMARK_DROPIN"
OVERLAP, OVERLAP_MEMORY = "SLABMARK_OVERLAP", "SLABMARK_OVERLAP_MEMORY"
PLUGIN, CONNECTOR, PLUGINS = "libslablog.so", "HDF5_VOL_CONNECTOR", "HDF5_PLUGIN_PATH"


def main(arguments, console):
    command = list(arguments.command)
    if not (program := shutil.which(command[0])):
        raise InputError(f"The command '{command[0]}' is no program that can be run, here or in the PATH.")
    named = dict(arguments.env)
    if layout_of(arguments.way) and CONNECTOR in named:
        raise InputError(f"--with {arguments.way} sets {CONNECTOR} itself: leave it out of --env, or say --with {NOTHING}.")
    if arguments.check_dir and not arguments.check:
        raise InputError("--check-dir says what --check compares: add --check, or leave it out.")
    if arguments.check and arguments.way == NOTHING:
        raise InputError(f"--check compares a run with what --with puts into the program to one without, and --with {NOTHING} puts nothing.")
    variables = named | settings(arguments.way, arguments.report, os.environ | named) | overlap(arguments)
    variables |= compression(arguments, surroundings.environment_of_user() | named)
    if arguments.way != NOTHING:
        check_programs(command, arguments.way, surroundings.environment_of_user() | named, COMPRESS in variables)
    if arguments.check:
        return check_files(program, command, arguments, variables, named)
    command, more = launch.forward(command, variables)
    sys.stdout.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and what it starts would, too
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(program, command, surroundings.environment_of_user() | more)
    except OSError as error:
        raise InputError(f"'{command[0]}' cannot be started: {error.strerror}.") from None


def check_files(program, command, arguments, variables, named):
    """The exit status of --check."""
    environment = surroundings.environment_of_user()
    native = {name: value for name, value in environment.items() if name != CONNECTOR or not value.startswith("slablog")}
    preloaded = [path for path in re.split("[ :]", native.pop(PRELOAD, "")) if path and os.path.basename(path) != LIBRARY]
    native |= {PRELOAD: ":".join(preloaded)} if preloaded else {}
    # HDF5's own variable would have the reader go through a connector, too.
    os.environ.pop(CONNECTOR, None)
    from slabmark import capture, check  # which takes a while, and the first takes this module

    place = os.lseek(0, 0, os.SEEK_CUR) if stat.S_ISREG(os.fstat(0).st_mode) else None

    def run(natively):
        words, more = launch.forward(command, {SWITCH: "off"} | named if natively else variables)
        if place is not None:
            os.lseek(0, place, os.SEEK_SET)  # each run reads the same
        return capture.run(program, words, (native if natively else environment) | more)

    return check.main(run, command, arguments.check_dir, arguments.way, arguments.compress is not None)


def layout_of(way):
    """The connector's layout that is in it, if one is."""
    return next((one for one in way.split(",") if one in LAYOUTS), None)


def overlap(arguments):
    """The variables of --overlap and --overlap-memory."""
    if arguments.overlap_memory and not arguments.overlap:
        raise InputError("--overlap-memory bounds what --overlap keeps in memory: add --overlap, or leave it out.")
    if not arguments.overlap:
        return {}
    if PNETCDF not in arguments.way.split(","):
        raise InputError(f"--overlap has the drop-in for PnetCDF write later, which --with {arguments.way} leaves out: leave out --overlap, or "
                         f"have it by --with {PNETCDF}.")
    return {OVERLAP: arguments.overlap} | ({OVERLAP_MEMORY: arguments.overlap_memory} if arguments.overlap_memory else {})


def settings(way=PNETCDF, report=False, before=None):
    """The variables with which a program writes that way, where it would find those of `before` (default: of the environment).
    InputError where they cannot work."""
    before = os.environ if before is None else before
    has_dropin = PNETCDF in way.split(",")
    if report and not has_dropin:
        raise InputError(f"--report prints what the drop-in for PnetCDF did, which --with {way} leaves out: leave out --report, or have both "
                         f"by --with {PNETCDF},{layout_of(way) or LAYOUTS[0]}.")
    found = {}
    if layout := layout_of(way):
        folder = os.path.dirname(programs.find_library(PLUGIN))
        others = before.get(PLUGINS)
        connector = f"slablog under_vol=0;under_info={{}};layout={layout}"
        found = {CONNECTOR: connector, PLUGINS: f"{folder}:{others}" if others else folder}
    if not has_dropin:
        return found
    if before.get(SWITCH) in ("off", "0", "disable"):
        raise InputError(f"{SWITCH}={before[SWITCH]} switches the drop-in off; leave it out, or say --with {NOTHING}.")
    library = programs.find_library(LIBRARY)
    if any(c in library for c in " :,"):
        raise InputError(f"'{library}' cannot be preloaded: the dynamic linker takes blanks, colons and commas for ends of names. "
                         "Install Slabmark in another folder.")
    others = before.get(PRELOAD)
    return found | {PRELOAD: f"{library}:{others}" if others else library} | ({REPORT: "1"} if report else {})


def compression(arguments, environment):
    """The variables with which files are compressed. InputError where the libraries here cannot compress like that."""
    if arguments.compress is None:
        if arguments.shuffle:
            raise InputError("--shuffle is of no use alone; name a compression as well, with --compress.")
        return {}
    if PNETCDF not in arguments.way.split(","):
        raise InputError(f"--compress compresses the files of the drop-in for PnetCDF, which --with {arguments.way} leaves out: leave out "
                         f"--compress, or have both by --with {PNETCDF},{layout_of(arguments.way) or LAYOUTS[0]}.")
    library = programs.find_library(COMPRESSOR)
    done = subprocess.run([sys.executable, "-c", ASK_COMPRESSOR, library, arguments.compress, str(int(arguments.shuffle))], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise InputError(f"'{library}', which compresses, cannot be used here: {reason}. Leave out --compress, or install what is missing.")
    if reason := done.stdout.strip():
        raise InputError(f"--compress {arguments.compress}: {reason}")
    filters = {PLUGINS: environment[PLUGINS]} if PLUGINS in environment and not layout_of(arguments.way) else {}
    return {COMPRESS: arguments.compress} | ({SHUFFLE: "1"} if arguments.shuffle else {}) | filters


def check_programs(words, way, environment, compresses=False):
    """InputError if one of the words names a program into which this way cannot be put."""
    owns = [programs.find_library(LIBRARY if one == PNETCDF else PLUGIN) for one in way.split(",")]
    ours = {own: linked.libraries(own, environment) for own in owns}
    compressor = linked.libraries(programs.find_library(COMPRESSOR), environment) if compresses else {}
    for word, own in itertools.product(programs.started_by(words), owns):
        theirs = linked.libraries(shutil.which(word), environment)
        if os.path.basename(own) == LIBRARY:
            linked.check_pnetcdf(word)
            if compresses and (other := linked.hdf5_beside(theirs, compressor)):
                raise InputError(f"'{word}' is linked with {other[0]}, and --compress needs {other[1]}: no process can have both. Build Slabmark with "
                                 "the HDF5 of the program (docs/how-to/install.md), or compress the files afterwards with slabmark convert.")
            if bound := linked.bound_pnetcdf(word, theirs):
                raise InputError(f"'{word}' calls PnetCDF from Fortran, and the calls within '{bound}' cannot be intercepted: it was linked with "
                                 "-Bsymbolic-functions, as in Ubuntu. Have it find another of that version (docs/reference/pnetcdf-drop-in.md).")
        elif other := linked.other_hdf5(word, theirs, own, ours[own]):
            raise InputError(f"{other}: HDF5 takes connectors of its own library alone. Build one of them with the shared HDF5 of the other, "
                             "1.14 or newer (docs/how-to/install.md).")
        elif not linked.is_signed(own) and (signing := linked.hdf5_of_signed_plugins(word, theirs)):
            raise InputError(f"'{signing}', the HDF5 of '{word}', takes signed plugins only, and '{own}' is not signed: sign it with a key "
                             "that this HDF5 trusts, after anything that strips it (docs/reference/hdf5-connector.md).")
        linked.check_mpi(word, theirs, own, ours[own])
