"""From a short text (TOML) to a pattern file: slabmark describe FILE.toml -o run.pattern. docs/reference/patterns.md explains the keys."""

import pathlib
from typing import Annotated, Literal

import netCDF4
import numpy
from pydantic import Field

from slabmark import decomposition, files, study, units
from slabmark.errors import InputError, did_you_mean
from slabmark.pattern import darshan_log, layouts, making, reading
from slabmark.study import Line, Name, Positive, Table, listed

MOST_STEPS, MOST_VARIABLES = 1_000_000, 100_000
MOST_WRITES = 10_000_000
MOST_BYTES_OF_TEXT = 1 << 30  # of a list of owners
Lengths = Annotated[list[Positive], Field(min_length=1), listed]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Ranks = Annotated[int, Field(ge=1, le=layouts.MOST_RANKS)]
Share = Annotated[float, Field(ge=0, le=100)]


class PatternTable(Table):
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = 1
    files: Literal["one", "a step"] = "one"
    think: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    ranks: Ranks | None = None
    seed: Count = 1


class GridTable(Table):
    name: Name
    shape: Lengths
    dimensions: Annotated[list[Name], Field(min_length=1), listed] | None = None
    processes: Lengths | None = None
    blocks: list[Lengths] | None = None
    halo: Annotated[list[Count], Field(min_length=1), listed] = [0]


class MeshTable(Table):
    name: Name
    owner: Line
    variable: Line | None = None
    first: Literal[0, 1] = 0
    ranks: Ranks | None = None
    dimensions: Annotated[list[Name], Field(min_length=1), listed] | None = None


class MapTable(Table):
    name: Name
    file: Line
    number: Positive = 1


class ParticlesTable(Table):
    name: Name
    mean: Positive
    distribution: Literal["equal", "uniform", "normal", "lognormal", "poisson"] = "equal"
    deviation: Share | None = None
    moving: bool = False
    ranks: Ranks | None = None


class VariableTable(Table):
    name: Name
    on: Line
    number: Annotated[int, Field(ge=1, le=MOST_VARIABLES)] = 1
    type: Literal[making.TYPES] = "float64"  # type: ignore[valid-type]  # they are listed once, there
    levels: Positive | None = None
    levels_fastest: bool = False
    staggered: Annotated[list[Line], listed] = []
    chunk: Lengths | None = None
    time: bool = True


class Description(Table):
    variable: Annotated[list[VariableTable], Field(min_length=1)]
    pattern: PatternTable = PatternTable()
    grid: list[GridTable] = []
    mesh: list[MeshTable] = []
    map: list[MapTable] = []
    particles: list[ParticlesTable] = []


TABLES = {
    "pattern": PatternTable, "grid": GridTable, "mesh": MeshTable, "map": MapTable, "particles": ParticlesTable,
    "variable": VariableTable,
}  # fmt: skip


def read(path) -> making.Pattern:
    """The pattern that a text describes. InputError with one sentence for what cannot be meant."""
    return study.parse(path, Description, TABLES, _made, "description")


def _made(tables, path):
    places = {}
    for table in (*tables.grid, *tables.mesh, *tables.map, *tables.particles):
        if table.name in places:
            raise InputError(f"Two of its grids, meshes, maps and particles are called '{table.name}'.")
        places[table.name] = _Place(table, tables.pattern, path.parent)
    made = making.Pattern()
    made.sources = [path, *(source for place in places.values() if (source := place.source))]
    steps = tables.pattern.steps
    if (writes := steps * sum(table.number for table in tables.variable)) > MOST_WRITES:
        raise InputError(f"Its steps times its variables are {writes}; {MOST_WRITES} are the most.")
    by_step = [[] for _ in range(steps)]
    for table in tables.variable:
        if table.on not in places:
            raise InputError(
                f"The variable '{table.name}' is on '{table.on}', which is no grid, mesh, map or particles of it."
                + did_you_mean(table.on, places)
            )
        for name in _names(table):
            for step, one in enumerate(_variables(made, table, name, places[table.on], steps)):
                by_step[step].append(one)
    for step, variables in enumerate(by_step):
        out = "out" if tables.pattern.files == "one" else f"out_{step + 1}"
        made.step(variables, path=out, think=tables.pattern.think)
    _check_ranks(made, places, tables)
    return made


