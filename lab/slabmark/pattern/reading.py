"""Reads pattern files (docs/reference/pattern-file.md), whoever made them."""

import collections
import dataclasses
import functools
import json
import os
import pathlib

import h5py
import numpy
from numpy.typing import NDArray

from slabmark import files
from slabmark.errors import InputError
from slabmark.pattern import coding, making
from slabmark.pattern.layouts import MOST_RANKS

UNCAPTURED = 3  # the token; the others stand with what writes them
WRITES, READS, IN_MEMORY, REQUESTS = 1, 2, 32, 64
ALL, NOTHING, ONE_BOX = 0, 1, 2
STRIDED, ORIGIN_GIVEN, EXTENT_GIVEN, A_MAP = 1, 2, 4, 8


@dataclasses.dataclass(frozen=True)
class Boxes:
    """Boxes in the order in which their elements lie in memory."""

    starts: NDArray[numpy.int64]  # (boxes, dimensions); in a stored list, relative to the origin of the event
    counts: NDArray[numpy.int64]
    strides: NDArray[numpy.int64] | None = None  # with blocks: counts are numbers of blocks
    blocks: NDArray[numpy.int64] | None = None
    extent: tuple[int, ...] | None = None
    is_map: bool = False  # distances in memory, as `imap` of PnetCDF

    def plain(self) -> "Boxes":
        """The same boxes without strides: a strided box becomes its rows, in the order of the array."""
        if self.strides is None or self.blocks is None:
            return self
        starts, counts = [], []
        for start, count, stride, block in zip(self.starts, self.counts, self.strides, self.blocks):
            places = [
                (s + numpy.arange(n)[:, None] * step + numpy.arange(b)).ravel()
                for s, n, step, b in zip(start, count, stride, block)
            ]
            length = block[-1]
            if stride[-1] == length or count[-1] == 1:
                length, places[-1] = length * count[-1], places[-1][:1]
            else:
                places[-1] = places[-1][::length]
            rows = numpy.stack(numpy.meshgrid(*places, indexing="ij"), axis=-1).reshape(-1, len(places))
            starts.append(rows)
            counts.append(numpy.ones_like(rows))
            counts[-1][:, -1] = length
        return Boxes(numpy.concatenate(starts), numpy.concatenate(counts))


@dataclasses.dataclass(frozen=True)
class Event:
    """One call of a rank. `boxes` is the selection in the file: None for the whole dataset, and no boxes for nothing."""

    call: dict  # a definition
    file: dict | None
    dataset: dict | None
    dataset_number: int | None  # of the definition in the header
    flags: int
    boxes: Boxes | None
    memory: Boxes | None
    arguments: tuple[int, ...]
    think: float  # seconds before the block that it stands in; 0 but in its first event

    @property
    def writes(self) -> bool:
        return bool(self.flags & WRITES)

    @property
    def reads(self) -> bool:
        return bool(self.flags & READS)

    @property
    def everything(self) -> bool:
        return self.boxes is None and self.flags & (WRITES | READS) != 0


