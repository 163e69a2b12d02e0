"""Runs a program and records what it asks of its I/O libraries: slabmark capture -o run.pattern -- mpiexec -n 4 ./model

What it made becomes a pattern file, which 'slabmark bench captured' and 'slabmark advise' take. The exit status is that of
the command. By hand: set SLABMARK_CAPTURE=run.pattern for all ranks, preload the libraries that 'slabmark capture --show'
names, and then 'slabmark capture --merge run.pattern.parts'.
"""

import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from slabmark import apply, files, launch, linked, programs, surroundings
from slabmark.commands.capture import LEVELS
from slabmark.errors import InputError, LabError, printable

PATTERN, POSIX, FILES = "SLABMARK_CAPTURE", "SLABMARK_CAPTURE_POSIX", "SLABMARK_CAPTURE_FILES"
CONNECTOR, PLUGINS = "HDF5_VOL_CONNECTOR", "HDF5_PLUGIN_PATH"
SPOOL_ENDING = ".parts"
SPOOLS = "*.spool"  # in it
BESIDE_SPOOLS = ("[0-9]*.children", "shared-pointer.lock")  # of programs that fork, and of MPI-IO's shared pointers
LIBRARIES = {"pnetcdf": "libslabcapture_pnetcdf.so", "mpiio": "libslabcapture_mpiio.so", "posix": "libslabcapture_posix.so"}
PLUGIN = "libslabcapture.so"
# The last ones are what schedulers are asked to send before the time is over.
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
NOTHING = "Nothing was recorded"  # begins a sentence of `slabmark pattern`, too
# HDF5 names the connector below by its number: HDF5's own is 0.
NUMBER_OF_SLABLOG = 6204


def main(arguments, console):
    command = list(arguments.command)
    if arguments.merge is not None:
        if command:
            raise InputError("--merge takes a folder and no command; to capture a program, leave --merge out.")
        spool = arguments.merge.rstrip("/") or arguments.merge
        named = spool.removesuffix(SPOOL_ENDING) if spool.endswith(SPOOL_ENDING) else "run.pattern"
        merge(pathlib.Path(spool), pathlib.Path(named if arguments.output is None else arguments.output), arguments)
        return 0
    if arguments.run is not None:
        raise InputError("--run is for --merge: it says which of several launches becomes the pattern file.")
    output = pathlib.Path("run.pattern" if arguments.output is None else arguments.output).absolute()
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
    variables = fitting(variables, command, arguments)
    told, more = launch.forward(command, variables)
    spool = make_room(output, arguments.overwrite)
    try:
        status = run(program, told, surroundings.environment_of_user() | more)
    except OSError as error:
        clear(spool)  # in which there is nothing
        raise InputError(f"'{command[0]}' cannot be started: {error.strerror}.") from None
    merged = finish(spool, output, arguments, command, status)
    return status or merged


def finish(spool, output, arguments, command, status):
    """The pattern file of what a command left that ended with `status`. The exit status, if that was 0."""

    def nothing(sentence):
        print(f"slabmark capture: error: {printable(sentence)}", file=sys.stderr)
        with contextlib.suppress(OSError):  # which is the reason, and said
            clear(spool)
        return 1

    if not any(path.stat().st_size for path in spool.glob(SPOOLS)):
        return nothing(f"{NOTHING}: {why_nothing(spool, levels(arguments), status)}.")
    try:
        merge(spool, output, arguments, command, status)
    except (InputError, LabError) as error:
        if str(error).startswith(NOTHING):
            return nothing(str(error))
        print(f"slabmark capture: error: {printable(error)} What was captured is in '{printable(spool)}', and this makes the pattern "
              f"file of it: {line_that_merges(spool)}", file=sys.stderr)
        return 1
    return 0


def line_that_merges(spool):
    return printable(shlex.join(["slabmark", "capture", "--merge", files.as_operand(spool)]))


def levels(arguments):
    """Those that were asked for, or all."""
    if arguments.intercept is None:
        return LEVELS
    chosen = arguments.intercept.split(",")
    if unknown := set(chosen) - set(LEVELS):
        raise InputError(f"'{sorted(unknown)[0]}' is no level; known are {', '.join(LEVELS)}.")
    return chosen


def settings(output, arguments):
    """The variables with which a program is captured. InputError where they cannot work."""
    chosen = levels(arguments)
    if (arguments.posix != "auto" or arguments.only_files) and "posix" not in chosen:
        raise InputError(f"--posix and --only-files are of the level 'posix', which --intercept {arguments.intercept} leaves out.")
    if arguments.posix == "off" and arguments.only_files:
        raise InputError("--only-files says what is captured without a library, and --posix off that nothing is.")
    wanted = arguments.intercept is not None
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
        if arguments.only_files:
            variables[FILES] = arguments.only_files
    if plugin:
        below = os.environ.get(CONNECTOR, "")
        name, _, info = below.partition(" ")
        if name not in ("", "native", "slablog"):
            raise InputError(f"{CONNECTOR}='{below}' is a connector that capture cannot stand above; unset it.")
        number = NUMBER_OF_SLABLOG if name == "slablog" else 0
        folders = [str(pathlib.Path(plugin).parent), *filter(None, [os.environ.get(PLUGINS)])]
        variables |= {CONNECTOR: f"slabcapture under_vol={number};under_info={{{info}}}", PLUGINS: ":".join(folders)}
    return variables


