"""Who owns what of an array, without a program: from blocks, from an array of owners, from offsets or from counts.

Arrays are in C order, the slowest dimension first. All mistakes are an InputError of one sentence.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence

import numpy
from numpy.typing import ArrayLike, NDArray

from slabmark.errors import InputError

NOBODY = -1
MOST_RANKS = 1 << 24  # of a pattern file


@dataclasses.dataclass(frozen=True)
class Part:
    """The part of an array that one rank owns: boxes, in the order in which their elements lie in its memory."""

    starts: NDArray[numpy.int64]  # of the boxes: (boxes, dimensions)
    counts: NDArray[numpy.int64]  # their lengths, the same shape
    buffer: tuple[int, ...] | None = None  # shape of the memory, halo and all; None: just the elements, densely
    places: NDArray[numpy.int64] | None = None  # of the boxes in it, if there is one: (boxes, dimensions)

    @property
    def elements(self) -> int:
        return int(self.counts.prod(axis=1).sum())


@dataclasses.dataclass(frozen=True)
class Layout:
    """An array of `shape` and its owners, `ranks` of them. `part(rank)` computes the part of a rank."""

    shape: tuple[int, ...]
    ranks: int
    part: Callable[[int], Part]
    stagger: Callable[[Sequence[int]], "Layout"] | None = None  # None: there is no next point along a dimension

    def levels(self, count: int, fastest: bool = False) -> "Layout":
        """Adds a dimension of `count` levels, each with the same owners: as the slowest dimension, or as the fastest. The
        memory of a rank has its elements in the order of the array's dimensions."""
        _positive((count,), "The number of levels")
        if fastest:
            return Layout(_shape((*self.shape, count)), self.ranks, lambda rank: _with_fastest(self.part(rank), count))
        return Layout(_shape((count, *self.shape)), self.ranks, lambda rank: _with_slowest(self.part(rank), count))

    def staggered(self, dimensions: Sequence[int]) -> "Layout":
        """Adds one point along these dimensions to the last block, for values on the faces between the cells of a grid."""
        if not dimensions:
            return self
        if self.stagger is None:
            raise InputError("Only a grid of blocks can be staggered: other layouts have no next point along a dimension.")
        return self.stagger(dimensions)


