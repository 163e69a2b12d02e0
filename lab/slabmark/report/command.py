"""Makes one HTML page from records that opens offline and prints well; figures as PNG and numbers as CSV, too."""

import csv
import gc
import io
import pathlib

from slabmark import cells, files, records
from slabmark.report import page
from slabmark.terminal import say


def add_arguments(parser):
    parser.add_argument("results", metavar="RESULTS", nargs="+", help="files or folders of records")
    parser.add_argument("-o", "--output", default="report.html", metavar="FILE", help="the page (default report.html)")
    parser.add_argument("--title", help="heading of the page")
    parser.add_argument("--png", metavar="FOLDER", help="also write each figure as a PNG")
    parser.add_argument("--csv", metavar="FOLDER", help="also write cells.csv and trials.csv")
    parser.add_argument("--pool", action="store_true", help="several RESULTS are launches of one measurement")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace files that are there, even such as slabmark did not make"
    )


def main(arguments, console):
    gc.disable()  # nothing is dropped before the end, and looking for it takes a second with 10,000 cells
    collection = records.read(arguments.results, tell_apart=not arguments.pool)
    inputs = [file for path in arguments.results for file in records.record_files(path)]
    outputs = {}  # data by path; all is checked before the first is written

    def add(path, data, ours):
        files.check_output(path, inputs, arguments.overwrite, ours)
        outputs[path] = data

    files.check_output(arguments.output, inputs, arguments.overwrite, files.REPORT)  # before the work
    loads = cells.workloads(collection.records)
    made = page.make(loads, collection, arguments.title, [str(path) for path in arguments.results])
    add(pathlib.Path(arguments.output), made.html.encode("utf-8", "backslashreplace"), files.REPORT)
    if arguments.png:
        for drawing in made.drawings:
            add(_folder(arguments.png) / f"{drawing.name}.png", drawing.data(".png"), files.PICTURE)
    if arguments.csv:
        for name, table in _tables(loads):
            add(_folder(arguments.csv) / name, table.encode("utf-8", "backslashreplace"), files.TABLE)
    for path, data in outputs.items():
        files.write(path, data)
    for skipped in collection.skipped:
        say(console, f"warning: {skipped}")
    if len(arguments.results) > 1:
        how = "are put together" if arguments.pool else "have cells of their own; --pool puts them together"
        say(console, f"The {len(arguments.results)} results {how}.")
    counts = f"{sum(len(load.cells) for load in loads)} cells from {len(collection.records)} records"
    say(
        console,
        f"{arguments.output}: {counts}"
        + (f", {len(collection.failures)} failed launches" if collection.failures else "")
        + ".",
    )
    return 0


def _folder(name):
    folder = pathlib.Path(name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _tables(loads):
    """[(name of a file, its text)]"""
    all_cells = [(load, cell) for load in loads for cell in load.all_cells]
    phases = list(dict.fromkeys([*cells.PHASES, *(name for _, cell in all_cells for name in cell.phases)]))
    return [("cells.csv", _table(all_cells, _cell_row, phases)), ("trials.csv", _table(all_cells, _trial_rows, phases))]


def _table(all_cells, rows_of, phases):
    """CSV with a column for each name that any row has, in the order of their first appearance."""
    rows = [row for load, cell in all_cells for row in rows_of(load, cell)]
    names = list(dict.fromkeys(name for row in rows for name in row if name != "phases"))
    file = io.StringIO(newline="")
    table = csv.DictWriter(file, [*names, *(f"{phase}_seconds" for phase in phases)])
    table.writeheader()
    for row in rows:
        seconds = row.pop("phases")
        table.writerow(row | {f"{phase}_seconds": seconds.get(phase, "") for phase in phases})
    return file.getvalue()


def _cell_row(load, cell):
    s = cell.summary
    yield {
        "workload": load.title,
        "details": load.subtitle,
        "cell": cell.label,
        "method": cell.method,
        "is_limit": cell.is_bound,
        **cell.attributes,
        "bytes": cell.bytes,
        "trials": s.trials,
        "median_seconds": s.median,
        "low_seconds": s.low,
        "high_seconds": s.high,
        "is_range": s.is_range,
        "bytes_per_second": cell.rate[0] if cell.rate else "",
        "share_of_limit": "" if cell.share is None else cell.share,
        "imbalance": cell.imbalance,
        "verified": cell.verified,
        "phases": cell.phases,
    }


def _trial_rows(load, cell):
    for launch, record in enumerate(cell.records):
        for t in record.trials:
            yield {
                "workload": load.title,
                "cell": cell.label,
                "launch": launch,
                "warm_up": t.warm_up,
                "open_to_close_seconds": t.open_to_close,
                "transfer_seconds": t.transfer,
                "overhead_seconds": t.overhead,
                "imbalance": t.imbalance,
                "slowest_rank": t.slowest_rank,
                "slowest_host": t.slowest_host,
                "phases": t.phases,
            }
