"""Makes one HTML page from records that opens offline and prints well; figures as PNG and numbers as CSV, too."""

import csv
import gc
import pathlib

from slabmark import cells, records
from slabmark.errors import InputError
from slabmark.report import page
from slabmark.terminal import say


def add_arguments(parser):
    parser.add_argument("results", metavar="RESULTS", nargs="+", help="files or folders of records")
    parser.add_argument("-o", "--output", default="report.html", metavar="FILE", help="the page (default report.html)")
    parser.add_argument("--title", help="heading of the page")
    parser.add_argument("--png", metavar="FOLDER", help="also write each figure as a PNG")
    parser.add_argument("--csv", metavar="FOLDER", help="also write cells.csv and trials.csv")


def main(arguments, console):
    gc.disable()  # nothing is dropped before the end, and looking for it takes a second with 10,000 cells
    collection = records.read(arguments.results)
    loads = cells.workloads(collection.records)
    made = page.make(loads, collection, arguments.title, [str(path) for path in arguments.results])
    _write(pathlib.Path(arguments.output), made.html)
    if arguments.png:
        folder = _folder(arguments.png)
        for drawing in made.drawings:
            drawing.png(folder / f"{drawing.name}.png")
    if arguments.csv:
        _write_tables(_folder(arguments.csv), loads)
    for skipped in collection.skipped:
        say(console, f"warning: {skipped}")
    counts = f"{sum(len(load.cells) for load in loads)} cells from {len(collection.records)} records"
    say(
        console,
        f"{arguments.output}: {counts}"
        + (f", {len(collection.failures)} failed launches" if collection.failures else "")
        + ".",
    )
    return 0


def _write(path, text):
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"'{path}' cannot be written: {error.strerror}.") from None


def _folder(name):
    folder = pathlib.Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder '{folder}' cannot be made: {error.strerror}.") from None
    return folder


def _write_tables(folder, loads):
    all_cells = [(load, cell) for load in loads for cell in load.all_cells]
    names = list(dict.fromkeys(name for _, cell in all_cells for name in cell.attributes))
    with open(folder / "cells.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            [
                "workload",
                "details",
                "cell",
                "method",
                "is_limit",
                *names,
                "bytes",
                "trials",
                "median_seconds",
                "low_seconds",
                "high_seconds",
                "is_range",
                "bytes_per_second",
                "share_of_limit",
                "imbalance",
                "verified",
                *(f"{phase}_seconds" for phase in cells.PHASES),
            ]
        )
        for load, cell in all_cells:
            s = cell.summary
            table.writerow(
                [
                    load.title,
                    load.subtitle,
                    cell.label,
                    cell.method,
                    cell.is_bound,
                    *(cell.attributes.get(n, "") for n in names),
                    cell.bytes,
                    s.trials,
                    s.median,
                    s.low,
                    s.high,
                    s.is_range,
                    cell.rate[0] if cell.rate else "",
                    "" if cell.share is None else cell.share,
                    cell.imbalance,
                    cell.verified,
                    *(cell.phases.get(phase, "") for phase in cells.PHASES),
                ]
            )
    with open(folder / "trials.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            [
                "workload",
                "cell",
                "launch",
                "warm_up",
                "open_to_close_seconds",
                "transfer_seconds",
                "overhead_seconds",
                "imbalance",
                "slowest_rank",
                "slowest_host",
                *(f"{phase}_seconds" for phase in cells.PHASES),
            ]
        )
        for load, cell in all_cells:
            for launch, record in enumerate(cell.records):
                for t in record.trials:
                    table.writerow(
                        [
                            load.title,
                            cell.label,
                            launch,
                            t.warm_up,
                            t.open_to_close,
                            t.transfer,
                            t.overhead,
                            t.imbalance,
                            t.slowest_rank,
                            t.slowest_host,
                            *(t.phases.get(phase, "") for phase in cells.PHASES),
                        ]
                    )
