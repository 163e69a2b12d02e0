"""A pattern in the making, and the file that it becomes (docs/reference/pattern-file.md)."""

import dataclasses
import json
import os
from collections.abc import Sequence

import h5py
import numpy

import slabmark
from slabmark import files
from slabmark.errors import InputError
from slabmark.pattern import coding
from slabmark.pattern.layouts import Layout, Part

VERSION = 1
# The element types of src/core/geometry/element_type.hpp, except characters.
TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
MOST_DIMENSIONS = 32  # of HDF5
STREAMS = ("events", "lists", "files", "definitions")
CHUNK = 1 << 20  # bytes
BLOCK, AGAIN, END = 1, 2, 4  # tokens
WRITES, READS, COLLECTIVE, IN_MEMORY = 1, 2, 4, 32  # flags of events
EXTENT_GIVEN, ORIGIN_GIVEN = 4, 2  # flags of lists
NOTHING, ONE_BOX, FIRST_LIST = 1, 2, 3  # selections


@dataclasses.dataclass(frozen=True, eq=False)
class Variable:
    """A dataset of a pattern, or the bytes of a file if `type` is None."""

    name: str
    layout: Layout
    type: str | None
    time: bool
    chunk: tuple[int, ...] | None
    dimensions: tuple[str, ...] | None

    def definition(self) -> dict:
        if self.type is None:
            return {"kind": "bytes"}
        made = {"kind": "dataset", "name": self.name, "type": self.type, "extent": [0] * self.time + list(self.layout.shape)}
        if self.time:
            made["maximum"] = [None, *self.layout.shape]
        if self.dimensions:
            made["dimensions"] = ["time"] * self.time + list(self.dimensions)
        if self.chunk:
            made["chunk"] = [1] * self.time + list(self.chunk)
        return made


@dataclasses.dataclass(frozen=True)
class _Step:
    variables: tuple
    path: str
    think: float


class Pattern:
    """A pattern in the making: the data that ranks write or read in each time step.

        from slabmark import pattern

        made = pattern.Pattern()
        cells = pattern.owners(owner)                   # an array of ranks
        made.variable("T", cells.levels(60), "float32")
        for step in range(4):
            made.step()
        made.save("run.pattern")

    Let variables share a layout if their owners are the same: it is then stored once.
    """

    def __init__(self, guess: str = "", origin: str = "described", reads: bool = False):
        """With `reads`, the steps read existing data. `guess` is a sentence that says why the pattern is only a guess; every table
        shows it."""
        self.guess, self.origin, self.reads = guess, origin, reads
        self.variables: list[Variable] = []
        self._names: set[str] = set()
        self.steps: list[_Step] = []
        self.sources: list[str | os.PathLike] = []  # files that it was made from, over which save() writes never

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return max((variable.layout.ranks for variable in self.variables), default=0)

    @property
    def calls(self) -> tuple[str, ...]:
        """The names of the calls, which are also their effects."""
        return ("open", "read", "step", "close") if self.reads else ("create", "write", "step", "close")

    def variable(
        self,
        name: str,
        layout: Layout,
        type: str = "float64",
        *,
        time: bool = True,
        chunk: Sequence[int] | None = None,
        dimensions: Sequence[str] | None = None,
    ) -> Variable:
        """Adds a variable.

        - `time`: it has an unlimited dimension before those of the layout, and each step writes the next record; otherwise only
          the first step of a file writes it
        - `chunk`: for HDF5, without time
        - `dimensions`: names, without time
        """
        if type not in TYPES:
            raise InputError(f"'{type}' is no type of a variable; there are {', '.join(TYPES)}.")
        return self._add(Variable(name, layout, type, time, _fits(chunk, layout, name), tuple(dimensions) if dimensions else None))

    def file_bytes(self, path: str, layout: Layout) -> Variable:
        """Adds a file without datasets, of which only offsets are known: a layout of one dimension, in bytes."""
        if len(layout.shape) != 1:
            raise InputError(f"The bytes of '{path}' have one dimension, and the layout has {len(layout.shape)}.")
        return self._add(Variable(path, layout, None, False, None, None))

    def _add(self, variable):
        if not variable.name or variable.name.strip("/") != variable.name or not variable.name.isprintable():
            raise InputError(f"'{variable.name}' is no name of a variable.")
        if variable.name in self._names:
            raise InputError(f"There are two variables called '{variable.name}'.")
        if (dimensions := len(variable.layout.shape) + variable.time) > MOST_DIMENSIONS:
            raise InputError(
                f"The variable '{variable.name}' has {dimensions} dimensions, time included; {MOST_DIMENSIONS} are the most."
            )
        self._names.add(variable.name)
        self.variables.append(variable)
        return variable

    def step(self, variables: Sequence[Variable] | None = None, *, path: str = "out", think: float = 0.0):
        """Adds a time step that moves these variables, or all variables so far, to or from the file `path`. Before it the program
        computes for `think` seconds."""
        if think < 0:
            raise InputError(f"A program cannot think for {think} s.")
        self.steps.append(_Step(tuple(self.variables if variables is None else variables), path, think))

    def save(self, path: str | os.PathLike, overwrite: bool = False):
        """Writes the pattern file, whole or not at all. Raises LabError if writing fails, and InputError if the file exists.
        It replaces pattern files, and other files with `overwrite`, but never one of the `sources`."""
        if not self.steps or not any(step.variables for step in self.steps):
            raise InputError("The pattern has no step that writes anything; Pattern.step() adds one.")
        files.check_output(path, self.sources, overwrite or is_pattern(path))
        paths = list(dict.fromkeys(step.path for step in self.steps))
        definitions = [variable.definition() for variable in self.variables]
        definitions += [{"kind": "call", "name": name, "effect": name} for name in self.calls]
        level = {"level": "described", "ranks": self.ranks}
        header = {
            "files": [level | {"path": name} for name in paths],
            "definitions": definitions,
            "ranks": [{"state": "finished"}] * self.ranks,
            "hosts": [],
        }
        made = [_Rank(self, rank, paths).streams() for rank in range(self.ranks)]
        whole = numpy.arange(len(definitions), dtype="u4"), numpy.arange(len(paths), dtype="u4")
        files.write(path, _image(self, header, made, *whole))


