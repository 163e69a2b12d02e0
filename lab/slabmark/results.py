"""The folder of a sweep: what is done, what failed, what a launch left behind.

    records.jsonl      one line a record, each with the member "study"
    failures.jsonl     one line a launch that failed
    launches/ID.jsonl  what one launch writes; its lines move to records.jsonl when it has ended
    launches/ID.log    what it printed; stays if it failed
    launches/ID.status its exit status; written when it has ended
    launches/ID.hosts  its nodes, where the template asks for a file of them

A launch counts as done when all of its records are in records.jsonl. Nothing is removed before what replaces it is
durable, so a kill at any moment loses nothing. Lines that others appended to the first two stay.
"""

import collections
import contextlib
import fcntl
import json
import os
import shlex
import time
from typing import NamedTuple

import pydantic_core

from slabmark import documents, files, programs, records
from slabmark.errors import InputError

SECONDS_TO_WAIT_FOR_LOCK = 10
RECORD = b'{"slabmark_'  # how ours begin, even those that were cut short


class _Origin(NamedTuple):
    """The launch that a record is from."""

    cell_id: str
    launch: int
    records: int  # of the launch


class _FailureLine(NamedTuple):
    failure: documents.Failure | None  # None: the line is of something else, or was cut short
    line: bytes


class Collected(NamedTuple):
    """What came of a launch that ended."""

    failure: str | None  # the reason
    was_there: bool  # False: it had left nothing at all