def _names(table):
    digits = len(str(table.number - 1))
    return [table.name] if table.number == 1 else [f"{table.name}_{i:0{digits}d}" for i in range(table.number)]


def _variables(made, table, name, place, steps):
    """What each step writes: the same, or of particles that move a dataset of its own."""
    add = lambda name, step, time: made.variable(
        name, place.layout(table, step), table.type, time=time, chunk=table.chunk, dimensions=place.dimensions(table)
    )
    if place.moving:
        digits = len(str(steps - 1))
        return [add(f"{name}_{step:0{digits}d}", step, False) for step in range(steps)]
    return [add(name, 0, table.time and steps > 1)] * steps


def _check_ranks(made, places, tables):
    asked = tables.pattern.ranks
    for name, place in places.items():
        if asked is not None and place.ranks > asked:
            raise InputError(f"'{name}' is on {place.ranks} ranks, and [pattern] says ranks = {asked}.")
    if asked is not None and asked > made.ranks:
        raise InputError(
            f"[pattern] says ranks = {asked}, and its variables are on {made.ranks}; a grid's processes say how many."
        )


class _Place:
    """What variables are on: a grid, a mesh, a map or particles. Layouts that are alike are one."""

    def __init__(self, table, settings, folder):
        self.table, self.made, self.names = table, {}, getattr(table, "dimensions", None)
        self.moving = getattr(table, "moving", False)
        self.settings = settings
        self.source = None  # the file that it is read from
        where = f"'{table.name}'"
        try:
            if isinstance(table, GridTable):
                halo = table.halo * len(table.shape) if len(table.halo) == 1 else table.halo
                if table.blocks is None and table.processes is None:
                    raise InputError("It lacks 'processes', such as processes = [2, 2], or 'blocks'.")
                self.base = layouts.blocks(table.shape, table.processes, table.blocks, halo)
            elif isinstance(table, MeshTable):
                self.source = folder / table.owner
                owner = layouts.integers(read_owners(self.source, table.variable), "owners")
                self.base = layouts.owners(
                    numpy.where(owner < table.first, -1, owner - table.first), table.ranks or settings.ranks
                )
            elif isinstance(table, MapTable):
                self.source = folder / table.file
                self.base = layouts.offsets(*read_map(self.source, table.number))
            else:
                self.base = self._particles(0)
            if self.names is not None and len(self.names) != len(self.base.shape):
                raise InputError(f"It names {len(self.names)} dimensions and has {len(self.base.shape)}.")
        except InputError as error:
            raise InputError(f"{where}: {error}") from None

    @property
    def ranks(self):
        return self.base.ranks

    def _particles(self, step):
        table = self.table
        if (ranks := table.ranks or self.settings.ranks) is None:
            raise InputError("It lacks 'ranks', the number of ranks, which [pattern] can give, too.")
        if table.distribution in ("equal", "poisson") and table.deviation is not None:
            raise InputError(f"A distribution '{table.distribution}' has no 'deviation'.")
        generator = numpy.random.Generator(numpy.random.PCG64([self.settings.seed, step]))
        return layouts.counts(
            draw(generator, table.distribution, table.mean, 0.1 if table.deviation is None else table.deviation, ranks)
        )

    def layout(self, table, step):
        step = step if self.moving else 0
        key = (tuple(sorted(self._staggered(table))), table.levels, table.levels_fastest, step)
        if key not in self.made:
            base = self._particles(step) if step else self.base
            try:
                base = base.staggered(key[0])
            except InputError as error:
                raise InputError(f"The variable '{table.name}': {error}") from None
            self.made[key] = base if table.levels is None else base.levels(table.levels, table.levels_fastest)
        return self.made[key]

    def _staggered(self, table):
        names = self.names or []
        for name in table.staggered:
            if name not in names:
                raise InputError(
                    f"The variable '{table.name}' is staggered along '{name}', which is no dimension of '{table.on}'"
                    + (f".{did_you_mean(name, names)}" if names else "; name them by its key 'dimensions'.")
                )
            yield names.index(name)

    def dimensions(self, table):
        if self.names is None:
            return None
        names = [f"{name}_stag" if name in table.staggered else name for name in self.names]
        level = [] if table.levels is None else [f"levels_{table.levels}"]
        return [*names, *level] if table.levels_fastest else [*level, *names]