def is_pattern(path) -> bool:
    """Whether a file is there that is a pattern file, of whichever version."""
    try:
        files.open_regular(path).close()  # HDF5 would wait for the other end of a pipe
        with h5py.File(path, locking=False) as file:
            return "slabmark_pattern" in file.attrs
    except (OSError, InputError):
        return False


def _fits(chunk, layout, name):
    if chunk is None:
        return None
    if len(chunk) != len(layout.shape) or any(not 0 < c <= length for c, length in zip(chunk, layout.shape)):
        raise InputError(f"The chunk {list(chunk)} does not fit the variable '{name}' of {' x '.join(map(str, layout.shape))}.")
    return tuple(chunk)


@dataclasses.dataclass(frozen=True)
class _StepBlock:
    body: bytes
    parameters: numpy.ndarray  # the first is the opening of the file
    records: numpy.ndarray  # which of them are numbers of records


class _Rank:
    """The streams of one rank. Each step is a block of events; one that does what another did is that block again."""

    def __init__(self, pattern, rank, paths):
        self.pattern, self.rank = pattern, rank
        self.openings = {path: number for number, path in enumerate(paths)}
        self.definitions = {id(variable): number for number, variable in enumerate(pattern.variables)}
        self.call = {name: len(pattern.variables) + number for number, name in enumerate(pattern.calls)}
        self.events, self.lists = bytearray(), bytearray()
        self.list_numbers, self.parts, self.blocks, self.made = {}, {}, {}, {}

    def streams(self):
        last = {step.path: number for number, step in enumerate(self.pattern.steps)}
        records = {}  # written so far, by path and variable
        for number, step in enumerate(self.pattern.steps):
            opening = self.openings[step.path]
            if step.path not in records:
                records[step.path] = {}
                self._block(self._call("open" if self.pattern.reads else "create"), numpy.array([opening]), 0)
            of_file = records[step.path]
            written = tuple(variable for variable in step.variables if variable.time or variable not in of_file)
            if written not in self.made:
                self.made[written] = self._step(written)
            made, timed = self.made[written]
            parameters = made.parameters.copy()
            parameters[0] = opening
            parameters[made.records] = [of_file.get(variable, 0) for variable in timed]
            of_file |= {variable: of_file.get(variable, 0) + 1 for variable in written}
            self._block(made.body, parameters, round(step.think * 1e6))
            if last[step.path] == number:
                self._block(self._call("close"), numpy.array([opening]), 0)
        self.events += coding.few(END)
        return bytes(self.events), bytes(self.lists)

    def _step(self, written):
        """(the block of a step that writes these, those of them whose record is a parameter of it)."""
        body, origins = bytearray(), []
        for track, variable in enumerate(written):
            event, origin = self._move_event(variable, track)
            body += event
            origins.append(origin)
        body += self._call("step", len(written))
        longest = max(map(len, origins), default=0)
        by_number = [
            (origin[c], c == 0 and variable)
            for c in range(longest)
            for variable, origin in zip(written, origins)
            if len(origin) > c
        ]
        before = [0, *(self.definitions[id(variable)] for variable in written)]
        timed = [(len(before) + place, variable) for place, (_, variable) in enumerate(by_number) if variable and variable.time]
        parameters = numpy.array([*before, *(number for number, _ in by_number)], dtype=numpy.int64)
        places = numpy.array([place for place, _ in timed], dtype=numpy.int64)
        return _StepBlock(bytes(body), parameters, places), [variable for _, variable in timed]

    def _call(self, name, track=0):
        """An event on a new track, with neither dataset nor selection."""
        return coding.few(2 if track else 0, 0, 0, self.call[name], COLLECTIVE, 0, 0, 0, 0)

    def _move_event(self, variable, track):
        """(event, origin, less the record): all differences are 0, as the origin is a parameter of the block."""
        part = self._part(variable.layout)
        name, direction = ("read", READS) if self.pattern.reads else ("write", WRITES)
        flags = direction | COLLECTIVE | (IN_MEMORY if part.buffer else 0)
        head = (2 if track else 0, 0, track + 1, self.call[name], flags, 0, 0)
        if not part.elements:
            return coding.few(*head, 0, 0, NOTHING), []
        d = len(variable.layout.shape) + variable.time
        origin = [0] * variable.time + part.starts[0].tolist()
        event = coding.few(*head, d, 0)
        if len(part.starts) == 1:
            event += coding.few(ONE_BOX, *[1] * variable.time, *part.counts[0].tolist())
        else:
            event += coding.few(FIRST_LIST + self._list(variable.layout, part.starts, part.counts, variable.time))
        event += bytes(d)
        if part.buffer:
            event += coding.few(self._list(variable.layout, part.places, part.counts, False, part.buffer))
        return event, origin

    def _part(self, layout) -> Part:
        if id(layout) not in self.parts:
            self.parts[id(layout)] = layout.part(self.rank) if self.rank < layout.ranks else None
        found = self.parts[id(layout)]
        return found or Part(numpy.zeros((0, len(layout.shape)), int), numpy.zeros((0, len(layout.shape)), int))

    def _list(self, layout, starts, counts, time, extent=None):
        """The number of a list of boxes, which is written where it is new."""
        key = (id(layout), time, extent)
        if key not in self.list_numbers:
            body = bytearray()
            if extent:  # in memory
                body += coding.few(EXTENT_GIVEN | ORIGIN_GIVEN, len(extent), len(starts), *extent)
                body += coding.signed(starts[0])
            else:
                body += coding.few(0, starts.shape[1] + time, len(starts))
            beside = numpy.zeros((len(starts), 1), dtype=numpy.int64)
            if time:
                starts, counts = numpy.concatenate([beside, starts], axis=1), numpy.concatenate([beside + 1, counts], axis=1)
            distances = numpy.diff(starts, axis=0, prepend=starts[:1])
            for columns in (distances, counts):
                for column in columns.T:
                    body += coding.column(column)
            self.lists += coding.unsigned(len(body)) + body
            self.list_numbers[key] = len(self.list_numbers)
        return self.list_numbers[key]

    def _block(self, body, parameters, think):
        times = coding.few(think, 0)
        if body in self.blocks:
            number, before = self.blocks[body]
            self.events += coding.few(AGAIN, number) + times + coding.column(parameters - before)
            self.blocks[body] = number, parameters
        else:
            self.blocks[body] = len(self.blocks), parameters
            self.events += coding.few(BLOCK) + times + coding.few(len(body)) + body
            self.events += coding.few(len(parameters)) + coding.column(parameters)


