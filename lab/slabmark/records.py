"""Reads files of records (docs/reference/records.md). What cannot be read is named and skipped, never guessed at."""

import dataclasses
import pathlib
from typing import Annotated, Any, NotRequired

import pydantic
import pydantic_core
from pydantic import AliasPath, BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from slabmark import files
from slabmark.documents import Failure
from slabmark.errors import InputError, printable

Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
Seconds = Annotated[float, Field(ge=0, le=1e12)]
Difference = Annotated[float, Field(ge=-1e12, le=1e12)]  # of seconds
Plain = str | int | float | bool | None


class Phase(BaseModel):
    seconds: Seconds


class Trial(BaseModel):
    warm_up: bool
    open_to_close: Annotated[float, Field(gt=0, le=1e12)]  # seconds, as are the next three and `agreements`
    transfer: Seconds
    overhead: Difference
    imbalance: Annotated[Seconds, Field(validation_alias=AliasPath("busy", "imbalance"))]  # slowest rank / mean of ranks
    slowest_rank: Annotated[Count, Field(validation_alias=AliasPath("busy", "slowest_rank"))]
    slowest_host: Annotated[str, Field(validation_alias=AliasPath("busy", "slowest_host"))]
    # Of the ranks' own seconds in all phases together.
    slowest_seconds: Annotated[Seconds | None, Field(validation_alias=AliasPath("busy", "max"))] = None
    typical_seconds: Annotated[Seconds | None, Field(validation_alias=AliasPath("busy", "median"))] = None
    phases: dict[str, Phase]  # {name: seconds} once it is read
    agreements: Difference | None = None

    def model_post_init(self, context):
        self.phases = {printable(name): phase.seconds for name, phase in self.phases.items()}
        if self.agreements is None:  # earlier records do not tell Slabmark's own part from ranks that waited for a core
            self.agreements = self.overhead


def _open(name, required, /, **optional):
    """Type of what stays a dictionary, since programs and libraries add to it: of the members that the lab reads."""
    kind = TypedDict(name, required | {member: NotRequired[kind] for member, kind in optional.items()})
    kind.__pydantic_config__ = ConfigDict(extra="allow", strict=True)
    return kind


Bound = _open("Bound", {"method": str, "seconds": Seconds})
Requests = _open("Requests", {"total": Count, "max": Count, "min": Count})
Ranks = Annotated[int, Field(ge=1, le=2**31)]
Pattern = _open(
    "Pattern",
    {"name": str, "settings": dict[str, str], "bytes": Count, "requests": Requests, "ranks": Ranks},
    datasets=Count,
    rounds=Count,
)
Settings = _open("Settings", {}, options=dict[str, Plain], hints=dict[str, Plain])
Effective = _open(
    "Effective",
    {},
    hints=dict[str, Plain],
    added_hints=dict[str, str] | None,
    lacks_hint=str | None,
    notes=list[str] | None,
    no_collective_cause=list[str] | str | None,
    io_mode=dict[str, Count] | None,
    calls=dict[str, Count] | None,
    layout=dict[str, Any] | None,
    storage_bytes=Count | None,
    of_nodes=_open("OfNodes", {"hosts": list[str], "seconds": list[list[Seconds | None]]}),
)
Program = _open("Program", {}, name=str, version=str, git_revision=str, compiler=str, build_type=str)
Lustre = _open("Lustre", {}, striping=str, absent=str)
Manifest = _open(
    "Manifest",
    {},
    program=Program,
    mpi=str,
    mpi_io=str,
    libraries=dict[str, Plain],
    ranks=Count,
    hosts=list[_open("Host", {"name": str})],
    ranks_per_node=_open("OverHosts", {}, min=Count, max=Count) | None,
    memory_bytes=Count | None,
    cores=Count | None,
    output=_open("Output", {}, type=str | None, mount_point=str | None, source=str | None, lustre=Lustre | None),
    environment=dict[str, Plain],
    configuration_hash=str | None,
    seed=Plain,
    started=str | None,
    ended=str | None,
)
# The members that `slabmark sweep` adds.
Launch = _open("Launch", {}, name=str, cell=str, cell_id=str, launch=Count, environment=dict[str, str])
Departure = _open("Departure", {"path": str, "rank": Count, "value": Any})
Verified = _open("Verified", {"state": str})


