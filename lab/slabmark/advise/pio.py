"""What SCORPIO's and PIO's rearrangers make of a decomposition: which I/O task gets what, in how many messages, and in how many
calls each task writes. Computed from the map alone, nothing runs.

The rules are those of the library's public source (E3SM-Project/scorpio 2.0.1, src/clib/core): `CalcStartandCount`,
`box_rearrange_create`, `default_subset_partition`, `get_regions`, `Contig_rearr`. docs/how-to/choose-pio-settings.md says how they were checked.
"""

import dataclasses
import math

import numpy

BLOCK = 1024  # bytes of an array that a BOX task is to have on average, or fewer tasks are used: DEFAULT_BLOCKSIZE
# The numbers by which namelists and CIME know them.
REARRANGERS = {"box": 1, "subset": 2, "contig": 4}


@dataclasses.dataclass
class Map:
    """Elements that ranks own, holes left out, sorted within each rank."""

    name: str
    dims: tuple  # slowest first
    ranks: int
    offsets: numpy.ndarray  # from 0, of all ranks one after another
    owner: numpy.ndarray  # rank of each

    @property
    def elements(self):
        return math.prod(self.dims)

    @property
    def has_holes(self):
        return len(self.offsets) < self.elements


@dataclasses.dataclass(frozen=True)
class Placement:
    """Which ranks are I/O tasks: as PIO_NUMTASKS, PIO_STRIDE and PIO_ROOT name them."""

    tasks: int
    stride: int
    root: int
    ranks: int

    @property
    def places(self):
        """Rank of each I/O task."""
        return (self.root + numpy.arange(self.tasks) * self.stride) % self.ranks


