"""The JSON documents that `--json` of the lab's commands makes: their members, as types and as JSON Schema.

docs/schemas holds the schemas, which docs/make-schemas writes. A member that goes or changes its meaning raises the number of its
document. Seconds are seconds, sizes are bytes, shares are fractions of 1.
"""

import json
import os
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SkipValidation
from pydantic.json_schema import GenerateJsonSchema

from slabmark import files
from slabmark.commands.parsing import PRINT
from slabmark.errors import InputError

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Name = SkipValidation[str]  # of a file: bytes that are not UTF-8 become escapes


def _about(kind, text):
    return Annotated[kind, Field(description=text)]


Workload = _about(str, "pattern and direction, as a heading of the tables has them")
CellName = _about(str, "method, ranks and settings of the cell, as its row of the tables has them")
Failed = _about(list[str], "outcomes of --fail-on that made the exit status 1")
Skipped = _about(list[str], "a sentence for each line of the input that could not be read")
Coverage = _about(float, "probability with which the intervals hold")


class Document(BaseModel):
    """A document, or a part of one. A part may be given as any object that has members of the same names."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)


class Interval(Document):
    """A median with its interval. The ends are null where there are too few values for an interval."""

    median: float | None
    low: float | None
    high: float | None


# compare


class Values(Document):
    unit: _about(Literal["launches", "trials"], "what is compared: medians of launches, or trials")
    base: _about(int, "number of values of BASE")
    new: _about(int, "number of values of NEW")
    needed: _about(int | None, "values a side that would give a verdict 8 times in 10; null where there is one")


class Sides(Document):
    base: float
    new: float


class ComparedCell(Document):
    workload: Workload
    cell: CellName
    verdict: Literal["faster", "slower", "same", "inconclusive"]
    ratio: _about(Interval, "seconds of NEW / seconds of BASE")
    values: Values
    seconds: _about(Sides, "medians of the values of either side, from open to close")
    finds: _about(float | None, "slowdown that would be called slower 8 times in 10, as a share; null without an interval")
    note: _about(str, "what limits the verdict; may be empty")


class MissingCell(Document):
    workload: Workload
    cell: CellName
    reason: str


class NewCell(Document):
    workload: Workload
    cell: CellName


class Departure(Document):
    what: str
    base: str
    new: str


class Comparison(Document):
    """Printed by slabmark compare."""

    slabmark_comparison: Literal[1] = 1
    answer: _about(str, "the result in one sentence")
    tolerance: _about(float, "share up to which a difference is called the same")
    coverage: Coverage
    coverage_of: _about(Literal["all", "each"], "whether the intervals hold together or each by itself")
    cells: list[ComparedCell]
    missing: _about(list[MissingCell], "cells of BASE that were not compared")
    only_in_new: list[NewCell]
    changed: _about(list[Departure], "attributes in which compared cells differ")
    skipped: Skipped
    failed: Failed


# accept


class Target(Document):
    cell: CellName
    kind: Literal["limit", "rate", "files"]
    agreed: _about(float, "least value that was agreed: a share of the limit, bytes per second, or files per second")
    measured: _about(Interval, "in the unit of `agreed`")
    launches: int
    needed: _about(int | None, "launches that a verdict would take; null where there is one, or where more do not help")
    verdict: Literal["pass", "fail", "inconclusive", "missing"]
    note: str


class Rule(Document):
    name: str
    met: bool
    broken: _about(list[str], "a sentence for each departure from the rule")


class SlowNode(Document):
    host: str
    by: _about(Literal["limit", "messages", "file-a-node"], "which search found it")
    is_node: _about(bool, "false where it held the same ranks each time, so that the rank may be what is slow")
    slowest_in: Annotated[int, Field(validation_alias="times", description="launches that name it")]
    launches: _about(int, "launches in which it took part")
    factor: _about(float | None, "its seconds / those of a typical node")
    probability: _about(float, "of such a finding by chance, if all nodes are alike")


class Hash(Document):
    what: Literal["suite", "program", "records", "failures", "map"]
    name: _about(Name, "path of the file")
    sha256: str


class Acceptance(Document):
    """Printed by slabmark accept."""

    slabmark_acceptance: Literal[1] = 1
    answer: _about(str, "the result in one sentence")
    suite: _about(str, "name of the suite")
    is_standard: _about(bool, "whether rules and cases are those that Slabmark ships")
    valid: _about(bool, "whether all rules are met")
    coverage: Coverage
    targets: list[Target]
    rules: list[Rule]
    slow_nodes: list[SlowNode]
    hashes: list[Hash]
    skipped: Skipped
    failed: Failed


# track

TrackVerdict = Literal["slower", "missing", "inconclusive", "faster", "same", "too few nights", "unchanged"]


class ChangedPhase(Document):
    name: _about(str, "phase whose seconds changed most")
    before: _about(float, "median seconds before the change")
    after: _about(float, "median seconds after it")


class ChangedAttribute(Document):
    date: str
    what: str
    before: str
    after: str


class LevelChange(Document):
    date: _about(str, "first night of the new level")
    found: _about(str, "night with which the change was found")
    verdict: Literal["faster", "slower", "same", "inconclusive"]
    ratio: _about(Interval, "seconds of the new level / those of the one before")
    limit_ratio: Annotated[
        Interval | None,
        Field(validation_alias="limit", description="the same ratio of the limits beside; null where they are not known"),
    ]
    phase: ChangedPhase | None
    changed: _about(list[ChangedAttribute], "what else changed that night or the nights beside it")


class TrackedCell(Document):
    workload: Workload
    cell: CellName
    nights: int
    verdict: TrackVerdict
    why: str
    ratio: _about(Interval | None, "seconds of the level now / those of the one before the last days; null where none changed")
    changes: list[LevelChange]


class Tracking(Document):
    """Printed by slabmark track report."""

    slabmark_track: Literal[1] = 1
    answer: _about(str, "the result in one sentence")
    newest: _about(str, "date of the latest night")
    tolerance: _about(float, "share up to which a difference is called the same")
    recent_days: int
    false_alarms_a_year: float
    launches: int
    trials: int
    cells: list[TrackedCell]
    failed: Failed


class Row(Document):
    """Of a query; the same members are the columns of its table."""

    workload: Workload
    cell: CellName


class CellRow(Row):
    """A line of slabmark track query STORE cells."""

    nights: int
    launches: int
    trials: int
    first: _about(str, "date of the first night")
    last: _about(str, "date of the latest night")
    latest_seconds: _about(float, "median of the latest night")
    changes: _about(int, "number of lasting changes")
    verdict: TrackVerdict


class NightRow(Row):
    """A line of slabmark track query STORE nights."""

    date: str
    median_seconds: float
    limit_seconds: _about(float | None, "median of the limits beside; null where none was measured")
    launches: int
    trials: int


class TrialRow(Row):
    """A line of slabmark track query STORE trials. A member NAME_seconds for each phase follows."""

    model_config = ConfigDict(extra="allow")
    date: str
    launch: _about(int, "number within the night, from 0")
    started: _about(str, "time of day in UTC, ISO 8601")
    hosts: str
    __pydantic_extra__: dict[str, float]


class ChangeRow(Row):
    """A line of slabmark track query STORE changes."""

    date: _about(str, "first night of the new level")
    found: _about(str, "night with which the change was found")
    ratio: _about(float, "seconds of the new level / those of the one before")
    low: _about(float | None, "lower end of its interval; null where there is none")
    high: _about(float | None, "upper end of its interval; null where there is none")
    verdict: Literal["faster", "slower", "same", "inconclusive"]
    what_else_changed: str


# advise

Pairs = Annotated[dict[str, str], BeforeValidator(dict)]


class Way(Document):
    """A method with its settings."""

    label: _about(str, "as tables name it")
    method: str
    options: _about(Pairs, "of --set")
    hints: _about(Pairs, "of --hint")
    environment: _about(Pairs, "variables of all ranks")
    apply: Annotated[str, Field(validation_alias="way", description="what slabmark apply --with puts into the program, or nothing")]


class ConfirmedWay(Document):
    way: Way
    seconds: _about(float | None, "median of the launches, from open to close; null where it was not compared")
    at_least: _about(float | None, "lower bound of the seconds of a way whose launch did not end in its time; else null")
    launches: int


class TriedWay(Document):
    way: Way
    seconds: _about(float, "median of its trials in the search")
    trials: int


class LeftOut(Document):
    name: str
    reason: str


class PartAdvice(Document):
    part: _about(str, "library and ranks of a captured program's part; empty for what is no captured program")
    answer: _about(str, "the result in one sentence")
    direction: Literal["write", "read"]
    ranks: int
    advised: _about(Way, "the winner, or what is done today where the winner is slower")
    winner: _about(ConfirmedWay, "the fastest in the search")
    today: _about(ConfirmedWay, "what is done today")
    ratio: _about(Interval | None, "seconds of the winner / seconds of what is done today; null where they were not compared")
    tried: _about(list[TriedWay], "the best first")
    failed: list[LeftOut]
    untried: list[LeftOut]


class Advice(Document):
    """The last line of slabmark advise --json, after the records of all launches."""

    slabmark_advice: Literal[1] = 1
    answer: _about(str, "the result in one sentence")
    apply: _about(str, "shell line that makes a captured program faster without a change of it; empty where there is none")
    parts: _about(list[PartAdvice], "one, or one for each part of a captured program")


# sweep


class Failure(Document):
    """A line of failures.jsonl: a launch that left no records."""

    slabmark_failure: Literal[1] = 1
    cell: CellName
    cell_id: str
    launch: _about(int, "number within the cell, from 0")
    command: _about(Name, "the command line, quoted for a shell")
    status: _about(int | None, "exit status; null where the launch was ended after its time")
    reason: str


PRINTED = {
    "comparison": Comparison,
    "acceptance": Acceptance,
    "track-report": Tracking,
    "track-query-cells": CellRow,
    "track-query-nights": NightRow,
    "track-query-trials": TrialRow,
    "track-query-changes": ChangeRow,
    "advice": Advice,
    "failure": Failure,
}


class _Schema(GenerateJsonSchema):
    def field_title_should_be_set(self, schema):
        return False  # it would be the name again


def schemas():
    """{name of a file: text}"""
    made = {
        name: {"$schema": DIALECT} | model.model_json_schema(mode="serialization", schema_generator=_Schema)
        for name, model in PRINTED.items()
    }
    return {f"{name}.json": json.dumps(schema, indent=2) + "\n" for name, schema in made.items()}


def check(where, others=()):
    """InputError unless documents may go to this value of --json: a new file, or one that begins with a line of JSON, and none of the
    `others`, of which some may be None."""
    if where in (None, PRINT):
        return
    if not os.path.isdir(folder := os.path.dirname(os.path.abspath(where))):
        raise InputError(f"'{where}' of --json cannot be made: there is no directory '{folder}'.")
    if os.path.realpath(where) in [os.path.realpath(other) for other in others if other is not None]:
        raise InputError(f"'{where}' of --json is another file of this command; name a file of its own.")
    if os.path.exists(where):
        with files.open_regular(where) as file:
            first = file.readline()
        try:
            is_document = not first or isinstance(json.loads(first), dict)
        except (ValueError, RecursionError):
            is_document = False
        if not is_document:
            raise InputError(f"'{where}' of --json does not begin with a line of JSON, to which lines could be added; name another file.")


def put(documents, where):
    """A line for each, printed where `where` is PRINT, else appended to the file of that name, if there is one. In ASCII: names that
    are not UTF-8 become escapes. LabError if that fails."""
    if where == PRINT:
        for document in documents:
            print(line(document).decode(), end="")
    elif where is not None:
        files.append(where, b"".join(map(line, documents)))


def line(document):
    """As it stands in a file of such documents, in bytes."""
    return json.dumps(document.model_dump(), separators=(",", ":")).encode() + b"\n"
