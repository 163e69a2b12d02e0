"""Study files: what `slabmark sweep` is to measure, as TOML. docs/lab.md explains the keys."""

import dataclasses
import hashlib
import itertools
import json
import pathlib
import random
import tomllib

from slabmark import cells, launch, programs
from slabmark.errors import InputError, did_you_mean

DEFAULT = "default"  # as a value of an axis: the option, hint or variable is not given

# Known keys by table, each with the type of its value.
STUDY = {
    "name": str,
    "results": str,
    "output": str,
    "launches": int,
    "trials": int,
    "seed": int,
    "sync": bool,
    "bound": bool,
    "timeout": (int, float),
}
LAUNCH = {"template": str, "ranks_per_node": int}
JOB = {"time": str, "account": str, "queue": str, "nodes": int, "preamble": str, "directives": list}
PATTERN = {"name": str, "program": str, "command": str, "options": dict, "arguments": list}
AXES = {
    "ranks": (list, int),
    "method": (list, str),
    "direction": (list, str),
    "options": dict,
    "hints": dict,
    "environment": dict,
}
TABLES = {"study": STUDY, "launch": LAUNCH, "job": JOB, "axes": AXES}


@dataclasses.dataclass(frozen=True)
class StudyCell:
    """One cell to be launched. `id` follows from what is run alone, so an edited study finds its old cells again."""

    pattern: str
    program: str
    arguments: tuple  # of the program, but for the record file
    ranks: int
    environment: tuple  # of (name, value)
    label: str

    @property
    def id(self):
        text = json.dumps([self.program, self.arguments, self.ranks, self.environment])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclasses.dataclass
class Study:
    name: str
    file: pathlib.Path
    results: pathlib.Path
    template: str
    ranks_per_node: int | None
    job: dict
    scratch: pathlib.Path  # for the files that are measured; the sweep's own, so what a killed launch left there may go
    launches: int
    seed: int
    timeout: float
    cells: list

    def plan(self):
        """[(cell, launch)]: every cell once a round, each round in a random order of its own, so that a drift of the
        machine meets all alike."""
        order = []
        for number in range(self.launches):
            cells = list(self.cells)
            random.Random(f"{self.seed} {number}").shuffle(cells)
            order += [(cell, number) for cell in cells]
        return order

    def command(self, cell, record_file):
        """The words that start one launch of a cell."""
        program = [programs.find(cell.program), *cell.arguments, "--json", str(record_file)]
        return launch.fill(self.template, program, cell.ranks, self.ranks_per_node, dict(cell.environment))


def read(path, results=None):
    """`results` replaces the folder that the study names. InputError with the culprit for whatever cannot be meant."""
    path = pathlib.Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"The study '{path}' cannot be read ({getattr(error, 'strerror', None) or 'it is no text'})."
        ) from None
    try:
        toml = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"The study '{path}' is not TOML: {error}.") from None
    try:
        return _study(toml, path.resolve(), results)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _study(toml, path, results):
    _check_keys(toml, {*TABLES, "pattern"}, "the study")
    tables = {name: _table(toml, name, known) for name, known in TABLES.items()}
    settings, axes = tables["study"], tables["axes"]
    patterns = toml.get("pattern", [])
    if not isinstance(patterns, list) or not patterns:
        raise InputError(
            'It names no pattern; add a table [[pattern]] with command = "decomp" and options = {map = "FILE"}.'
        )
    if "template" not in tables["launch"]:
        raise InputError(
            'It does not say how ranks are started; add [launch] with template = "mpiexec" or another one of '
            f'{", ".join(launch.TEMPLATES)}, or a line such as "{launch.TEMPLATES["srun"]}".'
        )
    name = settings.get("name", path.stem)
    results = pathlib.Path(results).resolve() if results else path.parent / settings.get("results", f"{name}-results")
    scratch = path.parent / settings.get("output", ".") / f"{results.name}-scratch"
    return Study(
        name=name,
        file=path,
        results=results,
        template=launch.check(tables["launch"]["template"]),
        ranks_per_node=tables["launch"].get("ranks_per_node"),
        job=tables["job"],
        scratch=scratch,
        launches=_positive(settings, "launches", 6),
        seed=settings.get("seed", 1),
        timeout=_positive(settings, "timeout", 1800),
        cells=_cells(patterns, axes, settings, scratch),
    )


def _check_keys(table, known, where):
    for key in table:
        if key not in known:
            raise InputError(f"'{key}' is no key of {where}.{did_you_mean(key, known)}")


