"""Launches of `slabmark bench` on one pattern, and the records that they leave, as advice makes them."""

import os
import pathlib
import time

from slabmark import documents, files, launch, programs, records, units
from slabmark.errors import InputError


def check_records(path):
    """InputError unless records may be appended to the file: a new or empty one, or one of records."""
    if not path or path == documents.PRINT:
        return
    if not os.path.exists(path):
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            raise InputError(f"'{path}' of --json cannot be made: there is no folder '{folder}' that may be written.")
        return
    with files.open_regular(path) as file:
        line = file.readline()
    try:
        line and records.parse_line(line, path, 1)
    except records.Unreadable as reason:
        raise InputError(f"'{path}' is no file of records, to which --json could add: {reason}.") from None
    if not os.access(path, os.W_OK):
        raise InputError(f"'{path}' of --json may not be written.")


class TooLong(str):
    """Why a launch left no record: it took more than so many `seconds`."""

    def __new__(cls, seconds):
        made = super().__new__(cls, f"It took more than {units.duration(seconds)}.")
        made.seconds = seconds
        return made


class Bench:
    def __init__(self, arguments, words, scratch):
        self.arguments, self.words, self.scratch = arguments, words, pathlib.Path(scratch)
        self.template = launch.check(arguments.launch)
        self.started = time.monotonic()
        self.lines = []  # of records

    def left(self):
        """Seconds of the time that was given."""
        return self.arguments.time_limit - (time.monotonic() - self.started)

    def launch(self, flags, trials, limit, ranks=None, variables=None):
        """Lines of records, or why there are none: a text. `limit`: seconds that it may take."""
        file = self.scratch / "records.jsonl"
        file.unlink(missing_ok=True)
        command = [*programs.command("slabmark bench"), *self.words, *flags, "--trials", str(trials), "--quiet", "--overwrite"]
        command += ["--output-dir", str(self.scratch), "--json", str(file)]
        command = launch.fill(self.template, command, ranks or self.arguments.ranks, environment=variables)
        status, output, errors = programs.run(command, limit, variables or {})
        if status is None:
            return TooLong(limit)
        if status:
            return programs.reason_in(output + errors)
        lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
        return lines or "It ended well but left no record."


def keep(path, lines):
    """Prints them, or appends them to the file of --json, if there is one."""
    if path == documents.PRINT:
        print(b"".join(lines).decode(errors="surrogateescape"), end="")
    elif path:
        files.append(path, b"".join(lines))


def record_of(lines):
    """The record that is of no limit, or why there is none: a text."""
    try:
        found = [records.parse_line(line, "records.jsonl", number) for number, line in enumerate(lines, start=1)]
    except records.Unreadable as reason:
        return f"Its record cannot be read, because {reason}."
    record = next((record for record in found if not record.is_bound), None)
    if record is None:
        return "It left no record but that of a limit."
    if not record.unsupported and not record.measured:
        return "Its record has no measured trial."
    return record
