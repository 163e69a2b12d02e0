"""Makes one HTML page from records that opens offline and prints well; figures as PNG and numbers as CSV, too."""

import csv
import gc
import io
import os
import pathlib

from slabmark import cells, files, records
from slabmark.errors import InputError, printable
from slabmark.report import page


def add_arguments(parser):
    parser.add_argument("results", metavar="RESULTS", nargs="*", help="files or folders of records")
    parser.add_argument("-o", "--output", default="report.html", metavar="FILE", help="the page (default report.html)")
    parser.add_argument("--track", metavar="STORE", help="in place of RESULTS: the page of 'slabmark track report STORE'")
    parser.add_argument("--title", help="heading of the page")
    parser.add_argument("--png", metavar="FOLDER", help="also write each figure as a PNG")
    parser.add_argument("--csv", metavar="FOLDER", help="also write cells.csv and trials.csv")
    parser.add_argument("--pool", action="store_true", help="several RESULTS are launches of one measurement")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace files that are there, even such as slabmark did not make"
    )


def main(arguments, console):
    if arguments.track is not None:
        return _of_store(arguments, console)
    if not arguments.results:
        raise InputError("RESULTS are missing: files or folders of records; or name a store with --track.")
    gc.disable()  # nothing is dropped before the end, and looking for it takes a second with 10,000 cells
    collection = records.read(arguments.results, tell_apart=not arguments.pool)
    inputs = [file for path in arguments.results for file in records.record_files(path)]
    outputs = {}  # data by path; all is checked before the first is written

    def add(path, data, ours):
        files.check_output(path, inputs, arguments.overwrite, ours)
        if (place := os.path.realpath(path)) in outputs:
            raise InputError(f"'{path}' is the name of two outputs; give each its own.")
        outputs[place] = data

    files.check_output(arguments.output, inputs, arguments.overwrite, files.REPORT)  # before the work
    loads = cells.workloads(collection.records)
    html, drawings = page.make(loads, collection, arguments.title, [str(path) for path in arguments.results])
    add(pathlib.Path(arguments.output), html.encode("utf-8", "backslashreplace"), files.REPORT)
    if arguments.png:
        for drawing in drawings:
            add(_folder(arguments.png) / f"{drawing.name}.png", drawing.data(".png"), files.PICTURE)
    if arguments.csv:
        for name, table in _tables(loads):
            add(_folder(arguments.csv) / name, table.encode("utf-8", "backslashreplace"), files.TABLE)
    for path, data in outputs.items():
        files.write(path, data)
    for skipped in collection.skipped:
        console.say(f"warning: {skipped}")
    if len(arguments.results) > 1:
        how = "are put together" if arguments.pool else "have cells of their own; --pool puts them together"
        console.say(f"The {len(arguments.results)} results {how}.")
    counts = f"{sum(len(load.cells) for load in loads)} cells from {len(collection.records)} records"
    failed = f", {len(collection.failures)} failed launches" if collection.failures else ""
    console.say(f"{printable(arguments.output)}: {counts}{failed}.")
    return 0


def _of_store(arguments, console):
    """With the defaults of `track report`, which has more to say of it."""
    if arguments.results or arguments.png or arguments.csv or arguments.pool:
        raise InputError("--track takes -o, --title and --overwrite only; 'slabmark track report' and 'track query' have more.")
    from slabmark.command_line import loaded

    words = ["report", f"--output={arguments.output}", *([f"--title={arguments.title}"] if arguments.title else [])]
    track, parser = loaded("track")
    return track.main(parser.parse_args([*words, *["--overwrite"] * arguments.overwrite, "--", arguments.track]), console)


def _folder(name):
    folder = pathlib.Path(name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _tables(loads):
    """[(name of a file, its text)]"""
    rows = {"cells.csv": [], "trials.csv": []}  # of pairs: members, and seconds by phase
    for load in loads:
        for cell in load.all_cells:
            rows["cells.csv"].append((_cell_row(load, cell), cell.phases))
            for launch, record in enumerate(cell.records):
                rows["trials.csv"] += [(_trial_row(load, cell, launch, trial), trial.phases) for trial in record.trials]
    known = dict.fromkeys([*cells.PHASES, *(phase for _, phases in rows["cells.csv"] for phase in phases)])
    return [(name, _table(found, known)) for name, found in rows.items()]


def _table(rows, phases):
    """CSV with a column for each name that any row has, in the order of their first appearance, and then the phases."""
    file = io.StringIO(newline="")
    names = dict.fromkeys(name for row, _ in rows for name in row)
    table = csv.DictWriter(file, [*names, *(f"{phase}_seconds" for phase in phases)], extrasaction="ignore")
    table.writeheader()
    table.writerows(row | {f"{phase}_seconds": seconds for phase, seconds in took.items()} for row, took in rows)
    return file.getvalue()


def _cell_row(load, cell):
    s = cell.summary
    return {
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
        "imbalance": cell.median("imbalance"),
        "verified": cell.verified,
    }


def _trial_row(load, cell, launch, trial):
    row = {"workload": load.title, "cell": cell.label, "launch": launch, "warm_up": trial.warm_up}
    row |= {f"{name}_seconds": getattr(trial, name) for name in ("open_to_close", "transfer", "overhead")}
    return row | {name: getattr(trial, name) for name in ("imbalance", "slowest_rank", "slowest_host")}
