"""What two files of arrays hold that is not the same, element by element. h5py and netCDF4 read them, not what wrote them."""

import contextlib
import dataclasses
import itertools
import math

import h5py
import netCDF4
import numpy

HDF5, NETCDF = "HDF5", "netCDF"  # netCDF-4 is read as either
OF_A_LOG = "_slablog"  # group of a file in the log layout, whose datasets show what is in it
BLOCK = 32 << 20  # bytes of each file that are compared at a time


def kind(path):
    """HDF5 or NETCDF (of the classic formats), or None."""
    with open(path, "rb") as file:
        beginning = file.read(4)
    if beginning[:3] == b"CDF" and beginning[3:] in (b"\1", b"\2", b"\5"):
        return NETCDF
    return HDF5 if h5py.is_hdf5(path) else None


@dataclasses.dataclass
class Item:
    """A dataset, an attribute, a link or a dimension. `read(slices)` gives columns: arrays that all have the shape of the slices,
    and more dimensions where an element is an array itself."""

    what: str
    type: str
    shape: tuple | None
    read: object = None
    row_bytes: int = 0
    rows_of_chunk: int = 1

    @property
    def elements(self):
        return 0 if self.shape is None else math.prod(self.shape)

    def blocks(self):
        """Slices that fit into memory and cover all, whole chunks of rows at a time where these do."""
        if not self.shape or self.row_bytes * self.shape[0] <= BLOCK:
            yield tuple(slice(0, length) for length in self.shape or ())
            return
        rows = max(1, BLOCK // max(1, self.row_bytes))
        if self.rows_of_chunk <= 4 * rows:
            rows = -(-rows // self.rows_of_chunk) * self.rows_of_chunk
        places = [[slice(begin, min(begin + rows, self.shape[0])) for begin in range(0, self.shape[0], rows)]]
        within = self.row_bytes
        for length in self.shape[1:]:  # rows that are too long are cut, too
            within //= length
            step = max(1, BLOCK // max(1, within)) if rows == 1 and within * length > BLOCK else length
            places.append([slice(begin, min(begin + step, length)) for begin in range(0, length, step)])
        yield from itertools.product(*places)


def _value(what, value):
    """An item that is small and known."""
    array = numpy.asarray(value)
    if array.dtype.kind in "US":
        array = array.astype(object)  # texts of other lengths are other values of one type
    return Item(what, "text" if array.dtype == object else str(array.dtype), array.shape, lambda slices: [_part(array, slices)])


def _part(array, slices):
    return array[slices] if slices else array  # which stays an array if it has no dimension


@contextlib.contextmanager
def opened(path, of_kind):
    """{name: Item} of a file."""
    if of_kind == NETCDF:
        with open(path, "rb") as file, netCDF4.Dataset(f"/proc/self/fd/{file.fileno()}") as dataset:  # whatever its name is
            dataset.set_auto_maskandscale(False)
            dataset.set_auto_chartostring(False)
            yield _of_netcdf(dataset)
    else:
        with h5py.File(path, locking=False) as file:
            yield dict(_of_group(file, file, {_address(file): "/"}))


def _of_netcdf(dataset):
    found = {f"dimension {name}": _value("dimension", ("unlimited" if length.isunlimited() else len(length)))
             for name, length in dataset.dimensions.items()}
    for holder, prefix in [(dataset, ""), *((variable, name) for name, variable in dataset.variables.items())]:
        found |= {f"{prefix}:{name}": _value("attribute", holder.getncattr(name)) for name in holder.ncattrs()}
    for name, variable in dataset.variables.items():
        columns = lambda slices, variable=variable: [numpy.asarray(variable[slices] if slices else variable[...])]
        item_type = f"{variable.dtype} ({', '.join(variable.dimensions)})"
        found[name] = Item("variable", item_type, variable.shape, columns, _row_bytes(variable.shape, variable.dtype))
    return found


def _row_bytes(shape, dtype):
    return math.prod(shape[1:]) * max(dtype.itemsize, 16 if dtype.hasobject else 1)


def _of_group(file, group, seen):
    yield from _attributes(file, group)
    for name in sorted(set(group) - {OF_A_LOG}):
        path = f"{group.name.rstrip('/')}/{name}"
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.SoftLink):
            yield path, _value("link", f"to {link.path}")
        elif isinstance(link, h5py.ExternalLink):
            yield path, _value("link", f"to {link.path} in {link.filename}")
        else:
            yield from _of_object(file, group[name], path, seen)


def _address(item):
    found = h5py.h5o.get_info(item.id)
    return found.fileno, found.addr


def _of_object(file, item, path, seen):
    if first := seen.get(_address(item)):  # links may lead in a circle
        yield path, _value("link", f"to {first}")
        return
    seen[_address(item)] = path
    if isinstance(item, h5py.Group):
        yield path, _value("group", "")
        yield from _of_group(file, item, seen)
    elif isinstance(item, h5py.Dataset):
        columns = lambda slices: list(_columns(file, item[slices], item.dtype))
        row_bytes = 0 if item.shape is None else _row_bytes(item.shape, item.dtype)
        yield path, Item("dataset", _type(item.id), item.shape, columns, row_bytes, (item.chunks or (1,))[0])
        yield from _attributes(file, item)
    else:
        yield path, _value("datatype", _type_text(item.id))
        yield from _attributes(file, item)


def _attributes(file, holder):
    for name in holder.attrs:
        found = holder.attrs.get_id(name)
        columns = lambda slices, name=name, found=found: [
            _part(column, slices) for column in _columns(file, holder.attrs[name], found.dtype)
        ]
        yield f"{holder.name}:{name}", Item("attribute", _type(found), None if _is_null(found) else found.shape, columns)


def _type(holder):
    return _type_text(holder.get_type())


def _type_text(stored):
    """As numpy calls it, with what that leaves out of a text: whether its length is variable."""
    text = str(stored.dtype)
    return f"{text} of variable length" if text == "object" else text


def _is_null(found):
    return found.get_space().get_simple_extent_type() == h5py.h5s.NULL


def _columns(file, values, dtype):
    """The members of a compound, and so on; references as what they lead to, since each file has addresses of its own."""
    if dtype.names:
        for name in dtype.names:
            yield from _columns(file, values[name], dtype.fields[name][0].base)
    elif isinstance(values, h5py.Empty):
        return
    elif dtype.hasobject:
        array = numpy.empty(numpy.shape(values), object)
        array[...] = values
        yield numpy.frompyfunc(lambda value: _plain(file, value), 1, 1)(array) if array.shape else numpy.array(_plain(file, array[()]), object)
    else:
        yield numpy.asarray(values)


def _plain(file, value):
    """Something that can be compared by ==."""
    if isinstance(value, h5py.RegionReference):
        return h5py.h5r.get_name(value, file.id), str(file[value].regionref.selection(value)) if value else None
    if isinstance(value, h5py.Reference):
        return h5py.h5r.get_name(value, file.id) if value else None
    if isinstance(value, numpy.ndarray):
        return [_plain(file, one) for one in value] if value.dtype.hasobject else value.tobytes()
    return value


def _unlike(one, other, dimensions):
    """Where two columns differ, by bits where they are numbers: NaN is NaN, and -0 is not 0."""
    if one.dtype.hasobject:
        wrong = numpy.asarray(numpy.frompyfunc(lambda a, b: a != b, 2, 1)(one, other), dtype=bool)
    elif one.dtype.itemsize == 0:
        wrong = numpy.zeros(one.shape, bool)
    else:
        as_bytes = lambda array: numpy.ascontiguousarray(array).reshape(-1).view("u1").reshape(*array.shape, array.dtype.itemsize)
        wrong = (as_bytes(one) != as_bytes(other)).any(axis=-1)
    return wrong.any(axis=tuple(range(dimensions, wrong.ndim))) if wrong.ndim > dimensions else wrong


@dataclasses.dataclass
class Difference:
    """`steady`: two native runs are alike there, so it is not the program that does something else each time."""

    name: str
    text: str
    steady: bool = True


@dataclasses.dataclass
class Comparison:
    differences: list
    items: int = 0
    elements: int = 0


def compare(paths, of_kind, names):
    """Of the file that a run left and the one that a native run left, and maybe a second native run: `names` says what to call the
    first two. Where the second native one is not like the first, nothing can be known."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(opened(path, of_kind)) for path in paths]
        found = Comparison([])
        for name in dict.fromkeys(name for file in files[:2] for name in file):
            items = [file.get(name) for file in files]
            try:
                found.differences += _of_item(name, items, names)
            except Exception as error:  # of libraries that have a kind of their own for everything
                found.differences.append(Difference(name, f"cannot be read ({' '.join(str(error).split())[:300]})"))
            if items[1] and items[1].what in ("dataset", "variable"):
                found.items, found.elements = found.items + 1, found.elements + items[1].elements
        return found


def _of_item(name, items, names):
    one, native, again = (*items, None)[:3]
    known_again = len(items) > 2
    facts = lambda item: (item.what, item.type, item.shape) if item else None
    if facts(one) != facts(native):
        steady = not known_again or facts(again) == facts(native)
        if one is None or native is None:
            yield Difference(name, f"{(one or native).what} that only the file {names[native is not None]} has", steady)
        else:
            told = [f"{item.what} of type {item.type}" + ("" if item.shape is None else f" and shape {item.shape}") for item in (one, native)]
            yield Difference(name, f"{told[0]} {names[0]}, {told[1]} {names[1]}", steady)
        return
    if one.shape is None:
        return
    wrong_count = unsteady_count = 0
    first = ""
    for place in one.blocks():
        columns = [item.read(place) for item in (one, native)]
        wrong = _any_unlike(columns[0], columns[1], len(one.shape))
        if not numpy.any(wrong):
            continue
        if known_again and facts(again) != facts(native):
            unsteady = wrong
        else:
            unsteady = wrong & _any_unlike(columns[1], again.read(place), len(one.shape)) if known_again else numpy.zeros_like(wrong)
        certain = wrong & ~unsteady
        unsteady_count += int(numpy.count_nonzero(unsteady))
        if numpy.any(certain) and not wrong_count:
            index = tuple(int(i) for i in numpy.argwhere(certain)[0]) if one.shape else ()
            values = [_shown(found, index) for found in columns]
            where = f"; the first at {[begin.start + i for begin, i in zip(place, index)]}" if one.shape else ""
            first = f"{where}: {values[0]} {names[0]}, {values[1]} {names[1]}"
        wrong_count += int(numpy.count_nonzero(certain))
    if wrong_count:
        many = f"{wrong_count:,} of {one.elements:,} elements differ" if one.elements > 1 else "the value differs"
        yield Difference(name, f"{one.what}: {many}{first}")
    if unsteady_count:
        many = f"{unsteady_count:,} of {one.elements:,} elements differ" if one.elements > 1 else "the value differs"
        yield Difference(name, f"{one.what}: {many}, and so in two native runs", steady=False)


def _any_unlike(columns, others, dimensions):
    wrong = numpy.zeros((), bool)
    for one, other in zip(columns, others, strict=True):
        wrong = wrong | _unlike(one, other, dimensions)
    return wrong


def _shown(columns, index):
    values = [column[index] for column in columns]
    text = str(values[0] if len(values) == 1 else tuple(str(value) for value in values))
    return text if len(text) <= 80 else f"{text[:77]}..."