class Results:
    def __init__(self, study):
        self.study = study
        self.folder = study.results
        self.launches = self.folder / "launches"
        self.records = self.folder / "records.jsonl"
        self.failures = self.folder / "failures.jsonl"
        self.lock, self.launching = None, False

    def check_there(self):
        """InputError if nothing was ever launched from here."""
        if not self.folder.is_dir():
            raise InputError(f"There is no folder of results '{self.folder}', from which --collect could gather records.")

    @property
    def is_untouched(self):
        """Whether no launch has left anything yet."""
        return not (self.records.exists() or self.failures.exists() or any(self.launches.iterdir()))

    def open(self, launching=True):
        """Takes the folder for this process and what it starts. InputError if another sweep works in it. Who launches
        nothing leaves the scratch folder to the job that may be at work in it."""
        if launching:
            self.study.scratch.mkdir(parents=True, exist_ok=True)  # first: where it cannot be, nothing is left here
        self.launches.mkdir(parents=True, exist_ok=True)
        self.launching = launching
        self.lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        last = time.monotonic() + SECONDS_TO_WAIT_FOR_LOCK
        while True:
            try:
                files.take_lock(lambda: fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB), self.folder)
                return self
            except BlockingIOError:
                # A sweep that was just killed has launches that still end.
                if time.monotonic() > last:
                    os.close(self.lock)
                    raise InputError(
                        f"Another sweep, or a launch that one left behind, still works in '{self.folder}'; wait "
                        "for it, or end it."
                    ) from None
                time.sleep(0.1)

    def close(self):
        """The scratch folder goes if nothing is in it: launches remove what they write."""
        if self.launching:
            with contextlib.suppress(OSError):
                self.study.scratch.rmdir()
        os.close(self.lock)

    def file(self, launch, ending):
        """Of what a launch leaves behind."""
        return self.launches / f"{launch.cell.id}-{launch.number}{ending}"

    def command(self, launch):
        return self.study.command(launch, self.file(launch, ".jsonl"), self.file(launch, ".hosts"))

    def done(self):
        """{(cell id, launch)} that are recorded. A launch of which only a part is at the end, because the machine died
        while it was appended, is cut off again, and so is half a record; what others left there stays."""
        found, expected = collections.Counter(), {}
        position = whole = 0  # how far all that is there is complete
        if self.records.exists():
            with files.open_regular(self.records) as lines:
                for line in lines:
                    position += len(line)
                    if origin := _origin_of(line):
                        launch = origin.cell_id, origin.launch
                        expected[launch] = origin.records
                        found[launch] += 1
                        if found[launch] < origin.records:
                            continue
                    elif not line.endswith(b"\n") and line[: len(RECORD)] == RECORD[: len(line)] and not _is_json(line):
                        continue
                    whole = position
            if whole < position:
                os.truncate(self.records, whole)
        return {key for key, count in found.items() if count >= expected[key]}

    def failed(self):
        """{(cell id, launch): reason}"""
        found = (one.failure for one in self._failures())
        return {(failure.cell_id, failure.launch): failure.reason for failure in found if failure}

    def forget_failures(self):
        """Those of this study; other lines stay."""
        mine = {cell.id for cell in self.study.cells}
        kept = [one.line for one in self._failures() if not one.failure or one.failure.cell_id not in mine]
        if kept:
            files.write(self.failures, b"".join(kept))
        else:
            self.failures.unlink(missing_ok=True)

    def _failures(self):
        """The lines of the file. A launch whose line was cut short by a crash runs again."""
        if not self.failures.exists():
            return []
        found = []
        with files.open_regular(self.failures) as lines:
            for line in lines:
                failure = None
                with contextlib.suppress(records.Unreadable):
                    entry = records.parse_line(line, str(self.failures), 0)
                    failure = entry if isinstance(entry, documents.Failure) else None
                found.append(_FailureLine(failure, line))
        return found

    def collect(self, launch, status):
        """Moves what a launch left to where it belongs. `status`: None if it is not known how it ended."""
        lines, log = _complete_lines(self.file(launch, ".jsonl")), self.file(launch, ".log")
        # A killed launch of another program may have measured only some of its methods.
        if lines and (status == 0 or status is None and launch.cell.program == "slabmark bench"):
            _append(self.records, [self._annotated(line, launch, len(lines)) for line in lines])
            self.discard(launch)
            return Collected(None, True)
        if status is None:
            self.discard(launch)
            return Collected(None, False)
        output = log.read_text(errors="replace") if log.exists() else ""
        reason = programs.reason_in(output) if status else "It ended well but left no record."
        self.record_failure(launch, status, reason)
        return Collected(reason, True)

    def record_failure(self, launch, status, reason):
        failure = documents.Failure(
            cell=launch.cell.label,
            cell_id=launch.cell.id,
            launch=launch.number,
            command=shlex.join(self.command(launch)),
            status=status,
            reason=reason,
        )
        _append(self.failures, [documents.line(failure)])
        self.discard(launch, but=".log")

    def discard(self, launch, but=None):
        """Removes what a launch that is recorded left behind."""
        for ending in (".jsonl", ".log", ".status", ".hosts"):
            if ending != but:
                self.file(launch, ending).unlink(missing_ok=True)

    def read_status(self, launch):
        """Exit status that a job script wrote, or None."""
        try:
            return int(self.file(launch, ".status").read_text())
        except (OSError, ValueError):
            return None

    def _annotated(self, line, launch, count):
        record, cell = pydantic_core.from_json(line), launch.cell
        record["study"] = {
            "name": self.study.name,
            "pattern": cell.pattern,
            "cell": cell.label,
            "cell_id": cell.id,
            "launch": launch.number,
            "records": count,
            "environment": dict(cell.environment),
        }
        return _json_line(record)


def _complete_lines(file):
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    return [line for line in lines if line.endswith(b"\n") and _is_json(line)]


def _append(file, lines):
    """Durable when it returns; after what others left without an end of its line, on a line of its own."""
    with open(file, "ab+") as out:
        if out.tell() and os.pread(out.fileno(), 1, out.tell() - 1) != b"\n":
            out.write(b"\n")
        out.write(b"".join(lines))
        out.flush()
        os.fsync(out.fileno())


def _json_line(value):
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"  # names that are not UTF-8 become escapes


def _is_json(line):
    try:
        return isinstance(pydantic_core.from_json(line), dict)
    except ValueError:
        return False


def _origin_of(line):
    """Of a line of a sweep; None of any other."""
    try:
        study = pydantic_core.from_json(line)["study"]
        return _Origin(str(study["cell_id"]), int(study["launch"]), int(study["records"]))
    except (ValueError, KeyError, TypeError):
        return None
