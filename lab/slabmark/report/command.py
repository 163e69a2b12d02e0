"""Makes one HTML page from records that opens offline and prints well; figures as PNG and numbers as CSV, too."""

import csv
import gc
import io
import os
import pathlib

from slabmark import cells, command_line, files, records
from slabmark.errors import InputError, printable
from slabmark.report import page


def main(arguments, console):
    if arguments.track is not None:
        return _of_store(arguments)
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
    if arguments.png_dir:
        for drawing in drawings:
            add(_folder(arguments.png_dir) / f"{drawing.name}.png", drawing.data(".png"), files.PICTURE)
    if arguments.csv_dir:
        for name, table in _tables(loads):
            add(_folder(arguments.csv_dir) / name, table.encode("utf-8", "backslashreplace"), files.TABLE)
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


def _of_store(arguments):
    """With the defaults of `track report`, which has more to say of it."""
    if arguments.results or arguments.png_dir or arguments.csv_dir or arguments.pool:
        raise InputError("--track takes -o, --title and --overwrite only; 'slabmark track report' and 'track query' have more.")
    words = [f"--output={arguments.output}", *([f"--title={arguments.title}"] if arguments.title else [])]
    return command_line.run(["track", "report", *words, *["--overwrite"] * arguments.overwrite, "--", arguments.track])


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
