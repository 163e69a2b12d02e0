"""The folder of a sweep: what is done, what failed, what a launch left behind.

    records.jsonl      one line a record, each with the member "study"
    failures.jsonl     one line a launch that failed
    launches/ID.jsonl  what one launch writes; its lines move to records.jsonl when it has ended
    launches/ID.log    what it printed; stays if it failed
    launches/ID.status its exit status; written when it has ended

A launch counts as done when all of its records are in records.jsonl. Nothing is removed before what replaces it is
durable, so a kill at any moment loses nothing. Lines that others appended to the first two stay.
"""

import collections
import contextlib
import fcntl
import json
import os
import time

import pydantic_core

from slabmark import files, programs, records
from slabmark.errors import InputError

SECONDS_TO_WAIT_FOR_LOCK = 10
RECORD = b'{"slabmark_'  # how ours begin, even those that were cut short


class Results:
    def __init__(self, study):
        self.study = study
        self.folder = study.results
        self.launches = self.folder / "launches"
        self.records = self.folder / "records.jsonl"
        self.failures = self.folder / "failures.jsonl"
        self.lock = None

    def open(self):
        """Takes the folder for this process and what it starts. InputError if another sweep works in it."""
        self.launches.mkdir(parents=True, exist_ok=True)
        self.study.scratch.mkdir(parents=True, exist_ok=True)
        self.lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        last = time.monotonic() + SECONDS_TO_WAIT_FOR_LOCK
        while True:
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return self
            except BlockingIOError:
                # A sweep that was just killed has launches that still end.
                if time.monotonic() > last:
                    raise InputError(
                        f"Another sweep, or a launch that one left behind, still works in '{self.folder}'; wait "
                        "for it, or end it."
                    ) from None
                time.sleep(0.1)

    def close(self):
        """The scratch folder goes if nothing is in it: launches remove what they write."""
        with contextlib.suppress(OSError):
            self.study.scratch.rmdir()
        os.close(self.lock)

    def stem(self, cell, launch):
        return self.launches / f"{cell.id}-{launch}"

    def record_file(self, cell, launch):
        return self.stem(cell, launch).with_suffix(".jsonl")

    def log_file(self, cell, launch):
        return self.stem(cell, launch).with_suffix(".log")

    def status_file(self, cell, launch):
        return self.stem(cell, launch).with_suffix(".status")

    def done(self):
        """{(cell id, launch)} that are recorded. A launch of which only a part is at the end, because the machine died
        while it was appended, is cut off again, and so is half a record; what others left there stays."""
        found, expected = collections.Counter(), {}
        position = whole = 0  # how far all that is there is complete
        if self.records.exists():
            with files.open_regular(self.records) as lines:
                for line in lines:
                    position += len(line)
                    if key := _key_of(line):
                        launch = key[:2]
                        expected[launch] = key[2]
                        found[launch] += 1
                        if found[launch] < key[2]:
                            continue
                    elif not line.endswith(b"\n") and line[: len(RECORD)] == RECORD[: len(line)] and not _is_json(line):
                        continue
                    whole = position
            if whole < position:
                os.truncate(self.records, whole)
        return {key for key, count in found.items() if count >= expected[key]}

    def failed(self):
        """{(cell id, launch): reason}"""
        return {key: reason for key, reason, _ in self._failures() if key}

    def forget_failures(self):
        """Those of this study; other lines stay."""
        mine = {cell.id for cell in self.study.cells}
        kept = [line for key, _, line in self._failures() if not key or key[0] not in mine]
        if kept:
            files.write(self.failures, b"".join(kept))
        else:
            self.failures.unlink(missing_ok=True)

    def _failures(self):
        """[((cell id, launch), reason, line)]; without a key what is no failure, or is one cut short by a crash: that
        launch runs again."""
        if not self.failures.exists():
            return []
        found = []
        with files.open_regular(self.failures) as lines:
            for line in lines:
                with contextlib.suppress(records.Unreadable):
                    failure = records.parse_line(line, str(self.failures), 0)
                    if isinstance(failure, records.Failure):
                        found.append(((failure.cell_id, failure.launch), failure.reason, line))
                        continue
                found.append((None, None, line))
        return found

    def collect(self, cell, launch, status):
        """Moves what a launch left to where it belongs. `status`: None if it is not known how it ended. Returns the
        reason of a failure, or None; and whether anything was there at all."""
        file, log = self.record_file(cell, launch), self.log_file(cell, launch)
        lines = self._complete_lines(file)
        # A killed launch of another program may have measured only some of its methods.
        if lines and (status == 0 or status is None and cell.program == "slabmark-bench"):
            self._append(self.records, [self._annotated(line, cell, launch, len(lines)) for line in lines])
            self.discard(cell, launch)
            return None, True
        if status is None:
            self._remove(file, log)
            return None, False
        output = log.read_text(errors="replace") if log.exists() else ""
        reason = programs.reason_in(output) if status else "It ended well but left no record."
        self.record_failure(cell, launch, status, reason)
        return reason, True

    def record_failure(self, cell, launch, status, reason):
        command = " ".join(self.study.command(cell, self.record_file(cell, launch)))
        failure = {
            "slabmark_failure": records.FAILURE_VERSION,
            "cell": cell.label,
            "cell_id": cell.id,
            "launch": launch,
            "command": command,
            "status": status,
            "reason": reason,
        }
        self._append(self.failures, [_json_line(failure)])
        self._remove(self.record_file(cell, launch), self.status_file(cell, launch))

    def discard(self, cell, launch):
        """Removes what a launch that is recorded left behind."""
        self._remove(self.record_file(cell, launch), self.log_file(cell, launch), self.status_file(cell, launch))

    def read_status(self, cell, launch):
        """Exit status that a job script wrote, or None."""
        try:
            return int(self.status_file(cell, launch).read_text())
        except (OSError, ValueError):
            return None

    def _complete_lines(self, file):
        if not file.exists():
            return []
        whole = [line for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
        return [line for line in whole if _is_json(line)]

    def _annotated(self, line, cell, launch, count):
        record = pydantic_core.from_json(line)
        record["study"] = {
            "name": self.study.name,
            "pattern": cell.pattern,
            "cell": cell.label,
            "cell_id": cell.id,
            "launch": launch,
            "records": count,
            "environment": dict(cell.environment),
        }
        return _json_line(record)

    def _append(self, file, lines):
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            data = b"".join(lines)
            end = os.lseek(descriptor, 0, os.SEEK_END)
            if end and os.pread(descriptor, 1, end - 1) != b"\n":
                data = b"\n" + data
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _remove(self, *files):
        for file in files:
            file.unlink(missing_ok=True)


def _json_line(value):
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"  # names that are not UTF-8 become escapes


def _is_json(line):
    try:
        return isinstance(pydantic_core.from_json(line), dict)
    except ValueError:
        return False


def _key_of(line):
    """(cell id, launch, records of that launch) of a line of a sweep."""
    try:
        study = pydantic_core.from_json(line)["study"]
        return str(study["cell_id"]), int(study["launch"]), int(study["records"])
    except (ValueError, KeyError, TypeError):
        return None
