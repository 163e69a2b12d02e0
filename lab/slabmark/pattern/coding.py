"""Numbers as bytes, as docs/reference/pattern-file.md says: varints, signed varints and columns of these."""

import numpy
from numpy.typing import NDArray

EVERYTHING = numpy.uint64(0x7F)


def unsigned(values) -> bytes:
    """Varints of numbers from 0 to 2^64 - 1."""
    values = numpy.atleast_1d(numpy.asarray(values, dtype=numpy.uint64))
    if values.size and values.max() < 128:
        return values.astype(numpy.uint8).tobytes()
    lengths, rest = numpy.ones(len(values), dtype=numpy.int64), values >> numpy.uint64(7)
    while rest.any():
        lengths += rest > 0
        rest >>= numpy.uint64(7)
    made = numpy.zeros(int(lengths.sum()), dtype=numpy.uint8)
    begins = numpy.cumsum(lengths) - lengths
    for number in range(int(lengths.max(initial=0))):
        there = lengths > number
        digits = (values[there] >> numpy.uint64(7 * number)) & EVERYTHING
        made[begins[there] + number] = digits.astype(numpy.uint8) | ((lengths[there] > number + 1).astype(numpy.uint8) << 7)
    return made.tobytes()


def few(*numbers: int) -> bytes:
    """The same of a few numbers, which is quicker."""
    made = bytearray()
    for number in numbers:
        while number > 127:
            made.append(number & 127 | 128)
            number >>= 7
        made.append(number)
    return bytes(made)


def signed(values) -> bytes:
    values = numpy.atleast_1d(numpy.asarray(values, dtype=numpy.int64))
    return unsigned(((values << 1) ^ (values >> 63)).view(numpy.uint64))


def column(values) -> bytes:
    """The shortest of the three ways."""
    values = numpy.asarray(values, dtype=numpy.int64)
    if not len(values):
        return b"\0"
    begins = numpy.concatenate([[0], numpy.flatnonzero(numpy.diff(values)) + 1])
    if len(begins) == 1:
        return b"\0" + signed(values[:1])
    runs = numpy.diff(numpy.append(begins, len(values))).astype(numpy.uint64)
    found = values[begins]
    pairs = numpy.stack([runs, ((found << 1) ^ (found >> 63)).view(numpy.uint64)], axis=1).ravel()
    return min(b"\1" + signed(values), b"\2" + unsigned(pairs), key=len)


def numbers(data) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]:
    """(the numbers, where the last byte of each lies) of bytes that are varints and nothing else. ValueError where the last one
    has no end, or one is too long."""
    data = numpy.frombuffer(data, dtype=numpy.uint8)
    ends = numpy.flatnonzero(data < 128)
    if len(data) and (not len(ends) or ends[-1] != len(data) - 1):
        raise ValueError("a number has no end")
    begins = numpy.concatenate([[0], ends[:-1] + 1]).astype(numpy.int64)[: len(ends)]
    lengths = ends + 1 - begins
    if len(lengths) and lengths.max() > 10:
        raise ValueError("a number has more than 64 bits")
    made = numpy.zeros(len(ends), dtype=numpy.uint64)
    for number in range(int(lengths.max(initial=0))):
        there = lengths > number
        made[there] |= (data[begins[there] + number].astype(numpy.uint64) & EVERYTHING) << numpy.uint64(7 * number)
    return made, ends


def with_sign(values):
    """Signed numbers of those that numbers() found."""
    values = numpy.asarray(values, dtype=numpy.uint64)
    return (values >> numpy.uint64(1)).view(numpy.int64) ^ -(values & numpy.uint64(1)).view(numpy.int64)


class Numbers:
    """Those of a stream, from first to last. ValueError where it ends too early."""

    def __init__(self, data):
        self.values, self.ends = numbers(data)
        self.quick, self.at = self.values.tolist(), 0

    @property
    def left(self) -> int:
        return len(self.quick) - self.at

    def take(self) -> int:
        if self.at >= len(self.quick):
            raise ValueError("it ends too early")
        self.at += 1
        return self.quick[self.at - 1]

    def take_signed(self) -> int:
        value = self.take()
        return value >> 1 ^ -(value & 1)

    def take_many(self, count) -> NDArray[numpy.uint64]:
        if count > self.left:
            raise ValueError("it ends too early")
        self.at += count
        return self.values[self.at - count : self.at]

    def take_bytes(self, size) -> NDArray[numpy.uint64]:
        """The numbers that the next bytes are."""
        last = (int(self.ends[self.at - 1]) if self.at else -1) + size
        count = int(numpy.searchsorted(self.ends, last, side="right")) - self.at
        if size and (not count or self.ends[self.at + count - 1] != last):
            raise ValueError("a part ends inside a number, or beyond the end")
        return self.take_many(count)

    def take_column(self, count) -> NDArray[numpy.int64]:
        way = self.take()
        if way == 0:
            return numpy.full(count, self.take_signed() if count else 0, dtype=numpy.int64)
        if way == 1:
            return with_sign(self.take_many(count))
        if way != 2:
            raise ValueError(f"there is no column of kind {way}")
        pairs = self.values[self.at : self.at + 2 * min(count, self.left // 2)].reshape(-1, 2)
        runs = numpy.minimum(pairs[:, 0], numpy.uint64(count + 1)).astype(numpy.int64)
        last = int(numpy.searchsorted(so_far := numpy.cumsum(runs), count))
        if count and (last == len(runs) or so_far[last] != count):
            raise ValueError("the runs of a column do not add up to its length")
        kept = last + 1 if count else 0
        self.at += 2 * kept
        return numpy.repeat(with_sign(pairs[:kept, 1]), runs[:kept])