class PatternFile:
    """A pattern file that is open for reading. Raises InputError if the file is damaged, or no pattern file."""

    def __init__(self, path: str | os.PathLike):
        self.path = pathlib.Path(path)
        files.open_regular(path).close()
        try:
            self._file = h5py.File(path, locking=False)
        except OSError as error:
            raise InputError(f"'{path}' is no pattern file: HDF5 cannot open it ({_short(error)}).") from None
        version = self._file.attrs.get("slabmark_pattern")
        if version is None:
            raise InputError(f"'{path}' is no pattern file: it has no attribute 'slabmark_pattern'.")
        if version != making.VERSION:
            raise InputError(
                f"'{path}' is a pattern file of version {version}, and this Slabmark reads {making.VERSION}; use a newer one."
            )
        self.origin, self.guess = _text(self._file.attrs.get("origin")), _text(self._file.attrs.get("guess"))
        self.header = self._try(lambda: json.loads(self._file["header"][()].tobytes()))
        self.files, self.definitions = self._member("files"), self._member("definitions")
        self.ranks = len(self._member("ranks"))
        self._begins = {name: self._try(lambda name=name: self._file[f"{name}_begin"][()].astype(int)) for name in making.STREAMS}
        if not 0 < self.ranks <= MOST_RANKS or any(len(begin) != self.ranks + 1 for begin in self._begins.values()):
            raise self._damaged("its tables are not of as many ranks as its header")
        self.list_of = functools.lru_cache(maxsize=1 << 12)(self._list_of)
        self._list_places = functools.lru_cache(maxsize=8)(self._find_lists)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    @property
    def command(self) -> list[str]:
        """The command line of the captured program; empty for described patterns and anonymous captures."""
        return [str(word) for word in self.header.get("launch") or ()]

    @property
    def hdf5(self) -> str:
        """The version of HDF5 in the captured program; empty if its calls were not captured."""
        libraries = self.header.get("libraries")
        return str(libraries.get("hdf5", "")) if isinstance(libraries, dict) else ""

    @property
    def ended_early(self) -> int:
        """The number of ranks that ended early, or left nothing."""
        return sum(rank.get("state") != "finished" for rank in self.header["ranks"])

    def events(self, rank: int):
        """The events of a rank, in order."""
        return self._walk(rank, collections.Counter())

    def uncaptured(self) -> dict[str, int]:
        """The number of calls that could not be captured, by name, over all ranks."""
        found: collections.Counter[str] = collections.Counter()
        for rank in range(self.ranks):
            for _ in self._walk(rank, found):
                pass
        return dict(found)

    def _walk(self, rank, uncaptured):
        try:
            yield from _Walk(self, rank, uncaptured).events()
        except (ValueError, IndexError, KeyError, TypeError, OverflowError, MemoryError) as error:
            raise self._damaged(f"the events of rank {rank} cannot be read: {error}") from None

    def stream(self, name, rank):
        begin, end = self._begins[name][rank : rank + 2]
        if not 0 <= begin <= end <= len(self._file[name]):
            raise self._damaged(f"its '{name}' of rank {rank} lie outside what there is")
        return self._try(lambda: self._file[name][begin:end])

    def _find_lists(self, rank):
        """(the stream of lists of a rank, where each begins and ends in it)."""
        data = self.stream("lists", rank).tobytes()
        places, at = [], 0
        while at < len(data):
            size = shift = 0
            while True:
                if at >= len(data) or shift > 63:
                    raise ValueError("a list ends too early")
                byte, at = data[at], at + 1
                size |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            if size > len(data) - at:
                raise ValueError("a list ends too early")
            places.append((at, at + size))
            at += size
        return data, places

    def _list_of(self, rank, number) -> Boxes:
        data, places = self._list_places(rank)
        if number >= len(places):
            raise ValueError(f"there is no list {number}")
        coded = coding.Numbers(data[slice(*places[number])])
        flags, d, n = coded.take(), coded.take(), coded.take()
        extent = tuple(coded.take() for _ in range(d)) if flags & EXTENT_GIVEN else None
        origin = [coded.take_signed() for _ in range(d)] if flags & ORIGIN_GIVEN else [0] * d
        table = lambda: numpy.stack([coded.take_column(n) for _ in range(d)], axis=1) if d else numpy.zeros((n, 0), numpy.int64)
        starts = numpy.cumsum(table(), axis=0) + numpy.array(origin, dtype=numpy.int64)
        counts = table()
        strides, blocks = (table(), table()) if flags & STRIDED else (None, None)
        return Boxes(starts, counts, strides, blocks, extent, bool(flags & A_MAP))

    def _member(self, name):
        if not isinstance(found := self.header.get(name) if isinstance(self.header, dict) else None, list):
            raise self._damaged(f"its header has no list of {name}")
        if not all(isinstance(entry, dict) for entry in found):
            raise self._damaged(f"in the {name} of its header stands something else than objects")
        return found

    def _try(self, read):
        try:
            return read()
        except (OSError, KeyError, ValueError, AttributeError, TypeError, RecursionError) as error:
            raise self._damaged(_short(error)) from None

    def _damaged(self, what):
        return InputError(f"'{self.path}' is a damaged pattern file: {what}; capture or describe it again.")