def draw(generator, distribution, mean, deviation, ranks):
    """How many of each rank, 0 or more. `deviation` is a share of the mean: half the width of what is uniform, else the standard
    deviation."""
    if distribution == "equal":
        return numpy.full(ranks, mean)
    if distribution == "poisson":
        return generator.poisson(mean, ranks)
    if distribution == "uniform":
        drawn = mean * (1 + deviation * generator.uniform(-1, 1, ranks))
    elif distribution == "normal":
        drawn = generator.normal(mean, deviation * mean, ranks)
    else:  # of this mean and standard deviation
        sigma2 = numpy.log1p(deviation**2)
        drawn = generator.lognormal(numpy.log(mean) - sigma2 / 2, numpy.sqrt(sigma2), ranks)
    return numpy.maximum(0, numpy.rint(drawn)).astype(numpy.int64)


def read_owners(path, variable=None):
    """Who owns each element: a variable of a NetCDF file of any format, or a text with a number for each, as METIS writes."""
    with files.open_regular(path) as file:
        if not file.read(8).startswith((b"CDF", b"\x89HDF")):
            if variable is not None:
                raise InputError(f"'{path}' is no NetCDF file, in which there could be a variable '{variable}'.")
            return _owners_of_text(path)
        try:  # by its number, as netCDF4 opens no names that are not UTF-8
            dataset = netCDF4.Dataset(f"/proc/self/fd/{file.fileno()}")
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"'{path}' cannot be read as NetCDF: {reason}.") from None
    with dataset:
        if variable is None:
            raise InputError(f"'{path}' is a NetCDF file: say which of its variables holds the owners, by variable = \"NAME\".")
        if variable not in dataset.variables:
            raise InputError(f"'{path}' has no variable '{variable}'.{did_you_mean(variable, dataset.variables)}")
        found = dataset.variables[variable]
        found.set_auto_mask(False)
        if numpy.dtype(found.dtype).kind not in "iu":
            raise InputError(f"The variable '{variable}' of '{path}' is of type {found.dtype}, and owners are whole numbers.")
        return found[...]


def read_map(path, number):
    """(shape, offsets of each rank) of a decomposition that a model recorded, in any format that `slabmark decomp` reads."""
    files.open_regular(path).close()
    described, [number] = decomposition.chosen_maps(path, number)

    def use(text):
        with open(text, encoding="ascii") as lines:
            next(lines)
            shape = [int(length) for length in next(lines).split()][::-1]
        return shape, list(decomposition.rows_of(text))

    return decomposition.with_text(path, number, described[number - 1], use, "described", "a pattern")


def _owners_of_text(path):
    if path.stat().st_size > MOST_BYTES_OF_TEXT:
        raise InputError(f"'{path}' is too large for a text of owners; put them into a NetCDF variable.")
    try:
        return numpy.array(path.read_bytes().split(), dtype=numpy.int64)
    except (ValueError, OverflowError):
        raise InputError(f"'{path}' is neither a NetCDF file nor a text of whole numbers.") from None


def main(arguments, console):
    source = pathlib.Path(arguments.description)
    files.open_regular(source).close()
    output = pathlib.Path(source.with_suffix(".pattern").name if arguments.output is None else arguments.output)
    files.check_output(output, [source], arguments.overwrite or making.is_pattern(output))  # before the work
    if not (is_log := darshan_log.is_log(source)) and arguments.read:
        raise InputError(
            "'--read' is for logs of Darshan: what a text describes is written or read by `slabmark bench` as it is told."
        )
    made = darshan_log.read(source, arguments.read) if is_log else read(source)
    made.save(output, overwrite=arguments.overwrite)
    if made.guess:
        console.say(f"guess: {made.guess}")
    with reading.PatternFile(output) as made:
        console.say(f"{output}: {units.counted(made.ranks, 'rank')}, {units.size(output.stat().st_size)}")
    return 0