def placement(tasks, ranks, root=0):
    """At equal distances, as far apart as goes."""
    return Placement(tasks, ranks // tasks, root, ranks)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Of one rearranger with one placement, for each write of one variable. Bytes are those of `size` an element."""

    rearranger: str
    placement: Placement
    length: numpy.ndarray  # elements that each I/O task writes, fill values with it
    received: numpy.ndarray  # messages that come to each from other ranks
    messages: int  # between different ranks, of both stages where there are two
    moved: int  # elements between different ranks
    calls: int  # of the file library by each I/O task: the most of any, since they are collective
    pieces: int  # contiguous runs of the file that all tasks write together
    index: int  # bytes of indices that the busiest I/O task keeps

    @property
    def idle(self):
        return int((self.length == 0).sum())

    def buffer(self, size, variables):
        """Bytes on the busiest I/O task for so many variables of a flush."""
        return int(self.length.max()) * size * variables


def box(made, place, size):
    """CalcStartandCount and box_rearrange_create: each task owns a box; whole slow dimensions are cut first."""
    starts, used, outer, inner = _boxes(made.dims, place.tasks, size)
    part = made.dims[outer]
    inner_elements = math.prod(made.dims[outer + 1 :])
    slab = part * inner_elements
    of_part = numpy.searchsorted(starts, made.offsets % slab // inner_elements, side="right") - 1
    destination = made.offsets // slab * inner + of_part
    ends = numpy.append(starts[1:], part)
    length = numpy.zeros(place.tasks, dtype=numpy.int64)
    length[:used] = numpy.tile((ends - starts) * inner_elements, used // inner)
    return _exchanged("box", made, place, destination, length, calls=1, pieces=used)


def _boxes(dims, tasks, size):
    """(starts in the dimension that is cut, tasks used, that dimension, parts of it)."""
    used = max(1, min(math.prod(dims) * size // BLOCK, tasks))
    product = 1
    for length in dims:
        if product * length >= used:
            break
        product *= length
    used -= used % product
    left, outer = used, 0
    while outer < len(dims) - 1 and dims[outer] < left:
        left //= dims[outer]
        outer += 1
    return _parts(dims[outer], left), used, outer, left


def _parts(length, parts):
    """compute_one_dim: where each of the parts begins; what is left over goes to the last ones."""
    rank = numpy.arange(parts)
    each, left = divmod(length, parts)
    return rank * each + numpy.maximum(0, rank + left - parts)


def subset(made, place, size):
    """default_subset_partition: each rank has one I/O task, which writes what its ranks own, region by region."""
    ranks = numpy.arange(made.ranks)
    each, extra = divmod(made.ranks, place.tasks)
    first = (each + 1) * extra
    task_of = numpy.where(ranks < first, ranks // (each + 1), (ranks - first) // max(each, 1) + extra)
    task_of[place.places] = numpy.arange(place.tasks)
    destination = task_of[made.owner]
    length = numpy.bincount(destination, minlength=place.tasks)
    found = [regions(numpy.sort(made.offsets[destination == task]), made.dims) for task in range(place.tasks)]
    missing = _missing(made, place.tasks) if made.has_holes else [()]
    fills = [regions(part, made.dims) for part in missing]  # written by calls of their own, of equal parts of the array
    length = length + [len(part) for part in missing]
    return _exchanged("subset", made, place, destination, length, calls=max(found) + max(fills), pieces=sum(found) + sum(fills))


def _missing(made, tasks):
    """What nobody owns, by the part of the array in which it lies."""
    there = numpy.zeros(made.elements, dtype=bool)
    there[made.offsets] = True
    missing = numpy.flatnonzero(~there)
    each, left = divmod(made.elements, tasks)
    sizes = numpy.full(tasks, each)
    sizes[tasks - left :] += 1
    return numpy.split(missing, numpy.searchsorted(missing, sizes.cumsum()[:-1]))


def contig(made, place, size):
    """Contig_rearr: ranks are gathered by the I/O task of their group, and I/O tasks exchange with each other; each writes an
    equal range of the array."""
    chunk = made.elements // place.tasks
    ranks = numpy.arange(made.ranks)
    group = numpy.minimum(ranks // (made.ranks // place.tasks), place.tasks - 1)
    group[place.places] = numpy.arange(place.tasks)
    destination = numpy.minimum(made.offsets // chunk, place.tasks - 1)
    length = numpy.full(place.tasks, chunk, dtype=numpy.int64)
    length[-1] = made.elements - chunk * (place.tasks - 1)
    gathered = _Messages(group[made.owner], made.owner, place.places, made.ranks)
    exchanged = _Messages(destination, place.places[group[made.owner]], place.places, made.ranks)
    calls = [len(ranges(task * chunk, int(length[task]), made.dims)) for task in range(place.tasks)]
    held = numpy.bincount(group[made.owner], minlength=place.tasks)
    return Outcome(
        "contig",
        place,
        length,
        gathered.received + exchanged.received,
        gathered.count + exchanged.count,
        gathered.moved + exchanged.moved,
        max(calls),
        place.tasks,
        int((held * 8).max()),
    )


class _Messages:
    """Between a rank and an I/O task, one for all elements, where they are not the same."""

    def __init__(self, destination, source, places, ranks):
        counts = numpy.bincount(destination.astype(numpy.int64) * ranks + source, minlength=len(places) * ranks)
        counts = counts.reshape(len(places), ranks)
        counts[numpy.arange(len(places)), places] = 0
        self.received = (counts > 0).sum(axis=1)
        self.count, self.moved = int(self.received.sum()), int(counts.sum())


def _exchanged(name, made, place, destination, length, calls, pieces):
    found = _Messages(destination, made.owner, place.places, made.ranks)
    kept = numpy.bincount(destination, minlength=place.tasks)
    index = kept * (12 if name == "subset" else 8)  # rindex, and rfrom of SUBSET
    return Outcome(name, place, length, found.received, found.count, found.moved, calls, pieces, int(index.max()))


def regions(offsets, dims):
    """get_regions: in how many calls sorted elements are written, each a box that is as long as the next elements allow, from
    the fastest dimension on."""
    if len(offsets) == 0:
        return 0
    row = dims[-1]
    breaks = (numpy.diff(offsets) != 1) | (offsets[1:] % row == 0)
    begins = numpy.concatenate([[0], numpy.flatnonzero(breaks) + 1])  # of runs within a row
    if len(dims) == 1:
        return len(begins)
    ends = numpy.append(begins[1:], len(offsets))
    lengths = ends - begins
    # Only where the next run begins below this one and is no shorter does a box grow beyond its first row.
    grows = numpy.flatnonzero((offsets[begins[1:]] == offsets[begins[:-1]] + row) & (lengths[1:] >= lengths[:-1]))
    many, run, at, jumps = 0, 0, 0, 0
    while run < len(begins):
        if at == begins[run]:  # at the beginning of a run: those before the next that grows are a region each
            jumps = numpy.searchsorted(grows, run)
            following = grows[jumps] if jumps < len(grows) else len(begins)
            many += following - run
            run = following
            if run == len(begins):
                break
            at = begins[run]
        at += _region(offsets, at, ends[run] - at, dims)
        many += 1
        run = int(numpy.searchsorted(begins, at, side="right")) - 1 if at < len(offsets) else len(begins)
        if run < len(begins) and at >= ends[run]:
            run += 1
    return int(many)


def _region(offsets, at, size, dims):
    """find_region: elements of the one that begins at place `at`, whose first row has `size`."""
    stride = 1
    for dimension in range(len(dims) - 2, -1, -1):
        stride *= dims[dimension + 1]
        room = dims[dimension] - int(offsets[at]) // stride % dims[dimension]
        block, count = offsets[at : at + size], 1
        while count < room:
            below = offsets[at + count * size : at + (count + 1) * size]
            if len(below) < size or below[0] != block[0] + count * stride or not numpy.array_equal(below, block + count * stride):
                break
            count += 1
        size *= count
    return size


def ranges(start, count, dims):
    """get_contig_ranges_from_off_range: [(start, count)] of the boxes that a range of the array is cut into."""
    chunks = [math.prod(dims[place + 1 :]) for place in range(len(dims))]
    found = []
    while count > 0:
        rest, index, last = start, [], 0
        for place, chunk in enumerate(chunks):
            index.append(rest // chunk)
            rest -= index[-1] * chunk
            if index[-1]:
                last = place
        room = dims[last] - index[last]
        size = min(count // chunks[last], room) * chunks[last]
        for place in range(last + 1, len(dims)):
            if size:
                break
            size = min(count // chunks[place], dims[place]) * chunks[place]
        found.append((start, size))
        start, count = start + size, count - size
    return found


COMPUTED = {"box": box, "subset": subset, "contig": contig}


def drop_in(made, nodes, aggregators, size, variables):
    """What the engine of the drop-in does with the same (docs/explanation/collective-rearrangement.md): `aggregators` at equal distances own equal
    ranges of all variables in one line, and write them window by window. Messages cross nodes only, one a window and rank."""
    per_node = made.ranks // nodes
    places = numpy.arange(aggregators) * made.ranks // aggregators
    node_of = numpy.minimum(numpy.arange(made.ranks) // per_node, nodes - 1)
    total = made.elements * size * variables
    each = -(-total // aggregators)
    most = 2 << 20 if nodes == 1 else min(max(16 * 1024 * made.ranks, 2 << 20), 256 << 20)
    window = most // 4
    windows = -(-each // window)  # of an aggregator
    pairs, moved = [], 0
    for variable in range(variables):
        at = (made.offsets + variable * made.elements) * size
        of = numpy.minimum(at // each, aggregators - 1)
        moved += int((made.owner != places[of]).sum())
        crossing = node_of[made.owner] != node_of[places[of]]
        number = of * windows + (at - of * each) // window
        pairs.append(numpy.unique((number * made.ranks + made.owner)[crossing]))
    messages = numpy.unique(numpy.concatenate(pairs))
    received = numpy.bincount(messages // made.ranks // windows, minlength=aggregators)
    return DropIn(aggregators, each, int(windows), len(messages), int(received.max(initial=0)), moved, most)


@dataclasses.dataclass(frozen=True)
class DropIn:
    """Of a flush of all variables."""

    aggregators: int
    bytes_each: int
    writes: int  # of an aggregator
    messages: int
    received: int  # of the aggregator with most
    moved: int  # elements between different ranks, by messages or through shared memory
    memory: int  # bytes of windows


def possible(name, made, tasks):
    """Why a rearranger cannot run with so many I/O tasks, or None."""
    if name == "contig" and made.elements < tasks:
        return f"the array has {made.elements} elements, fewer than I/O tasks"
    return None
