"""The command `slabmark`."""

import argparse
import importlib
import math
import os
import platform
import signal
import sys

import slabmark
from slabmark import launch, surroundings
from slabmark.errors import InputError, did_you_mean, explained
from slabmark.terminal import Terminal

# Modules by subcommand, each with add_arguments(parser) and main(arguments, console) -> exit status. They are loaded
# when they are asked for: a plotting library takes half a second.
COMMANDS = {
    "sweep": ("slabmark.sweep", "measure what a study names, cell by cell, in random order"),
    "report": ("slabmark.report.command", "one self-contained HTML page from records"),
    "compare": ("slabmark.compare", "is NEW faster or slower than BASE?"),
    "track": ("slabmark.track.command", "a store of many nights: what changed, when, and by how much?"),
    "accept": ("slabmark.accept.command", "does a file system meet its targets? a fixed suite, and a report to hand in"),
    "advise": ("slabmark.advise.command", "try methods and settings, and say what to use here"),
    "apply": ("slabmark.apply", "run a program with the drop-in for PnetCDF, or with HDF5's connector"),
    "capture": ("slabmark.capture", "record what a program asks of its I/O libraries, as a pattern"),
    "describe": ("slabmark.pattern.describe", "a pattern file from a short text, or from a Darshan log, without a program"),
    "decomp": ("slabmark.decomposition", "a picture of a decomposition: who owns what"),
    "doctor": ("slabmark.doctor", "what is in effect on this machine, and what is wrong with it"),
}


class Parser(argparse.ArgumentParser):
    """Also of a command's actions. No abbreviations, which a new option would make ambiguous."""

    def __init__(self, **more):
        super().__init__(**{"allow_abbrev": False} | more)

    def parse_known_args(self, args=None, namespace=None):
        found, rest = super().parse_known_args(args, namespace)
        for action in self._actions:
            given = getattr(found, action.dest, None)
            if action.option_strings and "" in (given if isinstance(given, list) else [given]):
                self.error(f"{'/'.join(action.option_strings)} is given without a value; give it one, or leave it out")
        return found, rest

    def error(self, message):
        raise InputError(f"{message[0].upper()}{message[1:]}; '{self.prog} --help' says more.")


def a_number(kind, low, high):
    """For `type` of an argument: a number from low to high."""

    def parse(text):
        value = kind(text)
        if not low <= value <= high or not math.isfinite(value):
            raise argparse.ArgumentTypeError(f"{text} is not between {low} and {high}")
        return value

    parse.__name__ = "number"
    return parse


def add_launch(parser, what, ranks, how_many, **more):
    """The arguments that say how ranks are started."""
    ways = f"one of {', '.join(launch.TEMPLATES)}, or a line with {{ranks}} and {{command}}"
    parser.add_argument("--launch", metavar="TEMPLATE", help=f"{what}: {ways}", **more)
    parser.add_argument(
        "-n", "--ranks", type=a_number(int, 1, 1 << 24), default=ranks, help=f"{how_many} (default {ranks})"
    )


def loaded(name):
    """(module, parser) of a command."""
    with surroundings.as_matplotlib_needs():
        module = importlib.import_module(COMMANDS[name][0])
    parser = Parser(prog=f"slabmark {name}", description=module.__doc__)
    module.add_arguments(parser)
    return module, parser


class AllHelp(argparse.Action):
    """Prints the help of all commands, each below a line with its name: manual pages are made of it."""

    def __call__(self, overview, *_):
        def show(words, parser):
            print(f"# {' '.join(words)}\n{parser.format_help()}")
            for action in parser._actions:
                for name, below in (action.choices or {}).items() if isinstance(action, argparse._SubParsersAction) else ():
                    show([*words, name], below)

        show(["slabmark"], overview)
        for name in COMMANDS:
            show(["slabmark", name], loaded(name)[1])
        raise SystemExit(0)


class Interrupted(KeyboardInterrupt):
    """By SIGINT, SIGTERM or SIGHUP: what is open is closed and removed on the way out."""


def _interrupt(number, frame):
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)  # or a second one would stop the first one's cleaning
    raise Interrupted(number)


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments=None):
    if arguments is None:  # a program of its own, not a test
        arguments = sys.argv[1:]
        surroundings.restore_variables()
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup would have it
                signal.signal(number, _interrupt)
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")  # names need not be UTF-8
    if arguments[:1] not in (["apply"], ["capture"]):  # whose command is to find the environment as it is
        if not os.environ.get("SOURCE_DATE_EPOCH", "0").isdecimal():
            del os.environ["SOURCE_DATE_EPOCH"]  # for which pictures cannot be written
    try:
        status = run(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt as interruption:
        print("\nslabmark: interrupted; what has ended is recorded.", file=sys.stderr)
        return 128 + (interruption.args or (signal.SIGINT,))[0]
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains as it ends
        return 1
    except Exception as error:
        status, sentence = explained(error)
        print(f"slabmark: error: {sentence}", file=sys.stderr)
        return status


def run(arguments):
    overview = Parser(
        prog="slabmark",
        description="From records of the Slabmark benchmarks to answers.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="commands:\n" + "\n".join(f"  {name:9} {text}" for name, (_, text) in COMMANDS.items()),
    )
    overview.add_argument("--version", action="version",
                          version=f"slabmark {slabmark.__version__}, Python {platform.python_version()}")
    overview.add_argument("--help-all", action=AllHelp, nargs=0, help="show this and the help of all commands")
    overview.add_argument("command", metavar="COMMAND", help="one of those below; 'slabmark COMMAND --help' says more")
    parsed, rest = overview.parse_known_args(arguments[:1])
    if parsed.command not in COMMANDS:
        raise InputError(f"'{parsed.command}' is no command of slabmark.{did_you_mean(parsed.command, COMMANDS)}")
    surroundings.check_folder()
    module, parser = loaded(parsed.command)
    # Into a file or a log, tables take the width they need.
    return module.main(parser.parse_args(arguments[1:]), Terminal(width=None if sys.stdout.isatty() else 150))