def _table(toml, name, known, where=None):
    where = where or f"[{name}]"
    table = toml.get(name, {})
    if not isinstance(table, dict):
        raise InputError(f"'{name}' is to be a table, {where}.")
    _check_keys(table, known, where)
    for key, value in table.items():
        kinds = known[key]
        if not isinstance(value, kinds) or isinstance(value, bool) and kinds is not bool:
            wanted = {
                str: "text",
                int: "a whole number",
                bool: "true or false",
                list: "a list",
                dict: "a table",
                (list, int): "a list of numbers",
                (list, str): "a list of words",
            }
            raise InputError(
                f"'{key}' of {where} is {json.dumps(value, default=str)}, which is not {wanted.get(kinds, 'a number')}."
            )
    return table


def _positive(table, key, standard):
    value = table.get(key, standard)
    if value <= 0:
        raise InputError(f"'{key}' of [study] is {value}; it must be positive.")
    return value


def _text(value):
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _axis(table, key, standard, where="[axes]"):
    values = table.get(key, standard)
    if not isinstance(values, list):
        values = [values]
    if not values:
        raise InputError(f"'{key}' of {where} is an empty list, so there is nothing to run.")
    return values


def _combinations(table, where):
    """Each choice of one value a name; names with the value "default" are left out of it."""
    names = list(table)
    choices = [[_text(value) for value in _axis(table, name, [], where)] for name in names]
    return [{n: v for n, v in zip(names, values) if v != DEFAULT} for values in itertools.product(*choices)]


def _cells(patterns, axes, settings, scratch):
    ranks = _axis(axes, "ranks", [1])
    if wrong := [value for value in ranks if not isinstance(value, int) or value < 1]:
        raise InputError(f"'ranks' of [axes] has {wrong[0]!r}, which is no positive whole number.")
    directions = _axis(axes, "direction", ["write"])
    for direction in directions:
        if direction not in ("write", "read"):
            raise InputError(f"'direction' of [axes] has {direction!r}.{did_you_mean(direction, ['write', 'read'])}")
    shared = (
        ranks,
        directions,
        _combinations(axes.get("options", {}), "[axes.options]"),
        _combinations(axes.get("hints", {}), "[axes.hints]"),
        _combinations(axes.get("environment", {}), "[axes.environment]"),
    )
    found = {}
    for number, pattern in enumerate(patterns, start=1):
        table = _table({"pattern": pattern}, "pattern", PATTERN, f"[[pattern]] number {number}")
        for cell in _cells_of(table, number, axes, settings, scratch, *shared):
            found.setdefault(cell.id, cell)
    return list(found.values())


def _cells_of(pattern, number, axes, settings, scratch, ranks, directions, options, hints, environments):
    program = pattern.get("program", "slabmark-bench")
    is_bench = program == "slabmark-bench"
    name = pattern.get("name", pattern.get("command", program))
    if is_bench and "command" not in pattern:
        raise InputError(
            f"[[pattern]] number {number} lacks 'command', the subcommand of slabmark-bench such as \"decomp\"."
        )
    if is_bench and "method" not in axes:
        raise InputError(
            "[axes] lacks 'method', such as method = [\"pnetcdf-varn\", \"hdf5-union\"]; 'slabmark-bench methods' "
            "lists them."
        )
    methods = _axis(axes, "method", []) if is_bench else [None]
    for own, method, direction, chosen, hint, environment, count in itertools.product(
        _combinations(pattern.get("options", {}), f"options of [[pattern]] number {number}"),
        methods,
        directions if is_bench else ["write"],
        options,
        hints,
        environments,
        ranks,
    ):
        if method is not None:  # options of other libraries change nothing, so they make no cells
            chosen = {key: value for key, value in chosen.items() if key.split(".")[0] == method.split("-")[0]}
        arguments = [*([pattern["command"]] if is_bench else []), *map(str, pattern.get("arguments", []))]
        for key, value in own.items():
            arguments += [f"--{key}", value]
        if is_bench:
            arguments += [
                "--method",
                method,
                *(["--read"] if direction == "read" else []),
                *([] if settings.get("bound", True) else ["--no-bound"]),
                "--quiet",
                "--overwrite",
                "--output-dir",
                str(scratch),
            ]
        arguments += ["--trials", str(_positive(settings, "trials", 3)), *(["--sync"] if settings.get("sync") else [])]
        for flag, pairs in (("--set", chosen), ("--hint", hint)):
            for key, value in pairs.items():
                arguments += [flag, f"{key}={value}"]
        distinguishing = [
            name,
            method or program,
            cells.counted(count, "rank"),
            *(["read"] if direction == "read" else []),
            *(
                f"{k}={v}"
                for k, v in [*own.items(), *chosen.items(), *hint.items(), *environment.items()]
                if k != "map"
            ),
        ]
        yield StudyCell(name, program, tuple(arguments), count, tuple(environment.items()), ", ".join(distinguishing))