class _Walk:
    """Through the events of one rank."""

    def __init__(self, file: PatternFile, rank: int, uncaptured):
        self.file, self.rank, self.uncaptured = file, rank, uncaptured
        self.openings, self.definitions = file.stream("files", rank), file.stream("definitions", rank)
        self.blocks: list = []  # bodies, and the parameters of their last use

    def events(self):
        coded = coding.Numbers(self.file.stream("events", self.rank).tobytes())
        while coded.left:
            token = coded.take()
            if token == making.END:
                return
            if token == UNCAPTURED:
                call = self._definition(coded.take())
                self.uncaptured[call.get("name", "?")] += coded.take()
                continue
            if token == making.BLOCK:
                think, _ = coded.take(), coded.take()
                body = coded.take_bytes(coded.take())
                parameters = coded.take_column(coded.take())
                self.blocks.append((body, parameters))
                number = len(self.blocks) - 1
            elif token == making.AGAIN:
                number, think, _ = coded.take(), coded.take(), coded.take()
                body, before = self.blocks[number]
                parameters = before + coded.take_column(len(before))
                self.blocks[number] = body, parameters
            else:
                raise ValueError(f"there is no token {token}")
            yield from self._block(body, parameters.tolist(), think / 1e6)

    def _definition(self, number):
        return self.file.definitions[int(self.definitions[number])]

    def _block(self, body, parameters, think):
        events, tracks, dataset_count, file_count = self._parse(body)
        openings, datasets = parameters[:file_count], parameters[file_count : file_count + dataset_count]
        if len(parameters) != file_count + dataset_count + sum(len(track.state) for track in tracks):
            raise ValueError("a block has other parameters than it needs")
        rest, longest = iter(parameters[file_count + dataset_count :]), max((len(track.state) for track in tracks), default=0)
        for c in range(longest):
            for track in tracks:
                if len(track.state) > c:
                    track.state[c] = next(rest)
        for number, counts, differences, list_number, memory in events:
            track = tracks[number]
            origin_there = len(differences) > track.a
            offset = 0 if origin_there else track.d
            for c, difference in enumerate(differences):
                track.state[offset + c] += difference
            dataset = int(self.definitions[datasets[track.dataset - 1]]) if track.dataset else None
            yield Event(
                self._definition(track.call),
                self.file.files[int(self.openings[openings[track.file]])] if openings else None,
                None if dataset is None else self.file.definitions[dataset],
                dataset,
                track.flags,
                self._boxes(track, counts, list_number) if track.flags & (WRITES | READS) else None,
                None if memory is None else self.file.list_of(self.rank, memory),
                tuple(track.state[track.d :]),
                think,
            )
            think = 0.0

    def _boxes(self, track, counts, list_number):
        origin = numpy.array([track.state[: track.d]], dtype=numpy.int64)
        if list_number == ALL:
            return None
        if list_number == NOTHING:
            return Boxes(numpy.zeros((0, track.d), numpy.int64), numpy.zeros((0, track.d), numpy.int64))
        if list_number == ONE_BOX:
            return Boxes(origin, numpy.array([counts], dtype=numpy.int64).reshape(1, -1))
        found = self.file.list_of(self.rank, list_number - making.FIRST_LIST)
        return dataclasses.replace(found, starts=found.starts + origin)

    @staticmethod
    def _parse(body):
        """(events, tracks, number of datasets, number of files) of a body."""
        coded, events, tracks, at, datasets, opened = _Body(body), [], [], 0, 0, 0
        while coded.left:
            at += coded.take_signed()
            if not 0 <= at <= len(tracks):
                raise ValueError(f"there is no track {at}")
            if at == len(tracks):
                file, dataset, call, flags, _, _, d, a = (coded.take() for _ in range(8))
                opened, datasets = max(opened, file + 1), max(datasets, dataset)
                tracks.append(_Track(file, dataset, call, flags, d, a, [0] * (d + a)))
            track = tracks[at]
            selection, counts, memory, numbers = NOTHING, None, None, track.a
            if track.flags & (WRITES | READS):
                selection = coded.take()
                if selection == ONE_BOX:
                    counts = [coded.take() for _ in range(track.d)]
                if selection >= ONE_BOX:
                    numbers += track.d
            differences = [coded.take_signed() for _ in range(numbers)]
            if track.flags & IN_MEMORY:
                memory = coded.take()
            if track.flags & REQUESTS and (listed := coded.take()) >= 3:
                coded.take_column(listed - 3)
            events.append((at, counts, differences, selection, memory))
        return events, tracks, datasets, opened


class _Body(coding.Numbers):
    """Of numbers that are decoded already."""

    def __init__(self, values):
        self.values, self.at, self.quick = values, 0, values.tolist()


@dataclasses.dataclass
class _Track:
    file: int
    dataset: int
    call: int
    flags: int
    d: int
    a: int
    state: list  # origin, then arguments


def _text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) else value or ""


def _short(error):
    return str(error).splitlines()[0][:200].rstrip(".") if str(error) else type(error).__name__
