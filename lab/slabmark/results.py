"""The folder of a sweep: what is done, what failed, what a launch left behind.

    records.jsonl      one line a record, each with the member "study"
    failures.jsonl     one line a launch that failed
    launches/ID.jsonl  what one launch writes; its lines move to records.jsonl when it has ended
    launches/ID.log    what it printed; stays if it failed
    launches/ID.status its exit status; written when it has ended

A launch counts as done when all of its records are in records.jsonl. Nothing is removed before what replaces it is
durable, so a kill at any moment loses nothing.
"""

import collections
import contextlib
import fcntl
import os
import time

import orjson

from slabmark import programs, records
from slabmark.errors import InputError

SECONDS_TO_WAIT_FOR_LOCK = 10


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
        try:
            self.launches.mkdir(parents=True, exist_ok=True)
            self.study.scratch.mkdir(parents=True, exist_ok=True)
            self.lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(f"The folder '{error.filename}' cannot be used: {error.strerror}.") from None
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
        """{(cell id, launch)} that are recorded. A launch of which only a part is there, because the machine died while
        it was appended, is cut off again."""
        found, expected = collections.Counter(), {}
        position, partial = 0, None  # where an incomplete tail begins
        if self.records.exists():
            with open(self.records, "rb") as lines:
                for line in lines:
                    key = _key_of(line)
                    if key is not None:
                        launch = key[:2]
                        expected[launch] = key[2]
                        found[launch] += 1
                        incomplete = found[launch] < key[2]
                        partial = (position if partial is None else partial) if incomplete else None
                    elif not line.endswith(b"\n") and partial is None:
                        partial = position
                    position += len(line)
            if partial is not None:
                os.truncate(self.records, partial)
        return {key for key, count in found.items() if count == expected[key]}

    def failed(self):
        """{(cell id, launch): reason}"""
        found = {}
        if self.failures.exists():
            for line in self.failures.read_bytes().splitlines():
                try:
                    failure = orjson.loads(line)
                    found[failure["cell_id"], failure["launch"]] = failure["reason"]
                except (orjson.JSONDecodeError, KeyError):
                    continue  # cut short by a crash: that launch runs again
        return found

    def forget_failures(self):
        self.failures.unlink(missing_ok=True)

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
        self._append(self.failures, [orjson.dumps(failure)])
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
        record = orjson.loads(line)
        record["study"] = {
            "name": self.study.name,
            "pattern": cell.pattern,
            "cell": cell.label,
            "cell_id": cell.id,
            "launch": launch,
            "records": count,
            "environment": dict(cell.environment),
        }
        return orjson.dumps(record)

    def _append(self, file, lines):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            data = b"".join(line + b"\n" for line in lines)
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _remove(self, *files):
        for file in files:
            file.unlink(missing_ok=True)


def _is_json(line):
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def _key_of(line):
    """(cell id, launch, records of that launch) of a complete line of this sweep."""
    if not line.endswith(b"\n"):
        return None
    try:
        study = orjson.loads(line)["study"]
        return study["cell_id"], study["launch"], study["records"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
