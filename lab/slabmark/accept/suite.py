"""Suite files: what `slabmark accept` measures, which rules a result must meet, and what was agreed, as TOML. docs/how-to/accept-a-file-system.md
explains the keys. A suite becomes a study, so that it runs, is interrupted and goes on as every sweep does."""

import dataclasses
import functools
import hashlib
import importlib.resources
import json
import math
import re
import shlex
import tomllib
from typing import Annotated, ClassVar, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from slabmark import files, programs, study, units
from slabmark.accept.nodes import TOLERANCE
from slabmark.errors import InputError, did_you_mean, printable
from slabmark.study import JobTable, LaunchTable, Line, Positive, StudyCell, Table, Value, Variable, listed

STANDARD = "standard.toml"
MAPS = "maps"  # folder of generated decompositions, in that of the results
# In the values of options, arguments and variables.
PLACE = re.compile(r"\{(?:(?:(\d+)\*)?(ranks)|(map)|(output))\}")

Size = Annotated[
    float,
    BeforeValidator(lambda value: units.parse_size(value) if isinstance(value, (str, int)) else value),
    Field(ge=1, le=2**63),
]
Directions = Annotated[list[Literal["write", "read"]], Field(min_length=1), listed]


class SuiteTable(Table):
    name: Line
    launches: Positive = 10
    trials: Positive = 1
    memory: Annotated[float, Field(ge=0, le=1000)] = 2.0  # bytes of a trial / memory of its nodes
    spread: Annotated[float, Field(gt=0, le=10)] = 0.10
    slow_node: Annotated[float, Field(gt=0, le=10)] = TOLERANCE
    sync: bool = True
    seed: int = 1
    timeout: Annotated[float, Field(gt=0, le=1e9)] = 14400


class MachineTable(Table):
    nodes: Positive
    ranks_per_node: Positive = 1
    memory: Size
    output: Value = "."
    file_systems: list[str] = []


class CaseTable(Table):
    """`bytes`: what a rank, or `bytes_of_all`: what all of them move for each 1 of the option `grow`."""

    name: Line
    program: study.Program = study.BENCH
    command: str | None = None
    options: dict[Line, Value] = {}
    arguments: list[Value] = []
    environment: dict[Variable, Value] = {}
    method: Annotated[list[str], Field(min_length=1), listed] | None = None
    direction: Directions = ["write"]
    map: Annotated[str, AfterValidator(lambda text: text if _words(text) else "")] | None = None
    grow: Line | Positive | None = None
    bytes: Size | None = None
    bytes_of_all: Size | None = None
    nodes: Literal["all", "one to all"] = "all"
    tiny: dict = {}

    @model_validator(mode="after")
    def _whole(self):
        if self.program == study.BENCH and not (self.command and self.method):
            raise ValueError(f"the case '{self.name}' needs 'command', a subcommand of `slabmark bench`, and 'method'")
        if isinstance(self.grow, str) and (self.bytes is None) == (self.bytes_of_all is None):
            raise ValueError(f"the case '{self.name}' has 'grow', so it needs 'bytes' or 'bytes_of_all' of each 1 of it")
        if self.tiny:
            self._check_tiny()
        return self

    def _check_tiny(self):
        """Before anything is run, whether or not it is run so."""
        where = f"'tiny' of the case '{self.name}'"
        grown = self.tiny.get("grow", 1)
        if not isinstance(grown, int) or grown < 1:
            raise ValueError(f"'grow' in {where} is to be a number from 1 on")
        try:
            self.small()
        except pydantic.ValidationError as invalid:
            error = study.first_of(invalid.errors(include_url=False))
            key = study.key_of(error["loc"])
            if error["type"] == "extra_forbidden":
                raise ValueError(f"'{key}' is no key of {where}.{did_you_mean(key, CaseTable.model_fields)}".rstrip(".")) from None
            place = f"'{key}' in {where}" if key else where
            raise ValueError(f"{place}: {study.message_of(error)}") from None

    def small(self):
        """The case as --tiny runs it: what `tiny` says instead, where `grow` is a number."""
        grown = self.tiny.get("grow", 1)
        changed = {name: value for name, value in self.tiny.items() if name != "grow"}
        made = CaseTable.model_validate(self.model_dump(exclude={"tiny"}) | changed)
        return made.model_copy(update={"options": made.options | ({self.grow: str(grown)} if self.grow else {}), "grow": None})


