"""Shapes of chunks and filters that are worth trying for a dataset, and what a reader touches of a file in chunks."""

import dataclasses
import itertools
import math

SHAPES = ("series", "level", "field")  # as `slabmark bench --read-shape` calls them
# The candidates: elements of a chunk, and time steps in it.
ELEMENTS = (1 << 16, 1 << 13)
TIMES = (16, 128)
DEFLATE = {"hdf5.shuffle": "on", "hdf5.deflate": "1"}
ZSTD = {"hdf5.shuffle": "on", "hdf5.filter": "32015:3"}
FILTERS = {"none": {}, "shuffle, deflate 1": DEFLATE, "shuffle, zstd 3": ZSTD}


@dataclasses.dataclass(frozen=True)
class Layout:
    """Chunks of a dataset with time in front, and their filters (a name of FILTERS)."""

    chunk: tuple
    filters: str

    @property
    def label(self):
        return " x ".join(map(str, self.chunk))

    @property
    def settings(self):
        """Options of an HDF5 method. A single length would be a number of elements: which is the same in one dimension."""
        times, *lengths = self.chunk
        return {"hdf5.chunk": "x".join(map(str, lengths)), "hdf5.time_chunk": str(times)} | FILTERS[self.filters]

    @property
    def method(self):
        """The fastest that writes it: chunks of several times are HDF5's own to write."""
        return "hdf5-rearranged" if self.chunk[0] == 1 else "hdf5-union"

    @property
    def write_settings(self):
        return {name: value for name, value in self.settings.items() if self.chunk[0] > 1 or name != "hdf5.time_chunk"}


def about(elements, lengths):
    """A chunk of about so many elements: whole dimensions from the fastest on, then a part of the next."""
    chunk = []
    for length in reversed(lengths):
        chunk.insert(0, max(1, min(length, elements)))
        elements //= chunk[0]
    return tuple(chunk)


def even(elements, lengths):
    """One of about so many elements, of the same share of each dimension."""
    share = min(1.0, (elements / math.prod(lengths)) ** (1 / len(lengths)))
    return tuple(max(1, math.ceil(length * share)) for length in lengths)


def layouts(extent, filters):
    """Those to try for a dataset of this extent, time in front: a record a chunk, a level a chunk, smaller ones, and ones of
    several times."""
    times, *lengths = extent
    shapes = [(1, *lengths)]
    if len(lengths) > 1:
        shapes.append((1, 1, *lengths[1:]))
    for elements in ELEMENTS:
        shapes += [(1, *about(elements, lengths)), (1, *even(elements, lengths))]
        for steps in TIMES:
            if 1 < min(steps, times):
                shapes.append((min(steps, times), *about(max(1, elements // min(steps, times)), lengths)))
    return [Layout(shape, name) for shape in dict.fromkeys(shapes) for name in filters]


def touched(shape, extent, chunk):
    """Coordinates of the first elements of the chunks that a reader touches, as `slabmark bench --read-shape` reads."""
    times, *lengths = extent
    ranges = [range(0, length, step) for length, step in zip(extent, chunk)]
    middle = lambda d: [extent[d] // 2 // chunk[d] * chunk[d]]
    if shape == "series":
        ranges[1:] = [[0]] * len(lengths)
    else:
        ranges[0] = middle(0)
        if shape == "level" and len(lengths) > 1:
            ranges[1] = middle(1)
    return list(itertools.product(*ranges))