def fitting(variables, command, arguments):
    """Those of the variables that go with the programs that the command names: not the connector, which goes with any HDF5 that has
    connectors, if one has none, which is said. InputError where nothing goes."""
    environment = surroundings.environment_of_user()
    preloaded = [path for path in variables.get(apply.PRELOAD, "").split(":") if os.path.basename(path) in LIBRARIES.values()]
    ours = {own: linked.libraries(own, environment) for own in preloaded}
    for word in programs.started_by(command):
        theirs = linked.libraries(shutil.which(word), environment)
        for own in preloaded:
            linked.check_mpi(word, theirs, own, ours[own])
            if os.path.basename(own) == LIBRARIES["pnetcdf"] and (bound := linked.bound_pnetcdf(word, theirs)):
                print(f"slabmark capture: '{word}' calls PnetCDF from Fortran, and '{bound}' was linked so that these calls cannot be captured "
                      "(docs/reference/pnetcdf-drop-in.md), at most what they ask of MPI-IO.", file=sys.stderr)
        if CONNECTOR not in variables:
            continue
        plugin = plugin_path(False)
        if old := linked.hdf5_before_1_14(word, theirs):
            which, remedy = f"'{word}' is linked with {old}, an HDF5 before 1.14, of which the calls cannot be captured", "link it with a newer one"
        elif plugin and not linked.is_signed(plugin) and (signing := linked.hdf5_of_signed_plugins(word, theirs)):
            which = f"'{signing}', the HDF5 of '{word}', takes signed plugins only, so its calls cannot be captured by '{plugin}', which is not"
            remedy = "sign that (docs/reference/hdf5-connector.md)"
        else:
            continue
        if arguments.intercept is not None:
            raise InputError(f"{which}: leave hdf5 out of --intercept, or {remedy}.")
        print(f"slabmark capture: {which}, only what it asks of MPI-IO and of the system.", file=sys.stderr)
        variables = {name: value for name, value in variables.items() if name not in (CONNECTOR, PLUGINS)}
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
    folder = pathlib.Path(programs.find("slabmark")).resolve().parents[1]
    for found in sorted([*folder.glob(f"plugins/{PLUGIN}"), *folder.glob(f"lib*/slabmark/plugins/{PLUGIN}")]):
        return str(found)
    if wanted:
        raise InputError(f"The HDF5 connector '{PLUGIN}' is not in {folder}; it is built by 'make'.")
    return None


def make_room(output, overwrite):
    """The spool's folder, without spools. What else is in it stays: a folder of that name may be another's."""
    spool = pathlib.Path(f"{output}{SPOOL_ENDING}")
    files.check_output(output, overwrite=overwrite)
    if any(spool.glob(SPOOLS)) and not overwrite:
        raise InputError(f"'{spool}' is there from an earlier capture: remove it, say --overwrite, or make a pattern file of it: "
                         f"{line_that_merges(spool)}")
    try:
        clear(spool)
        spool.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder '{spool}' cannot be made: {error.strerror}.") from None
    return spool


def clear(spool):
    """Removes what captured programs left, and the folder if it was there for nothing else."""
    for path in (path for names in (SPOOLS, *BESIDE_SPOOLS) for path in spool.glob(names)):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        spool.rmdir()


def run(program, command, environment):
    """Runs the command to its end, whatever signals come: these go on to it, and what it did until then is merged. OSError if it
    cannot be started."""
    sys.stdout.flush()
    taken = {number for number in FORWARDED if signal.getsignal(number) is not signal.SIG_IGN}
    # Blocked and waited for: a handler would miss what comes just before the wait, or before there is a process.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, taken | {signal.SIGCHLD})
    of_children = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # one that is ignored never comes

    def as_before():
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, of_children)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        process = subprocess.Popen(command, executable=program, env=environment, preexec_fn=as_before)
        while process.poll() is None:
            came = signal.sigwaitinfo(taken | {signal.SIGCHLD})
            # The kernel has also sent to the command the signals that it sends for a terminal.
            if came.si_signo != signal.SIGCHLD and came.si_code <= 0:
                process.send_signal(came.si_signo)
        status = process.returncode
    finally:
        signal.signal(signal.SIGCHLD, of_children)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return 128 - status if status < 0 else status


def why_nothing(spool, chosen, status=0):
    """Of a program that left nothing: it did nothing of what is captured, or could not write it."""
    try:
        with tempfile.TemporaryFile(dir=spool) as probe:
            probe.write(b"x")
    except FileNotFoundError:
        return f"'{spool}', to which the program wrote what it did, was removed"
    except OSError as error:
        return f"'{spool}' cannot be written: {error.strerror}"
    if status:
        return f"the program ended with status {status} before its first call"
    return ("the program opened no file through a library that was intercepted "
            f"({', '.join(chosen)}), or says above why it could not write to '{spool}'")


def merge(spool, output, arguments, command=(), status=0):
    files.check_output(output, overwrite=arguments.overwrite)
    if os.path.realpath(spool) in map(str, pathlib.Path(os.path.realpath(output)).parents):
        raise InputError(f"'{output}' lies in '{spool}', the folder that is merged and then removed; name another output.")
    words = [*programs.command("slabmark pattern"), "merge", files.as_operand(spool), "-o", files.as_operand(output)]
    words += ["--anonymous"] * arguments.anonymous + ["--allow-missing"] * arguments.allow_missing
    words += ["--overwrite"] * arguments.overwrite + [f"--command-status={status}"] + [f"--run={arguments.run}"] * (arguments.run is not None)
    if command:  # names of files need not be UTF-8, JSON is
        words.append("--command-json=" + json.dumps([os.fsencode(word).decode(errors="replace") for word in command]))
    print(programs.output_of(words, timeout=3600), end="", file=sys.stderr)
    if not arguments.keep_parts and arguments.run is None:
        try:
            clear(spool)
        except OSError as error:
            print(f"slabmark capture: what is in '{printable(spool)}' cannot be removed: {error.strerror}.", file=sys.stderr)