class TargetTable(Table):
    """What was agreed of the cells that it names: exactly one of `limit` (share of it), `rate` and `files` (a second)."""

    KINDS: ClassVar = ("limit", "rate", "files")
    case: str | None = None
    method: str | None = None
    direction: Literal["write", "read"] | None = None
    nodes: Positive | None = None
    limit: Annotated[float, Field(gt=0, le=100)] | None = None
    rate: Size | None = None
    files: Annotated[float, Field(gt=0, le=1e18)] | None = None

    @model_validator(mode="after")
    def _one(self):
        if sum(getattr(self, kind) is not None for kind in self.KINDS) != 1:
            raise ValueError("it needs one of 'limit' (a share, 0.5), 'rate' (bytes a second, \"100G\") and 'files' (a second)")
        return self

    @property
    def kind(self):
        return next(kind for kind in self.KINDS if getattr(self, kind) is not None)

    @property
    def least(self):
        return getattr(self, self.kind)


class SuiteFile(Table):
    suite: SuiteTable
    machine: MachineTable
    launch: LaunchTable
    case: Annotated[list[CaseTable], Field(min_length=1), AfterValidator(lambda cases: _named_once(cases))]
    target: list[TargetTable] = []
    job: JobTable = JobTable()


def _words(text):
    """Of a command line; ValueError if it is none."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"'{text}' is no line of words ({error})") from None
    if not words:
        raise ValueError("it is to name a decomposition, such as \"f --ne 30\"")
    return words


def _named_once(cases):
    names = [case.name for case in cases]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two cases are called '{name}'")
    return cases


TABLES = {
    "suite": SuiteTable,
    "machine": MachineTable,
    "launch": LaunchTable,
    "job": JobTable,
    "case": CaseTable,
    "target": TargetTable,
}


@dataclasses.dataclass
class Suite:
    tables: SuiteFile
    text: str  # of its file
    tiny: bool
    plan: study.Study
    of_cell: dict  # (CaseTable, nodes) by the id of a cell
    maps: dict  # words of `slabmark decomp generate` by file

    @property
    def is_standard(self):
        """Whether [suite] and the cases are those that Slabmark ships."""
        shipped = SuiteFile.model_validate(tomllib.loads(standard()))
        return (shipped.suite, shipped.case) == (self.tables.suite, self.tables.case)

    @functools.cached_property
    def programs(self):
        """Names of all that run."""
        return sorted({case.program for case in self.tables.case} | ({"slabmark decomp"} if self.maps else set()))

    def matching(self, target):
        """Ids of the cells that a target is about, as far as a suite knows them; method and direction stand in records."""
        return {
            id for id, (case, nodes) in self.of_cell.items() if target.case in (None, case.name) and target.nodes in (None, nodes)
        }


def standard():
    """Text of the suite that is shipped."""
    return importlib.resources.files("slabmark.accept").joinpath(STANDARD).read_text(encoding="utf-8")


def read(path, results=None, tiny=False):
    """InputError with the culprit for whatever cannot be meant."""
    text = study.text_of(path, "suite")
    make = lambda tables, file: _suite(tables, text, file, results, tiny)
    return study.parse_text(text, path, SuiteFile, TABLES, make, "suite")


def check_completed(chosen):
    """InputError while the machine and the launcher are still those of the template, which are nobody's."""
    template = tomllib.loads(standard())
    is_of_template = lambda table, name: table.model_dump(exclude_unset=True) == type(table).model_validate(template[name]).model_dump(exclude_unset=True)
    if is_of_template(chosen.tables.machine, "machine") and is_of_template(chosen.tables.launch, "launch"):
        raise InputError(f"'{chosen.plan.file}' is still the template of 'slabmark accept --new': write your own nodes, memory, output and "
                         "launcher into [machine] and [launch].")


