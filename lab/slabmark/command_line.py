"""The command `slabmark`."""

import argparse
import importlib
import os
import sys

from rich.console import Console

import slabmark
from slabmark.errors import LabError, did_you_mean

# Modules by subcommand, each with add_arguments(parser) and main(arguments, console) -> exit status. They are loaded
# when they are asked for: a plotting library takes half a second.
COMMANDS = {
    "sweep": ("slabmark.sweep", "measure what a study names, cell by cell, in random order"),
    "report": ("slabmark.report.command", "one self-contained HTML page from records"),
    "compare": ("slabmark.compare", "is NEW faster or slower than BASE?"),
    "advise": ("slabmark.advise.command", "try methods and settings, and say what to use here"),
    "decomp": ("slabmark.decomposition", "a picture of a decomposition: who owns what"),
    "doctor": ("slabmark.doctor", "what is in effect on this machine, and what is wrong with it"),
}


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"{message[0].upper()}{message[1:]}; '{self.prog} --help' says more.")


class UsageError(LabError):
    status = 2


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        status = run(arguments)
        sys.stdout.flush()
        return status
    except LabError as error:
        print(f"slabmark: error: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("\nslabmark: interrupted; what has ended is recorded.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains as it ends
        return 1


def run(arguments):
    overview = Parser(
        prog="slabmark",
        description="From records of the Slabmark benchmarks to answers.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="commands:\n" + "\n".join(f"  {name:9} {text}" for name, (_, text) in COMMANDS.items()),
    )
    overview.add_argument("--version", action="version", version=f"slabmark {slabmark.__version__}")
    overview.add_argument("command", metavar="COMMAND", help="one of those below; 'slabmark COMMAND --help' says more")
    parsed, rest = overview.parse_known_args(arguments[:1])
    if parsed.command not in COMMANDS:
        raise UsageError(f"'{parsed.command}' is no command of slabmark.{did_you_mean(parsed.command, COMMANDS)}")
    module_name, text = COMMANDS[parsed.command]
    module = importlib.import_module(module_name)
    parser = Parser(prog=f"slabmark {parsed.command}", description=module.__doc__, allow_abbrev=False)
    module.add_arguments(parser)
    # Into a file or a log, tables take the width they need.
    return module.main(parser.parse_args(arguments[1:]), Console(width=None if sys.stdout.isatty() else 150))