class Record(BaseModel):
    """One line of a record file."""

    pattern: Pattern
    method: str
    method_summary: str = ""  # earlier records lack it
    direction: str
    unsupported: str | None
    settings: Settings
    effective: Effective
    differences: list[Departure]
    sync: bool
    cache: str | None
    stopping: dict[str, Plain] | None
    trials: list[Trial]
    verified: Verified
    bounds: list[Bound]
    manifest: Manifest
    study: Launch | None = None  # empty without a sweep
    file: str = ""
    line: int = 0
    source: str = ""  # where several results are read that are to be told apart: which of them

    def model_post_init(self, context):
        self.stopping, self.study = self.stopping or {}, self.study or {}

    @property
    def measured(self):
        return [trial for trial in self.trials if not trial.warm_up]

    @property
    def is_bound(self):
        return self.pattern["name"] == "bound"


# By the member that says so: the version that is known, and the type.
KINDS = {"slabmark_record": (1, Record), "slabmark_failure": (1, Failure)}


ADVICE = "slabmark_advice"  # ends what `slabmark advise` appends


@dataclasses.dataclass(slots=True)
class Collection:
    records: list
    failures: list
    skipped: list  # a sentence for each line that this version cannot read


class Unreadable(Exception):
    pass


class NoRecord(Unreadable):
    """A document of another kind that Slabmark itself put there."""


def read(paths, tell_apart=False):
    """Records of files, or of all *.jsonl files in folders, in order; with `tell_apart`, each with the path that it is
    from if there are several. InputError if a path does not exist or nothing at all is found."""
    collection = Collection([], [], [])
    for entry in entries(paths, tell_apart):
        kept = {Record: collection.records, Failure: collection.failures, str: collection.skipped}[type(entry)]
        kept.append(entry)
    if not collection.records and not collection.failures:
        reason = f" The first that was there: {collection.skipped[0]}." if collection.skipped else ""
        raise InputError(
            f"No record was found in {', '.join(map(str, paths))}; the option --json of the programs, or "
            f"'slabmark sweep', makes some.{reason}"
        )
    return collection


def entries(paths, tell_apart=False):
    """One by one: a Record, a Failure, or a sentence that says why a line is neither."""
    for path in paths:
        source = str(path) if tell_apart and len(paths) > 1 else ""
        for file in record_files(path):
            with files.open_regular(file) as lines:
                for number, line in enumerate(lines, start=1):
                    if line.strip():
                        try:
                            yield parse_line(line, str(file), number, source)
                        except NoRecord:
                            continue
                        except Unreadable as reason:
                            yield f"{printable(file)}, line {number}: skipped, because {reason}"


def record_files(path):
    """The files that a path stands for."""
    path = pathlib.Path(path)
    if not path.exists():
        raise InputError(f"There is no file or folder '{path}'.")
    if not path.is_dir():
        return [path]
    if not (inside := sorted(path.glob("*.jsonl"))):
        raise InputError(f"The folder '{path}' holds no file of records (*.jsonl).")
    return inside


def parse_line(line, file, number, source=""):
    """A Record or a Failure. Unreadable, with the reason, for anything else."""
    try:
        json = pydantic_core.from_json(line)
    except ValueError:
        raise Unreadable("it is not JSON (cut short?)") from None
    if not isinstance(json, dict):
        raise Unreadable("it is not a JSON object")
    if ADVICE in json:
        raise NoRecord("it is advice")
    if not (member := next((member for member in KINDS if member in json), None)):
        raise Unreadable("it is no record of Slabmark")
    version, kind = KINDS[member]
    if json[member] != version:
        found = printable(json[member])[:20]
        raise Unreadable(f"it is of version {found} and this slabmark reads version {version}; a newer slabmark may read it")
    try:
        entry = kind.model_validate(json, strict=True)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Unreadable(f"its member '{'.'.join(map(str, first['loc']))}' is wrong: {first['msg']}") from None
    if kind is Record:
        entry.file, entry.line, entry.source = file, number, source
    return entry
