"""Finds and runs the programs that measure."""

import json
import os
import pathlib
import shutil
import subprocess

from slabmark.errors import InputError, LabError


def find(name):
    """Path of a program: in the folder SLABMARK_BIN, which the wrapper of the build sets, or in the PATH."""
    folder = os.environ.get("SLABMARK_BIN")
    if folder and (path := pathlib.Path(folder) / name).is_file():
        return str(path)
    if path := shutil.which(name):
        return path
    raise InputError(
        f"The program '{name}' is neither in SLABMARK_BIN ({folder or 'not set'}) nor in the PATH; build it "
        f"with 'make {name}'."
    )


def json_of(command, timeout=120, env=None):
    """What a program prints as JSON. LabError with its own words if it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL, env=env
        )
    except subprocess.TimeoutExpired:
        raise LabError(f"'{' '.join(command)}' gave no answer within {timeout} s.") from None
    except OSError as error:
        raise InputError(f"'{command[0]}' cannot be started: {error.strerror}.") from error
    if done.returncode:
        reason = reason_in(done.stdout + done.stderr)
        raise InputError(reason) if done.returncode == 2 else LabError(f"'{' '.join(command)}' failed: {reason}")
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(done.stdout[done.stdout.index(line) :].rsplit("}", 1)[0] + "}")
    raise LabError(f"'{' '.join(command)}' printed no JSON.")


def reason_in(output):
    """The sentence in which a program says why it failed, or else the first paragraph that its launcher said."""
    lines = [line.strip() for line in output.splitlines()]
    for line in lines:
        if ": error: " in line:
            return line.partition(": error: ")[2]
    paragraph = []
    for line in lines:
        if line and not set(line) <= set("-=*"):
            paragraph.append(line)
        elif paragraph:
            break
    return " ".join(paragraph)[:300] or "it said nothing"