def _image(pattern, header, made, definitions, openings):
    """The bytes of the file. HDF5 has it in memory: of a disk that becomes full it tells a hundred lines, and then crashes."""
    ranks = len(made)
    name = os.path.join(os.devnull, "pattern")  # where nothing can be, which HDF5 would open
    with h5py.File(name, "w", driver="core", backing_store=False, libver=("earliest", "v110")) as file:
        file.attrs["slabmark_pattern"] = numpy.uint32(VERSION)
        file.attrs["origin"] = pattern.origin
        file.attrs["guess"] = pattern.guess
        file.attrs["writer"] = f"slabmark {slabmark.__version__}"
        _put(file, "header", [json.dumps(header).encode()], "u1")
        _put(file, "events", [events for events, _ in made], "u1", begins=True)
        _put(file, "lists", [lists for _, lists in made], "u1", begins=True)
        _put(file, "files", [openings.tobytes()] * ranks, "u4", begins=True)
        _put(file, "definitions", [definitions.tobytes()] * ranks, "u4", begins=True)
        file.flush()
        return file.id.get_file_image()


def _put(file, name, parts, kind, begins=False):
    size = numpy.dtype(kind).itemsize
    ends = numpy.cumsum([0, *(len(part) // size for part in parts)])
    if begins:
        file.create_dataset(f"{name}_begin", data=ends.astype("u8"))
    data = numpy.frombuffer(b"".join(parts), dtype=kind)
    if not len(data):
        file.create_dataset(name, shape=(0,), dtype=kind)
        return
    chunk = (min(CHUNK // size, len(data)),)
    file.create_dataset(name, data=data, chunks=chunk, compression="gzip", compression_opts=1, fletcher32=True)