def blocks(
    shape: Sequence[int],
    processes: Sequence[int] | None = None,
    lengths: Sequence[Sequence[int]] | None = None,
    halo: int | Sequence[int] = 0,
) -> Layout:
    """One block for each rank. Ranks count along the last dimension first.

    - `processes`: number of blocks along each dimension; lengths differ by at most one, and the first blocks are the longer ones
    - `lengths`: instead of `processes`, the lengths of the blocks along each dimension
    - `halo`: points on both sides of each block in its memory, also at the faces of the array
    """
    extent = _shape(shape)
    if lengths is None and processes is not None:
        _positive(processes, "The number of processes")
        _as_many(processes, extent, "numbers of processes")
        _few_enough(math.prod(processes))
        for count, length in zip(processes, extent):
            if count > length:
                raise InputError(f"{count} processes along a dimension of {length} points leave some without a block.")
        lengths = [[length // n + (i < length % n) for i in range(n)] for length, n in zip(extent, processes)]
    elif lengths is None or processes is not None:
        raise InputError("Blocks are given either by the number of processes along each dimension or by lists of lengths.")
    _as_many(lengths, extent, "lists of lengths")
    for dimension, (listed, length) in enumerate(zip(lengths, extent)):
        _positive(listed, "The length of a block")
        if sum(listed) != length:
            raise InputError(
                f"The blocks do not tile the grid: along dimension {dimension} they are {_some(listed)} points long, "
                f"{sum(listed)} in all, and the grid has {length}."
            )
    _few_enough(math.prod(map(len, lengths)))
    around = _halo(halo, extent)
    begins = [numpy.concatenate([[0], numpy.cumsum(listed)[:-1]]).astype(numpy.int64) for listed in lengths]
    counts = [len(listed) for listed in lengths]

    def part(rank):
        at = numpy.unravel_index(rank, counts)
        start = numpy.array([[begin[i] for begin, i in zip(begins, at)]])
        count = numpy.array([[listed[i] for listed, i in zip(lengths, at)]], dtype=numpy.int64)
        return _in_halo(start, count, around)

    def stagger(dimensions):
        longer = [[*listed[:-1], listed[-1] + (d in dimensions)] for d, listed in enumerate(lengths)]
        return blocks([sum(listed) for listed in longer], lengths=longer, halo=halo)

    return Layout(extent, math.prod(counts), part, stagger)


def boxes(shape: Sequence[int], starts: ArrayLike, counts: ArrayLike, halo: int | Sequence[int] = 0) -> Layout:
    """One box for each rank: `starts` and `counts` have a row for each rank and a column for each dimension. The boxes must
    cover the array, and must not overlap."""
    extent = _shape(shape)
    begins, lengths = integers(starts, "starts"), integers(counts, "counts")
    if begins.ndim != 2 or begins.shape != lengths.shape or begins.shape[1] != len(extent):
        raise InputError(
            f"The starts ({_shape_text(begins)}) and counts ({_shape_text(lengths)}) of boxes are to have a row for each rank and "
            f"{len(extent)} columns."
        )
    _few_enough(len(begins))
    for rank, (start, count) in enumerate(zip(begins.tolist(), lengths.tolist())):
        if min(start) < 0 or min(count) < 0 or any(s + c > length for s, c, length in zip(start, count, extent)):
            raise InputError(f"The box of rank {rank}, {count} points from {start} on, lies outside the array of {_by(extent)}.")
    sizes = lengths.prod(axis=1)
    _require_tiles(extent, begins, lengths, sizes)
    around = _halo(halo, extent)

    def part(rank):
        kept = slice(rank, rank + (1 if sizes[rank] else 0))
        return _in_halo(begins[kept], lengths[kept], around) if sizes[rank] else _nothing(len(extent))

    return Layout(extent, len(begins), part)


def owners(owner: ArrayLike, ranks: int | None = None) -> Layout:
    """Any partition, such as that of the cells of an unstructured mesh. `owner` has the shape of the array, and holds the rank
    that owns each element, or -1 for none. A rank has its elements in ascending order. Pass `ranks` if the last ranks own
    nothing."""
    owning = integers(owner, "owners")
    if owning.ndim == 0 or owning.size == 0:
        raise InputError("The array of owners is empty.")
    lowest, highest = int(owning.min()), int(owning.max())
    if lowest < NOBODY:
        raise InputError(f"The array of owners holds {lowest}; ranks count from 0, and -1 is nobody.")
    if highest < 0:
        raise InputError("The array of owners names no rank.")
    if ranks is not None and highest >= ranks:
        raise InputError(f"The array of owners holds rank {highest}, and there are {ranks} ranks, from 0 on.")
    count, flat = ranks or highest + 1, owning.ravel()
    _few_enough(count)
    order = numpy.argsort(flat, kind="stable")
    ends = numpy.searchsorted(flat[order], numpy.arange(-1, count), side="right")
    return Layout(owning.shape, count, lambda rank: _of_offsets(order[ends[rank] : ends[rank + 1]], owning.shape))


def offsets(shape: Sequence[int], lists: Sequence[ArrayLike]) -> Layout:
    """One list for each rank: the offsets in the array (C order, from 0) of the elements of its memory, in the order of the
    memory. A negative offset leaves a place in memory out. No two ranks may own the same element."""
    extent = _shape(shape)
    given = [integers(listed, f"offsets of rank {rank}").ravel() for rank, listed in enumerate(lists)]
    if not given:
        raise InputError("Offsets are missing: there is to be a list for each rank.")
    _few_enough(len(given))
    elements = math.prod(extent)
    for rank, listed in enumerate(given):
        if listed.size and listed.max() >= elements:
            raise InputError(f"Rank {rank} has the offset {listed.max()}, outside the {elements} elements of the array.")
    placed = [listed[listed >= 0] for listed in given]
    every = numpy.concatenate(placed)
    order = numpy.argsort(every, kind="stable")
    if (twice := numpy.flatnonzero(numpy.diff(every[order]) == 0)).size:
        ends = numpy.cumsum([len(listed) for listed in placed])
        first, second = numpy.searchsorted(ends, order[twice[0] : twice[0] + 2], side="right").tolist()
        raise InputError(f"Element {every[order[twice[0]]]} is owned by rank {first} and by rank {second}.")
    return Layout(extent, len(placed), lambda rank: _of_offsets(placed[rank], extent))


def counts(number: ArrayLike) -> Layout:
    """Elements that lie one rank after another, such as particles: `number` has the number of elements of each rank."""
    own = integers(number, "numbers of elements").ravel()
    if not own.size or own.min() < 0 or not own.sum():
        raise InputError("The numbers of elements are to be 0 or more for each rank, and not 0 for all.")
    _few_enough(len(own))
    ends = numpy.cumsum(own)

    def part(rank):
        if not own[rank]:
            return _nothing(1)
        return Part((ends[rank] - own[rank]).reshape(1, 1), own[rank].reshape(1, 1))

    return Layout((int(ends[-1]),), len(own), part)


def runs_to_boxes(begins: NDArray[numpy.int64], lengths: NDArray[numpy.int64], shape: Sequence[int]):
    """(starts, counts) of runs of an array in C order, cut where a row of the fastest dimension ends."""
    row = shape[-1]
    first, last = begins // row, (begins + lengths - 1) // row
    pieces = last - first + 1
    if (pieces > 1).any():
        which = numpy.repeat(numpy.arange(len(begins)), pieces)
        number = numpy.arange(len(which)) - numpy.repeat(numpy.cumsum(pieces) - pieces, pieces)
        ends = numpy.minimum((begins + lengths)[which], (first[which] + number + 1) * row)
        begins = numpy.maximum(begins[which], (first[which] + number) * row)
        lengths = ends - begins
    starts = numpy.stack(numpy.unravel_index(begins, shape), axis=1).astype(numpy.int64).reshape(-1, len(shape))
    boxed = numpy.ones_like(starts)
    boxed[:, -1] = lengths
    return starts, boxed


def runs(ascending: NDArray[numpy.int64]):
    """(begins, lengths) of the runs of offsets, in their order."""
    if not len(ascending):
        return ascending, ascending
    breaks = numpy.flatnonzero(numpy.diff(ascending) != 1) + 1
    begins = numpy.concatenate([[0], breaks])
    return ascending[begins], numpy.diff(numpy.append(begins, len(ascending)))


def _of_offsets(listed, shape):
    return Part(*runs_to_boxes(*runs(listed.astype(numpy.int64)), shape))


def _nothing(dimensions):
    return Part(numpy.zeros((0, dimensions), numpy.int64), numpy.zeros((0, dimensions), numpy.int64))


def _in_halo(start, count, halo):
    if not any(halo):
        return Part(start, count)
    return Part(start, count, tuple(int(c) + 2 * h for c, h in zip(count[0], halo)), numpy.array([halo], dtype=numpy.int64))


def _with_fastest(part, count):
    column = lambda value: numpy.full((len(part.starts), 1), value, dtype=numpy.int64)
    wider = lambda boxes, value: numpy.concatenate([boxes, column(value)], axis=1)
    return Part(
        wider(part.starts, 0),
        wider(part.counts, count),
        part.buffer and (*part.buffer, count),
        None if part.places is None else wider(part.places, 0),
    )


def _with_slowest(part, count):
    """One box becomes a taller one. Several become as many on each level, as memory has one level after another."""
    number = len(part.starts)
    if number <= 1:
        column = lambda value: numpy.full((number, 1), value, dtype=numpy.int64)
        wider = lambda boxes, value: numpy.concatenate([column(value), boxes], axis=1)
        places = None if part.places is None else wider(part.places, 0)
        return Part(wider(part.starts, 0), wider(part.counts, count), part.buffer and (count, *part.buffer), places)
    level = numpy.repeat(numpy.arange(count, dtype=numpy.int64), number)[:, None]
    taller = lambda boxes, first: numpy.concatenate([first, numpy.tile(boxes, (count, 1))], axis=1)
    return Part(taller(part.starts, level), taller(part.counts, numpy.ones_like(level)))


def _require_tiles(shape, starts, counts, sizes):
    """Of boxes inside the array."""
    for (rank, (start, count)), (other, (start2, count2)) in _overlapping(starts, counts, sizes):
        raise InputError(
            f"The blocks do not tile the array: the box of rank {rank} ({count} points from {start} on) and that of rank {other} "
            f"({count2} from {start2} on) share points."
        )
    if (held := int(sizes.sum())) != (elements := math.prod(shape)):
        raise InputError(f"The blocks do not tile the array: they hold {held} of its {elements} points, so some are nobody's.")


def _overlapping(starts, counts, sizes):
    """Pairs of boxes that share an element: sorted along the slowest dimension, only those that meet there are compared."""
    found = [rank for rank in numpy.argsort(starts[:, 0], kind="stable").tolist() if sizes[rank]]
    open_ones = []
    for rank in found:
        start, count = starts[rank], counts[rank]
        open_ones = [other for other in open_ones if starts[other, 0] + counts[other, 0] > start[0]]
        if open_ones:
            rest = numpy.array(open_ones)
            meets = ((starts[rest] < start + count) & (start < starts[rest] + counts[rest])).all(axis=1)
            for other in rest[meets].tolist():
                pair = sorted((rank, other))
                yield tuple((r, (starts[r].tolist(), counts[r].tolist())) for r in pair)
        open_ones.append(rank)


def _few_enough(ranks: int) -> None:
    """Before anything of that length is made."""
    if ranks > MOST_RANKS:
        raise InputError(f"It is on {ranks} ranks, and {MOST_RANKS} are the most.")


def _shape(shape: Sequence[int]) -> tuple[int, ...]:
    extent = tuple(int(length) for length in shape)
    if not extent:
        raise InputError("An array of no dimensions has nothing to be decomposed.")
    _positive(extent, "The length of a dimension")
    if math.prod(extent) >= 1 << 63:
        raise InputError(f"An array of {_by(extent)} elements is too large: 2^63 - 1 is the most.")
    return extent


def _halo(halo: int | Sequence[int], extent: tuple[int, ...]) -> list[int]:
    around = [halo] * len(extent) if isinstance(halo, int) else list(halo)
    _as_many(around, extent, "widths of the halo")
    if min(around) < 0:
        raise InputError(f"A halo cannot be {min(around)} points wide.")
    _shape([length + 2 * width for length, width in zip(extent, around)])  # as much as a block with it can be
    return around


def _positive(numbers, what):
    for number in numbers:
        if number < 1:
            raise InputError(f"{what} is to be 1 or more, and {number} is not.")


def _as_many(given, shape, what):
    if len(given) != len(shape):
        raise InputError(f"There are {len(given)} {what} for {len(shape)} dimensions ({_by(shape)}).")


def integers(values: ArrayLike, what: str) -> NDArray[numpy.int64]:
    """InputError for what are no whole numbers of 8 bytes with a sign."""
    array = numpy.asarray(values)
    if array.size == 0:
        return array.astype(numpy.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"The {what} are to be whole numbers, and are of type {array.dtype}.")
    if int(array.max()) >= 1 << 63:
        raise InputError(f"The {what} are to be less than 2^63, and {array.max()} is not.")
    return array.astype(numpy.int64)


def _some(listed):
    listed = list(listed)
    return ", ".join(map(str, listed)) if len(listed) <= 8 else ", ".join(map(str, itertools.islice(listed, 6))) + ", ..."


def _by(shape):
    return " x ".join(map(str, shape))


def _shape_text(array):
    return _by(array.shape) or "a single number"
