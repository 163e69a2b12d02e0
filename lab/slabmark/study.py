"""Study files: what `slabmark sweep` is to measure, as TOML. docs/reference/lab.md explains the keys."""

import dataclasses
import functools
import hashlib
import itertools
import json
import math
import os
import pathlib
import random
import re
import tomllib
from typing import Annotated, Literal, NamedTuple

import pydantic
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from slabmark import files, launch, programs, units
from slabmark.errors import InputError, did_you_mean, printable

BENCH = "slabmark bench"
DEFAULT = "default"  # as a value of an axis: the option, hint or variable is not given
MOST_CELLS, MOST_LAUNCHES = 100_000, 1_000_000
MOST_BYTES, MOST_DOTS = 1 << 20, 1000  # of a study and of a line of it: tomllib takes hours over a key of 100,000 parts


def _text(value):
    if isinstance(value, bool):
        return "on" if value else "off"
    if not isinstance(value, (str, int, float)) or "\0" in str(value):
        raise ValueError("it is to be text, a number, true or false")
    return str(value)


def _line(value):
    if not isinstance(value, str) or any(ord(c) < 32 or c == "\x7f" for c in value):
        raise ValueError("it is to be text without line breaks and other control characters")
    return value


def _not_empty(value):
    if not value:
        raise ValueError("a name is empty")
    return value


def _variable(value):
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError(f"'{value}' is no name of a variable")
    return value


Positive = Annotated[int, Field(ge=1, le=2**31 - 1)]
Value = Annotated[str, BeforeValidator(_text)]
Line = Annotated[str, BeforeValidator(_line)]  # of a script
Name = Annotated[Line, AfterValidator(_not_empty)]
Variable = Annotated[str, BeforeValidator(_variable)]
listed = BeforeValidator(lambda value: value if isinstance(value, list) else [value])  # one value is a list of it
Axis = Annotated[list[Value], Field(min_length=1), listed]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class StudyTable(Table):
    name: Line | None = None
    results: Value | None = None
    output: Value = "."
    launches: Positive = 6
    trials: Positive = 3
    seed: int = 1
    sync: bool = False
    bound: bool = True
    timeout: Annotated[float, Field(gt=0, le=1e9)] = 1800


class LaunchTable(Table):
    template: Annotated[str, AfterValidator(launch.check)]
    ranks_per_node: Positive | None = None
    hosts: Annotated[list[Line], Field(min_length=1)] | None = None


class JobTable(Table):
    time: Line | None = None
    account: Line | None = None
    queue: Line | None = None
    nodes: Positive | None = None
    preamble: Annotated[list[str], listed] = []
    directives: list[Line] = []


Program = Annotated[str, AfterValidator(programs.name_now)]


class PatternTable(Table):
    name: str | None = None
    program: Program = BENCH
    command: str | None = None
    options: dict[Line, Axis] = {}
    arguments: list[Value] = []


class AxesTable(Table):
    ranks: Annotated[list[Positive], Field(min_length=1), listed] = [1]
    method: Annotated[list[str], Field(min_length=1), listed] | None = None
    direction: Annotated[list[Literal["write", "read"]], Field(min_length=1), listed] = ["write"]
    options: dict[Line, Axis] = {}
    hints: dict[Line, Axis] = {}
    environment: dict[Variable, Axis] = {}


class StudyFile(Table):
    launch: LaunchTable
    pattern: Annotated[list[PatternTable], Field(min_length=1)]
    study: StudyTable = StudyTable()
    job: JobTable = JobTable()
    axes: AxesTable = AxesTable()


TABLES = {"study": StudyTable, "launch": LaunchTable, "job": JobTable, "pattern": PatternTable, "axes": AxesTable}
# The answer to a user if one of these is missing or wrong.
ADVICE = {
    "pattern": 'add a table [[pattern]] with command = "decomp" and options = {map = "FILE"}',
    "launch": f'it says how ranks are started, with template = "mpiexec" or another one of {", ".join(launch.TEMPLATES)}, '
    f'or a line such as "{launch.TEMPLATES["srun"]}"',
}


class Scratch(NamedTuple):
    """Where the measured files lie: two folders of results, and so two sweeps at a time, never have the same."""

    folder: pathlib.Path
    name: str  # of it without the place of the results, which may be moved

    @classmethod
    def of(cls, output, results):
        place = hashlib.sha256(os.fsencode(os.path.realpath(results))).hexdigest()[:8]
        return cls(output / f"{results.name}-{place}-scratch", str(output / f"{results.name}-scratch"))