def digest(path):
    """SHA-256 of a file, in hexadecimal."""
    with files.open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _suite(tables, text, path, results, tiny):
    name = f"{printable(path.stem)}{'-tiny' * tiny}"
    folder, scratch = study.places(path, results, f"{name}-results", tables.machine.output)
    chosen, machine = tables.suite, tables.machine
    how = tables.launch.model_copy(update={"ranks_per_node": machine.ranks_per_node})
    of_study = study.StudyTable(
        name=name,
        launches=chosen.launches,
        trials=chosen.trials,
        seed=chosen.seed,
        sync=chosen.sync,
        timeout=chosen.timeout,
        output=machine.output,
    )
    patterns = [study.PatternTable(name=case.name, program=case.program, command=case.command) for case in tables.case]
    as_study = study.StudyFile(launch=how, pattern=patterns, study=of_study, job=tables.job)
    known_methods = study.options_of_methods() if any(case.program == study.BENCH for case in tables.case) else {}
    made, maps = {}, {}
    for case in tables.case:
        if case.program == study.BENCH:
            study.check_methods(case.method, known_methods, f"the case '{case.name}'")
        for nodes in [machine.nodes] if case.nodes == "all" else one_to_all(machine.nodes):
            for cell in _cells(case.small() if tiny else case, nodes, tables, folder, scratch, maps):
                made[cell] = case, nodes
    plan = study.Study(as_study, name, path, folder, scratch.folder, list(made), "accept")
    suite = Suite(tables, text, tiny, plan, {cell.id: found for cell, found in made.items()}, maps)
    for target in tables.target:
        known = {case.name for case in tables.case}
        if target.case is not None and target.case not in known:
            raise InputError(f"'{target.case}' of [target] is no case.{did_you_mean(target.case, known)}")
        matching = suite.matching(target)
        if not matching:
            named = filter(None, (target.case, target.nodes and units.counted(target.nodes, "node")))
            raise InputError(f"A target is about {' on '.join(named)}, and no cell is.")
        # Only the records of other programs say how these call their methods.
        if target.method is not None and all(suite.of_cell[id][0].program == study.BENCH for id in matching):
            study.check_methods([target.method], known_methods, "[target]")
    return suite


def one_to_all(nodes):
    """1, 2, 4, ... and all."""
    return sorted({*(1 << power for power in range(nodes.bit_length())), nodes})


def _cells(case, nodes, tables, folder, scratch, maps):
    chosen, machine = tables.suite, tables.machine
    ranks = nodes * machine.ranks_per_node
    options = dict(case.options)
    if isinstance(case.grow, str):
        unit = case.bytes * ranks if case.bytes is not None else case.bytes_of_all
        options[case.grow] = str(max(1, math.ceil(chosen.memory * machine.memory * nodes / unit)))
    file = None
    if case.map is not None:
        words = [*_words(case.map), "--ranks", str(ranks)]
        of_words = hashlib.sha256(shlex.join(words).encode()).hexdigest()[:8]
        file = folder / MAPS / f"{words[0]}-{ranks}-{of_words}.nc"
        maps[file] = words

    def filled(text):
        def value(found):
            factor, is_ranks, is_map, _ = found.groups()
            return str(int(factor or 1) * ranks if is_ranks else file if is_map else scratch.folder)

        return PLACE.sub(value, text)

    words = [filled(word) for word in case.arguments]
    environment = tuple((name, filled(value)) for name, value in case.environment.items())
    for name, value in options.items():
        words += [f"--{name}", filled(value)]
    words += ["--trials", str(chosen.trials), *(["--sync"] if chosen.sync else [])]
    for method in case.method or [None]:
        for direction in case.direction if case.command else ["write"]:
            own = [case.command] if case.command else []
            if case.program == study.BENCH:
                own += ["--method", method, *(["--read"] if direction == "read" else [])]
                own += ["--quiet", "--overwrite", "--output-dir", str(scratch.folder)]
            label = [case.name, method or case.program, units.counted(nodes, "node"), *(["read"] if direction == "read" else [])]
            yield StudyCell(case.name, case.program, (*own, *words), ranks, environment, printable(", ".join(label)), scratch)


class Identity:
    """What was run, in the folder of the results: hashes of the suite and the programs when the first launch was made, so
    that nobody hands in a mixture."""

    def __init__(self, suite):
        self.file = suite.plan.results / "identity.json"
        self.now = {"suite": digest(suite.plan.file), "tiny": suite.tiny}
        self.now |= {name: digest(programs.executable(name)) for name in suite.programs}

    def keep(self, results):
        """Written once, but for that what is changed before anything is launched changes nothing."""
        if not self.file.exists() or results.is_untouched:
            files.write(self.file, json.dumps(self.now, indent=2).encode() + b"\n")

    def changed(self):
        """Names of what is not as it was when it was first run."""
        try:
            with files.open_regular(self.file) as file:
                then = json.load(file)
        except (OSError, ValueError):
            return ["identity.json"]
        return [name for name in sorted(self.now | then) if self.now.get(name) != then.get(name)]
