"""The command `slabmark` of the lab: what is in order before a command runs, and what is said and returned when it ends."""

import os
import signal
import sys

import click

from slabmark import surroundings
from slabmark.commands import LAB
from slabmark.errors import explained


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
            del os.environ["SOURCE_DATE_EPOCH"]  # numpy and matplotlib refuse to start with it
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


def run(words):
    """The exit status of a command, `words` such as ["compare", "old", "new"]."""
    try:
        with LAB.make_context("slabmark", list(words)) as context:
            return LAB.invoke(context)
    except click.exceptions.Exit as end:  # after help was printed
        return end.exit_code