@dataclasses.dataclass(frozen=True)
class StudyCell:
    """One cell to be launched. `id` follows from what is run alone, so an edited study finds its old cells again, as do
    results that were moved."""

    pattern: str
    program: str
    arguments: tuple  # of the program, but for the record file
    ranks: int
    environment: tuple  # of (name, value)
    label: str
    scratch: Scratch

    @functools.cached_property
    def id(self):
        plain = lambda words: [word.replace(str(self.scratch.folder), self.scratch.name) for word in words]
        environment = [plain(pair) for pair in self.environment]
        text = json.dumps([self.program, plain(self.arguments), self.ranks, environment])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class Launch(NamedTuple):
    cell: StudyCell
    number: int

    @property
    def key(self):
        return self.cell.id, self.number


@dataclasses.dataclass
class Study:
    tables: StudyFile
    name: str
    file: pathlib.Path
    results: pathlib.Path
    scratch: pathlib.Path  # for the files that are measured; the sweep's own, so what a killed launch left there may go
    cells: list
    subcommand: str = "sweep"  # of slabmark, which made it

    @property
    def rotates(self):
        """Whether launches are given a file of hosts."""
        return "hostfile" in launch.fields(self.tables.launch.template)

    def plan(self):
        """Launches: every cell once a round, each round in a random order of its own, so that a drift of the machine
        meets all alike."""
        order = []
        for number in range(self.tables.study.launches):
            cells = list(self.cells)
            random.Random(f"{self.tables.study.seed} {number}").shuffle(cells)
            order += [Launch(cell, number) for cell in cells]
        return order

    @functools.cached_property
    def _places(self):
        return {launched.key: place for place, launched in enumerate(self.plan())}

    def first_host(self, launched):
        """The node with which a launch begins, counted in a circle: each launch of the plan begins with the next one, so
        that every node holds every rank in turn."""
        return self._places[launched.key]

    def nodes(self, launched):
        """How many a launch takes."""
        return -(-launched.cell.ranks // (self.tables.launch.ranks_per_node or launched.cell.ranks))

    def command(self, launched, record_file, host_file="HOSTS"):
        """The words that start a launch."""
        cell, how = launched.cell, self.tables.launch
        program = [*programs.command(cell.program), *cell.arguments, "--json", str(record_file)]
        return launch.fill(how.template, program, cell.ranks, how.ranks_per_node, dict(cell.environment), host_file)


def read(path, results=None):
    """`results` replaces the folder that the study names. InputError with the culprit for whatever cannot be meant."""
    return parse(path, StudyFile, TABLES, lambda tables, file: _study(tables, file, results))


def parse(path, model, tables, make, what="study"):
    """make(a TOML file as `model`, its absolute path). `tables`: the model of each table, for what is said of errors."""
    return parse_text(text_of(path, what), path, model, tables, make, what)


def text_of(path, what):
    """Of a TOML file, which is UTF-8 wherever it is read."""
    with files.open_regular(path) as file:
        data = file.read(MOST_BYTES + 1)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InputError(f"The {what} '{path}' is no text.") from None
    if len(data) > MOST_BYTES or any(line.count(".") > MOST_DOTS for line in text.splitlines()):
        raise InputError(f"{path}: It is too large for a {what}, or a line of it has too many dots.")
    return text


def parse_text(text, path, model, tables, make, what):
    """As `parse`, of the text of the file."""
    try:
        return make(model.model_validate(tomllib.loads(text)), pathlib.Path(os.path.realpath(path)))
    except RecursionError:
        raise InputError(f"The {what} '{path}' is not TOML: it is nested too deeply.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"The {what} '{path}' is not TOML: {error}.") from None
    except pydantic.ValidationError as error:
        raise InputError(f"{path}: {_explained(error.errors(include_url=False), tables, what)}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _explained(errors, tables, what):
    """What pydantic finds wrong, in words of the file: first of all a key that is not known, which may be a missing one."""
    error = first_of(errors)
    table, *keys = error["loc"]
    key = key_of(keys)
    if error["type"] == "extra_forbidden":
        known = tables[table].model_fields if keys else tables
        wrong = error["loc"][-1]
        return f"'{wrong}' is no key of {f'[{table}]' if keys else f'a {what}'}.{did_you_mean(wrong, known)}"
    where = f"'{key}' of [{table}]" if keys else f"[{table}]"
    text = message_of(error)
    is_advised = tables is TABLES and table in ADVICE and (len(keys) < 2 or error["type"] == "missing")
    advice = f" ({ADVICE[table]})" if is_advised else ""
    return f"{where}: {text[0].lower()}{text[1:]}{advice}."


def first_of(errors):
    """Of what pydantic finds wrong, what is told: a key that is not known explains others."""
    return min(errors, key=lambda error: error["type"] != "extra_forbidden")


def key_of(place):
    """Of a place in tables: people count those of a list from 1."""
    return ".".join(str(key + 1) if isinstance(key, int) else str(key) for key in place if key != "[key]")


def message_of(error):
    return error["msg"].removeprefix("Value error, ").replace("Input should", "it should")


def places(path, named, usual, output):
    """(folder of the results, Scratch) of a study's or suite's file. What is `named` on the command line is relative to the
    working folder, else `usual` and `output` to the file's."""
    folder = pathlib.Path(os.path.realpath(named)) if named else path.parent / usual
    return folder, Scratch.of(path.parent / output, folder)


def _study(tables, path, results):
    settings = tables.study
    name = settings.name or printable(path.stem)
    results, scratch = places(path, results, settings.results or f"{name}-results", settings.output)
    study = Study(tables, name, path, results, scratch.folder, _cells(tables, scratch))
    if len(study.cells) * settings.launches > MOST_LAUNCHES:
        raise InputError(
            f"It asks for {len(study.cells)} cells of {settings.launches} launches; {MOST_LAUNCHES} launches are the most."
        )
    return study


def _combinations(table):
    """Each choice of one value a name; names with the value "default" are left out of it."""
    _bounded(table.values())
    return [{n: v for n, v in zip(table, values) if v != DEFAULT} for values in itertools.product(*table.values())]


def _bounded(lists):
    if (count := math.prod(map(len, lists))) > MOST_CELLS:
        raise InputError(f"Its axes combine to {count} cells; {MOST_CELLS} are the most.")


def _cells(tables, scratch):
    axes = tables.axes
    combined = map(_combinations, (axes.options, axes.hints, axes.environment))
    shared = [axes.direction, *combined, axes.ranks]
    own_options = {}
    if axes.method and any(pattern.program == BENCH for pattern in tables.pattern):
        own_options = options_of_methods()
        check_methods(axes.method, own_options, "'method' of [axes]")
        known = {option for method in axes.method for option in own_options[method]}
        for name in axes.options:
            if name not in known:
                raise InputError(f"'{name}' of [axes.options] is an option of none of its methods.{did_you_mean(name, known)}")
    found = {}
    for number, pattern in enumerate(tables.pattern, start=1):
        cells = _cells_of(pattern, number, tables, scratch, shared, own_options)
        found |= {cell.id: cell for cell in cells if cell.id not in found}
    return list(found.values())


def options_of_methods():
    """The options of each method, as this machine's `slabmark bench` has them."""
    methods = programs.json_of([*programs.command(BENCH), "methods", "--json", "-"], member="methods")["methods"]
    return {method["name"]: [option["name"] for option in method["options"]] for method in methods}


def check_methods(chosen, known, where):
    """InputError for a method that `slabmark bench` does not know: better than launch by launch."""
    for method in chosen:
        if method not in known:
            raise InputError(f"'{method}' of {where} is no method of {BENCH}.{did_you_mean(method, known)}")


def _cells_of(pattern, number, tables, scratch, shared, own_options):
    settings, axes, program = tables.study, tables.axes, pattern.program
    is_bench = program == BENCH
    name = pattern.name or pattern.command or program
    if is_bench and not pattern.command:
        raise InputError(
            f"[[pattern]] number {number} lacks 'command', the subcommand of `slabmark bench` such as \"decomp\"."
        )
    if is_bench and axes.method is None:
        raise InputError(
            "[axes] lacks 'method', such as method = [\"pnetcdf-varn\", \"hdf5-union\"]; 'slabmark bench methods' "
            "lists them."
        )
    lists = [_combinations(pattern.options), axes.method if is_bench else [None], *shared]
    if not is_bench:
        lists[2] = ["write"]
    _bounded(lists)
    for own, method, direction, chosen, hint, environment, count in itertools.product(*lists):
        if method is not None:  # options of other methods change nothing, so they make no cells
            chosen = {key: value for key, value in chosen.items() if key in own_options.get(method, ())}
        arguments = [*([pattern.command] if is_bench else []), *pattern.arguments]
        for key, value in own.items():
            arguments += [f"--{key}", value]
        if is_bench:
            arguments += [
                *("--method", method),
                *(["--read"] if direction == "read" else []),
                *([] if settings.bound else ["--no-bound"]),
                *("--quiet", "--overwrite", "--output-dir", str(scratch.folder)),
            ]
        arguments += ["--trials", str(settings.trials), *(["--sync"] if settings.sync else [])]
        for flag, pairs in (("--set", chosen), ("--hint", hint)):
            for key, value in pairs.items():
                arguments += [flag, f"{key}={value}"]
        varied = [pair for table in (own, chosen, hint, environment) for pair in table.items()]
        label = [name, method or program, units.counted(count, "rank"), *(["read"] if direction == "read" else [])]
        label += [f"{key}={value}" for key, value in varied if key != "map"]
        label = printable(", ".join(label))
        yield StudyCell(name, program, tuple(arguments), count, tuple(environment.items()), label, scratch)
