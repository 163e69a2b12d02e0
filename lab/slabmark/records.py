"""Reads files of records (docs/records.md). What cannot be read is named and skipped, never guessed at."""

import dataclasses
import pathlib

import orjson

from slabmark.errors import InputError

RECORD_VERSION = 1
FAILURE_VERSION = 1


@dataclasses.dataclass(slots=True)
class Trial:
    warm_up: bool
    open_to_close: float  # seconds
    transfer: float
    overhead: float
    agreements: float
    phases: dict  # seconds by name
    imbalance: float  # slowest rank's seconds / mean over ranks
    slowest_rank: int
    slowest_host: str


@dataclasses.dataclass(slots=True)
class Record:
    """One line of a record file. What only the manifest knows stays in `manifest`."""

    file: str
    line: int
    pattern: dict
    method: str
    direction: str
    unsupported: str | None
    settings: dict
    effective: dict
    differences: list
    sync: bool
    cache: str | None
    stopping: dict
    trials: list
    verified: dict
    bounds: list
    manifest: dict
    study: dict  # what `slabmark sweep` added: study, cell, launch, environment; empty without one

    @property
    def measured(self):
        return [trial for trial in self.trials if not trial.warm_up]

    @property
    def is_bound(self):
        return self.pattern["name"] == "bound"


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """A launch that ended without its records, as `slabmark sweep` keeps it."""

    cell: str
    launch: int
    command: str
    status: int | None
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Skipped:
    """A line that is no record this version can read."""

    file: str
    line: int
    reason: str

    def __str__(self):
        return f"{self.file}, line {self.line}: skipped, because {self.reason}"


@dataclasses.dataclass(slots=True)
class Collection:
    records: list
    failures: list
    skipped: list


class _Unreadable(Exception):
    pass


def read(paths):
    """Records of files, or of all *.jsonl files in folders, in order. InputError if a path does not exist or nothing
    at all is found."""
    collection = Collection([], [], [])
    for file in record_files(paths):
        _read_file(file, collection)
    if not collection.records and not collection.failures:
        reasons = "".join(f"\n  {skipped}" for skipped in collection.skipped[:5])
        raise InputError(
            f"No record was found in {', '.join(map(str, paths))}; the option --json of the programs, or "
            f"'slabmark sweep', makes some.{reasons}"
        )
    return collection


def record_files(paths):
    """The files that the paths stand for."""
    files = []
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            inside = sorted(path.glob("*.jsonl"))
            if not inside:
                raise InputError(f"The folder '{path}' holds no file of records (*.jsonl).")
            files += inside
        elif path.is_file():
            files.append(path)
        else:
            raise InputError(f"There is no file or folder '{path}'.")
    return files


def _read_file(file, collection):
    try:
        lines = open(file, "rb")
    except OSError as error:
        raise InputError(f"'{file}' cannot be read: {error.strerror}.") from error
    with lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                entry = parse_line(line, str(file), number)
            except _Unreadable as reason:
                collection.skipped.append(Skipped(str(file), number, str(reason)))
                continue
            (collection.failures if isinstance(entry, Failure) else collection.records).append(entry)


def parse_line(line, file, number):
    try:
        json = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise _Unreadable("it is not JSON (cut short?)") from None
    if not isinstance(json, dict):
        raise _Unreadable("it is not a JSON object")
    try:
        if "slabmark_failure" in json:
            _require_version(json["slabmark_failure"], FAILURE_VERSION)
            return Failure(**{field.name: json[field.name] for field in dataclasses.fields(Failure)})
        if "slabmark_record" not in json:
            raise _Unreadable("it is no record of Slabmark")
        _require_version(json["slabmark_record"], RECORD_VERSION)
        return _record(json, file, number)
    except KeyError as missing:
        raise _Unreadable(f"its member {missing} is missing") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise _Unreadable(f"a member is of an unexpected type ({error})") from None


def _require_version(found, known):
    if found != known:
        raise _Unreadable(
            f"it is of version {found} and this slabmark reads version {known}; a newer slabmark may read it"
        )


def _record(json, file, number):
    pattern = json["pattern"]
    for member in ("name", "settings", "bytes", "requests", "ranks"):
        pattern[member]
    return Record(
        file=file,
        line=number,
        pattern=pattern,
        method=json["method"],
        direction=json["direction"],
        unsupported=json["unsupported"],
        settings=json["settings"],
        effective=json["effective"],
        differences=json["differences"],
        sync=json["sync"],
        cache=json["cache"],
        stopping=json["stopping"],
        trials=[_trial(trial) for trial in json["trials"]],
        verified=json["verified"],
        bounds=json["bounds"],
        manifest=json["manifest"],
        study=json.get("study") or {},
    )


def _trial(json):
    busy = json["busy"]
    return Trial(
        warm_up=json["warm_up"],
        open_to_close=float(json["open_to_close"]),
        transfer=float(json["transfer"]),
        overhead=float(json["overhead"]),
        # Earlier records do not tell Slabmark's own part from ranks that waited for a core.
        agreements=float(json.get("agreements", json["overhead"])),
        phases={name: float(phase["seconds"]) for name, phase in json["phases"].items()},
        imbalance=float(busy["imbalance"]),
        slowest_rank=busy["slowest_rank"],
        slowest_host=busy["slowest_host"],
    )
