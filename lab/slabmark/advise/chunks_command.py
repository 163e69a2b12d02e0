"""`slabmark advise --chunks`: chunk shapes and filters for a mix of writing and reading, each measured."""

import dataclasses
import math
import os
import pathlib
import statistics
import tempfile

import h5py
from rich import box
from rich.table import Table

from slabmark import units
from slabmark.advise import bench, chunks
from slabmark.errors import InputError, LabError, printable

TRIALS = 3


@dataclasses.dataclass
class Cost:
    """Of a layout: seconds of each part of the mix, and what a reader's part touches of the file."""

    seconds: dict
    bytes: dict
    requests: dict
    stored: int  # bytes of the variable in the file

    def total(self, mix):
        return sum(count * self.seconds[name] for name, count in mix.items())


class Bench(bench.Bench):
    """Launches for layouts."""

    def seconds(self, method, settings, ranks, *more):
        """Median from open to close, or why there is none."""
        flags = ["--method", method, "--no-bound", *more]
        for name, value in settings.items():
            flags += ["--set", f"{name}={value}"]
        lines = self.launch(flags, TRIALS, max(10, self.left()), ranks)
        record = lines if isinstance(lines, str) else bench.record_of(lines)
        if isinstance(record, str):
            return record
        if record.unsupported:
            return record.unsupported
        self.lines += lines
        return statistics.median(trial.open_to_close for trial in record.measured)

    def cost(self, layout):
        """What a layout costs, or why it cannot be had."""
        wanted = self.arguments.mix
        found = Cost({}, {}, {}, 0)
        outcome = self.seconds(layout.method, layout.write_settings, self.arguments.ranks, "--keep")
        if isinstance(outcome, str):
            return outcome
        found.seconds["write"] = outcome
        path = self.scratch / f"slabmark-{layout.method}.h5"
        with h5py.File(path, locking=False) as file:
            dataset = first_variable(file)
            found.stored = dataset.id.get_storage_size()
            for shape in chunks.SHAPES:
                corners = chunks.touched(shape, dataset.shape, dataset.chunks)
                found.requests[shape] = len(corners)
                found.bytes[shape] = sum(dataset.id.get_chunk_info_by_coord(corner).size for corner in corners)
        path.unlink()
        for shape in chunks.SHAPES:
            if shape not in wanted:
                continue
            outcome = self.seconds("hdf5-union", layout.settings, 1, "--read-shape", shape)
            if isinstance(outcome, str):
                return outcome
            found.seconds[shape] = outcome
        return found


def first_variable(file):
    """The first of the pattern's: its methods define them in its order."""
    datasets = []
    file.visititems(lambda name, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)  # a captured program's are in groups
    found = min(datasets, key=lambda item: h5py.h5o.get_info(item.id).addr)
    if not found.maxshape or found.maxshape[0] is not None:
        raise InputError(
            f"The variable '{found.name.lstrip('/')}' has no time dimension, and it is the first of the pattern. Chunks are tried on a "
            "variable of several records, of which a series can be read: use --rounds, or capture a program that appends records."
        )
    return found


def main(arguments, words, console):
    with tempfile.TemporaryDirectory(prefix="slabmark-advise-", dir=arguments.output_dir) as scratch:
        launched = Bench(arguments, words, scratch)
        outcome = launched.seconds("hdf5-union", {}, arguments.ranks, "--keep")
        if isinstance(outcome, str):
            raise InputError(f"Nothing can be tried here: {outcome.rstrip('.:')}.")
        kept = pathlib.Path(scratch) / "slabmark-hdf5-union.h5"
        with h5py.File(kept, locking=False) as file:
            variable = first_variable(file)
            name, extent, item_bytes = variable.name.lstrip("/"), variable.shape, variable.dtype.itemsize
        kept.unlink()
        names = [name for name in chunks.FILTERS if "zstd" not in name or os.environ.get("HDF5_PLUGIN_PATH")]
        candidates = chunks.layouts(extent, names)
        console.say(
            f"Trying {units.counted(len(candidates), 'layout')} of '{printable(name)}' ({' x '.join(map(str, extent))}, time first) for "
            f"{units.duration(arguments.time_limit)}: written on {units.counted(arguments.ranks, 'rank')}, read by one from cold pages."
        )
        costs, failed, untried = {}, {}, []
        for layout in candidates:
            if costs and launched.left() < 0:
                untried.append(layout)
                continue
            outcome = launched.cost(layout)
            if isinstance(outcome, str):
                failed[layout] = outcome
            else:
                costs[layout] = outcome
    if not costs:
        raise LabError(f"No layout could be had. The first reason: {next(iter(failed.values()))}")
    ranking = sorted(costs, key=lambda layout: costs[layout].total(arguments.mix))
    show(ranking, costs, arguments.mix, console)
    for layout, reason in failed.items():
        console.say(f"Not tried: {layout.label}, {layout.filters}: {reason}")
    if untried:
        console.say(f"No time was left for {units.counted(len(untried), 'layout')} more (--time-limit).")
    console.say("\n" + advice(ranking[0], costs, arguments.mix, len(extent), extent, item_bytes))
    bench.keep(arguments.json, launched.lines)
    return 0


def show(ranking, costs, mix, console):
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("chunk", no_wrap=True)
    table.add_column("filters", no_wrap=True)
    shapes = [shape for shape in chunks.SHAPES if shape in mix]
    for name in ("stored", "write", *(f"{shape}: s, bytes, chunks" for shape in shapes), "mix"):
        table.add_column(name, justify="right")
    for layout in ranking:
        cost = costs[layout]
        cells = [f"{units.seconds(cost.seconds[s])}, {units.size(cost.bytes[s])}, {cost.requests[s]}" for s in shapes]
        total = units.seconds(cost.total(mix))
        table.add_row(layout.label, layout.filters, units.size(cost.stored), units.seconds(cost.seconds["write"]), *cells, total)
    console.print(table)


def advice(best, costs, mix, rank, extent, item_bytes):
    plain = next((layout for layout in costs if layout.chunk == (1, *extent[1:]) and layout.filters == best.filters), None)
    than = ""
    if plain and plain != best:
        than = f", {costs[plain].total(mix) / costs[best].total(mix):.2f} times as fast as a record a chunk with the same filters"
    mixed = ", ".join(f"{count:g} {name}" for name, count in mix.items() if count)
    lines = [
        f"For {mixed}: chunks of {best.label} ({units.size(item_bytes * math.prod(best.chunk))} each), filters: {best.filters}{than}.",
        "",
        "In C:",
        f"  hsize_t chunk[{rank}] = {{{', '.join(map(str, best.chunk))}}};",
        f"  H5Pset_chunk(creation, {rank}, chunk);",
    ]
    keywords = [f"chunks={best.chunk}"]
    if best.filters != "none":
        zstd = "zstd" in best.filters
        lines += ["  H5Pset_shuffle(creation);"]
        lines += ["  H5Pset_filter(creation, 32015, 0, 1, (unsigned[]){3});" if zstd else "  H5Pset_deflate(creation, 1);"]
        keywords += ["shuffle=True", "**hdf5plugin.Zstd(clevel=3)" if zstd else "compression='gzip', compression_opts=1"]
    lines += ["In h5py:", f"  file.create_dataset(name, shape, dtype, maxshape=..., {', '.join(keywords)})"]
    lines += ["", "An unchanged program writes such chunks on all ranks by HDF5_VOL_CONNECTOR=\"slablog under_vol=0;under_info={};"
              "layout=canonical\" (docs/reference/hdf5-connector.md)."]
    return "\n".join(lines)
