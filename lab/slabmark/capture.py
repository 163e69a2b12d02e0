"""Runs a program and records what it asks of its I/O libraries: slabmark capture -o run.pattern -- mpiexec -n 4 ./model

What it made becomes a pattern file, which 'slabmark-bench captured' and 'slabmark advise' take. The exit status is that of
the command. By hand: set SLABMARK_CAPTURE=run.pattern for all ranks, preload the libraries that 'slabmark capture --show'
names, and then 'slabmark capture --merge run.pattern.parts'.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from slabmark import apply, files, launch, programs, surroundings
from slabmark.errors import InputError, LabError

PATTERN, POSIX, FILES = "SLABMARK_CAPTURE", "SLABMARK_CAPTURE_POSIX", "SLABMARK_CAPTURE_FILES"
CONNECTOR, PLUGINS = "HDF5_VOL_CONNECTOR", "HDF5_PLUGIN_PATH"
SPOOL_ENDING = ".parts"
LIBRARIES = {"pnetcdf": "libslabcapture_pnetcdf.so", "mpiio": "libslabcapture_mpiio.so", "posix": "libslabcapture_posix.so"}
PLUGIN = "libslabcapture.so"
LEVELS = ("pnetcdf", "hdf5", "mpiio", "posix")
# HDF5 names the connector below by its number: HDF5's own is 0.
NUMBER_OF_SLABLOG = 6204


def add_arguments(parser):
    parser.usage = "slabmark capture [-o run.pattern] [options] -- COMMAND ...\n       slabmark capture --merge SPOOL [-o run.pattern]"
    parser.add_argument("-o", "--output", metavar="FILE", help="the pattern file (default run.pattern)")
    parser.add_argument("--merge", metavar="SPOOL", help="make the pattern file of a folder that captured programs left")
    parser.add_argument("--levels", help=f"which libraries to stand in for, of {', '.join(LEVELS)} (default: all that are built)")
    parser.add_argument("--posix", choices=("on", "off", "auto"), default="auto",
                        help="what is moved without a library: always, never, or where nothing is moved through one (default auto)")
    parser.add_argument("--files", metavar="GLOBS", help="without a library, only files whose path one of GLOB:GLOB... matches")
    parser.add_argument("--run", metavar="NUMBER", help="with --merge, of several launches: the one of this number")
    parser.add_argument("--anonymous", action="store_true", help="no names of files, datasets, hosts and program")
    parser.add_argument("--allow-missing", action="store_true", help="ranks that left nothing did nothing")
    parser.add_argument("--overwrite", action="store_true", help="replace the pattern file, and what an earlier run left")
    parser.add_argument("--keep-parts", action="store_true", help="leave the folder that the ranks wrote")
    parser.add_argument("--show", action="store_true", help="print the variables that are set, and run nothing")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND",
                        help="a program or script, or a launcher with one; launchers get what hands the variables on to other nodes")


def main(arguments, console):
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if arguments.merge:
        if command:
            raise InputError("--merge takes a folder and no command; to capture a program, leave --merge out.")
        spool = arguments.merge.rstrip("/")
        output = arguments.output or (spool.removesuffix(SPOOL_ENDING) if spool.endswith(SPOOL_ENDING) else "run.pattern")
        merge(spool, pathlib.Path(output), arguments, [])
        return 0
    if arguments.run is not None:
        raise InputError("--run is for --merge: it says which of several launches becomes the pattern file.")
    output = pathlib.Path(arguments.output or "run.pattern").absolute()
    variables = settings(output, arguments)
    if arguments.show:
        for name, value in variables.items():
            print(f"export {name}={shlex.quote(value)}")
        return 0
    if not command:
        raise InputError("A command is missing, such as 'slabmark capture -o run.pattern -- mpiexec -n 4 ./model'.")
    if others := os.environ.get(PATTERN):
        raise InputError(f"{PATTERN}='{others}' is set, so this runs in a captured program; unset the variable to capture anew.")
    if not (program := shutil.which(command[0])):
        raise InputError(f"The command '{command[0]}' is no program that can be run, here or in the PATH.")
    spool = make_room(output, arguments.overwrite)
    told, more = launch.forward(command, variables)
    status = run(program, told, surroundings.environment_of_user() | more)
    if not any(path.stat().st_size for path in spool.glob("*.spool")):
        print(f"slabmark capture: nothing was captured: {why_nothing(spool, levels(arguments))}.", file=sys.stderr)
        shutil.rmtree(spool, ignore_errors=True)
        return status or 1
    try:
        merge(spool, output, arguments, command)
    except (InputError, LabError) as error:
        print(f"slabmark capture: error: {error} What was captured is in '{spool}': 'slabmark capture --merge {spool}' makes "
              "the pattern file of it.", file=sys.stderr)
        return status or 1
    return status


def levels(arguments):
    """Those that were asked for, or all."""
    if arguments.levels is None:
        return LEVELS
    chosen = arguments.levels.split(",")
    if unknown := set(chosen) - set(LEVELS):
        raise InputError(f"'{sorted(unknown)[0]}' is no level; known are {', '.join(LEVELS)}.")
    return chosen


def settings(output, arguments):
    """The variables with which a program is captured. InputError where they cannot work."""
    chosen = levels(arguments)
    wanted = arguments.levels is not None
    libraries = [path for level, name in LIBRARIES.items() if level in chosen and (path := library(name, wanted))]
    plugin = plugin_path(wanted) if "hdf5" in chosen else None
    if not libraries and not plugin:
        raise InputError("No library that captures is built; 'make' builds them, those of PnetCDF and HDF5 where these are found.")
    for path in libraries:
        if any(c in path for c in " :,"):
            raise InputError(f"'{path}' cannot be preloaded: the dynamic linker takes blanks, colons and commas for ends of "
                             "names. Install Slabmark in another folder.")
    if others := os.environ.get(apply.PRELOAD):
        libraries.append(others)
    variables = {PATTERN: str(output)}
    if libraries:
        variables[apply.PRELOAD] = ":".join(libraries)
    if "posix" in chosen:
        variables[POSIX] = "on" if wanted and arguments.posix == "auto" and list(chosen) == ["posix"] else arguments.posix
        if arguments.files:
            variables[FILES] = arguments.files
    if plugin:
        below = os.environ.get(CONNECTOR, "")
        name, _, info = below.partition(" ")
        if name not in ("", "native", "slablog"):
            raise InputError(f"{CONNECTOR}='{below}' is a connector that capture cannot stand above; unset it.")
        number = NUMBER_OF_SLABLOG if name == "slablog" else 0
        folders = [str(pathlib.Path(plugin).parent), *filter(None, [os.environ.get(PLUGINS)])]
        variables |= {CONNECTOR: f"slabcapture under_vol={number};under_info={{{info}}}", PLUGINS: ":".join(folders)}
    return variables


def library(name, wanted):
    try:
        return programs.find_library(name)
    except InputError:
        if wanted:
            raise
        return None


def plugin_path(wanted):
    """Path of the HDF5 connector that captures: in a build and where it is installed."""
    folder = pathlib.Path(programs.find("slabmark-bench")).resolve().parents[1]
    for found in sorted([*folder.glob(f"plugins/{PLUGIN}"), *folder.glob(f"lib*/slabmark/plugins/{PLUGIN}")]):
        return str(found)
    if wanted:
        raise InputError(f"The HDF5 connector '{PLUGIN}' is not in {folder}; it is built by 'make'.")
    return None


def make_room(output, overwrite):
    """The spool's folder, empty."""
    spool = pathlib.Path(f"{output}{SPOOL_ENDING}")
    files.check_output(output, overwrite=overwrite)
    if spool.exists():
        if not overwrite:
            raise InputError(f"'{spool}' is there from an earlier capture: 'slabmark capture --merge {spool}' makes a pattern "
                             "file of it; or remove it, or say --overwrite.")
        shutil.rmtree(spool)
    try:
        spool.mkdir()
    except OSError as error:
        raise InputError(f"The folder '{spool}' cannot be made: {error.strerror}.") from None
    return spool


