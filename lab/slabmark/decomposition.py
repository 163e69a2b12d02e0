"""A picture of a decomposition: which rank owns what, how many requests each rank has, and how long they are.

`slabmark decomp info` reads the map, in any of its formats; this draws.
"""

import math
import pathlib
import tempfile

import numpy
from matplotlib import colormaps, rc_context
from matplotlib.colors import ListedColormap

from slabmark import files, programs, units
from slabmark.errors import InputError
from slabmark.report import drawing, figures

WIDTH, HEIGHT = 960, 480  # points of the picture at most; beyond, the owner in the middle of a point is shown
NOBODY = -1
MOST_ELEMENTS = 1 << 30  # an owner of 4 bytes is held for each


def main(arguments, console):
    source = pathlib.Path(arguments.map)
    files.open_regular(source).close()
    output = pathlib.Path(source.with_suffix(".svg").name if arguments.output is None else arguments.output)
    if output.suffix not in (".svg", ".png"):
        raise InputError(f"The picture '{output}' is to be named .svg or .png.")
    files.check_output(output, [source], arguments.overwrite)
    described, numbers = chosen_maps(source, arguments.map_index)
    rows = [(described[number - 1], read_owners(source, number, described[number - 1])) for number in numbers]
    files.write(output, draw(source.name, rows).data(output.suffix))
    for entry, _ in rows:
        requests, elements = entry["requests_per_rank"], entry["elements_per_rank"]
        console.say(
            f"{entry['map']}: {' x '.join(map(str, entry['dims']))} on {units.counted(entry['ranks'], 'rank')}; a rank has "
            f"{elements['min']} to {elements['max']} elements in {requests['min']} to {requests['max']} requests, "
            f"{entry['run_length']['mean']:.3g} elements long on average."
        )
    console.say(f"Picture: {output}")
    return 0


def chosen_maps(source, number=None):
    """(what `slabmark decomp` says of the maps of a file, the numbers from 1 of all, or the one that is asked for)."""
    described = programs.json_of([*programs.command("slabmark decomp"), "info", files.as_operand(source), "--json", "-"], timeout=600)["maps"]
    numbers = range(1, len(described) + 1)
    if number is None:
        return described, numbers
    if number not in numbers:
        raise InputError(f"'{source}' has maps 1 to {len(described)}; there is no map {number}.")
    return described, [number]


def read_owners(source, number, entry):
    """(owner of each element, requests by rank): an array of rows, NOBODY where no rank owns it."""
    return with_text(source, number, entry, lambda text: owners_of(text, entry["dims"]), "drawn", "a picture")


def with_text(source, number, entry, use, done, what):
    """use(the map as PIO text). InputError for a map that it cannot be of; `done` and `what` are its words for that."""
    if math.prod(entry["dims"]) > MOST_ELEMENTS or not entry["ranks"]:
        raise InputError(
            f"'{source}' cannot be {done}: map {number} has {math.prod(entry['dims'])} elements on {entry['ranks']} ranks, "
            f"and {what} takes 1 to {MOST_ELEMENTS} elements of some rank."
        )
    with tempfile.TemporaryDirectory(prefix="slabmark-") as folder:
        text = pathlib.Path(folder) / "map.dat"
        if source.suffix == ".dat":
            text = source
        else:
            words = ["convert", files.as_operand(source), "-o", str(text), "--map-format", "dat", "--map-index", str(number)]
            programs.output_of([*programs.command("slabmark decomp"), *words], timeout=600)
            text = next(pathlib.Path(folder).glob("*.dat"))
        try:
            return use(text)
        except (ValueError, IndexError, OverflowError) as error:
            raise InputError(f"'{source}' cannot be {done}: {error}.") from None


def rows_of(text):
    """Offsets of each rank, from 0 and ascending, without holes. In PIO text, two lines of header are followed by a line `rank
    count` and one of `count` offsets from 1 for each rank; 0 is a hole."""
    with open(text, encoding="ascii", errors="replace") as lines:
        ranks = int(_following(lines).split()[3])
        _following(lines)
        for _ in range(ranks):
            _following(lines)
            offsets = numpy.array(_following(lines).split(), dtype=numpy.int64) - 1
            yield numpy.unique(offsets[offsets >= 0])


def _following(lines):
    """The next line. Not next(), whose StopIteration a generator may not let out."""
    line = next(lines, None)
    if line is None:
        raise ValueError("it ends too early")
    return line


def owners_of(text, dims):
    owners = numpy.full(math.prod(dims), NOBODY, dtype=numpy.int32)
    requests = []
    for rank, offsets in enumerate(rows_of(text)):
        owners[offsets] = rank
        # A request ends where offsets jump, and at the end of a row.
        breaks = (numpy.diff(offsets) != 1) | (offsets[1:] % dims[-1] == 0)
        requests.append(int(breaks.sum()) + 1 if len(offsets) else 0)
    return owners.reshape(-1, dims[-1]) if len(dims) > 1 else owners, requests


def picture_of(owners):
    """2-D and at most HEIGHT x WIDTH: slow dimensions are stacked, a 1-D array is folded row by row."""
    flat = owners if owners.ndim > 1 else _folded(owners)
    places = (
        numpy.linspace(0, size - 1, min(most, size)).round().astype(int) for size, most in zip(flat.shape, (HEIGHT, WIDTH))
    )
    return flat[numpy.ix_(*places)]


def _folded(owners):
    width = max(1, math.ceil(math.sqrt(owners.size * 4)))
    return numpy.pad(owners, (0, -owners.size % width), constant_values=NOBODY).reshape(-1, width)


def draw(name, rows):
    with rc_context(drawing.STYLE):
        figure = drawing.new_figure(10.6, 2.7 * len(rows))
        grid = figure.subplots(len(rows), 3, squeeze=False, width_ratios=[5, 2.2, 2.2])
        for axes, (entry, (owners, requests)) in zip(grid, rows):
            _draw_owners(axes[0], entry, owners, len(requests))
            axes[1].bar(range(len(requests)), requests, width=1.0, color=drawing.DOT)
            axes[1].set_title("requests of each rank")
            axes[1].set_xlabel("rank")
            axes[1].set_ylim(0, max(requests) * 1.1 or 1)
            figures.draw_request_sizes(axes[2], entry, "run lengths")
    return drawing.Drawing(name, f"The owners of the elements in {name}.", figure)


def _draw_owners(axes, entry, owners, ranks):
    # Neighbouring ranks get distant hues, so that their borders show.
    order = numpy.argsort((numpy.arange(ranks) * 0.618034) % 1.0)
    colours = colormaps["turbo"](numpy.linspace(0.05, 0.95, ranks))[order]
    picture = numpy.ma.masked_equal(picture_of(owners), NOBODY)
    colour_map = ListedColormap(colours)
    colour_map.set_bad("#e3e7ec")
    axes.imshow(picture, cmap=colour_map, vmin=-0.5, vmax=ranks - 0.5, aspect="auto", interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    dims = " x ".join(map(str, entry["dims"]))
    axes.set_title(f"{entry['map']}: {dims}, one color per rank ({ranks})")
    axes.set_xlabel("row-major, folded" if owners.ndim == 1 else f"fastest dimension: {entry['dims'][-1]}")