def run(program, command, environment):
    """Runs the command to its end, whatever signals come: these go on to it, and what it did until then is merged."""
    sys.stdout.flush()
    process = subprocess.Popen(command, executable=program, env=environment)
    while True:
        try:
            status = process.wait()
            break
        except KeyboardInterrupt as interruption:
            number = (interruption.args or (signal.SIGINT,))[0]
            if number != signal.SIGINT:  # which a terminal has sent to the command, too
                process.send_signal(number)
    return 128 - status if status < 0 else status


def why_nothing(spool, chosen):
    """Of a program that left nothing: it did nothing of what is captured, or could not write it."""
    try:
        with tempfile.TemporaryFile(dir=spool) as probe:
            probe.write(b"x")
    except FileNotFoundError:
        return f"'{spool}', to which the program wrote what it did, was removed"
    except OSError as error:
        return f"'{spool}' cannot be written: {error.strerror}"
    return ("the program opened no file through a library that was stood in for "
            f"({', '.join(chosen)}), or says above why it could not write to '{spool}'")


def merge(spool, output, arguments, command):
    files.check_output(output, overwrite=arguments.overwrite)
    words = [programs.find("slabmark-pattern"), "merge", str(spool), "-o", str(output)]
    words += ["--anonymous"] * arguments.anonymous + ["--allow-missing"] * arguments.allow_missing
    words += ["--overwrite"] * arguments.overwrite + [f"--run={arguments.run}"] * (arguments.run is not None)
    if command:  # names of files need not be UTF-8, JSON is
        words.append("--launch=" + json.dumps([os.fsencode(word).decode(errors="replace") for word in command]))
    print(programs.output_of(words, timeout=3600), end="", file=sys.stderr)
    if not arguments.keep_parts and arguments.run is None:
        shutil.rmtree(spool)
