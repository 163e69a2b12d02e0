"""Puts the page together: what the template shows, from workloads and records."""

import collections
import contextlib
import os
import pathlib

from slabmark import cells, compare, files, findings, programs, units
from slabmark.errors import LabError, printable
from slabmark.report import figures, first_screen, glossary, layout

# A figure takes a third of a second and half a page; beyond these, tables tell the rest.
MOST_DRAWN_WORKLOADS = 8
MOST_OPEN_ROWS = 40
MOST_CELLS_NAMED = 4
MOST_ANSWERS, MOST_SIDE_BY_SIDE = 12, 12
# Of what is in effect; all but the bytes stand elsewhere.
NOT_SHOWN = ("hints", "added hints", "lacks hint", "notes", "library bytes", "library bytes total")


def make(loads, collection, title, sources):
    """The page as text, and its drawings."""
    drawn = {id(load) for load in sorted(loads, key=lambda load: -len(load.cells))[:MOST_DRAWN_WORKLOADS]}
    maps = {}
    sections = [_section(number, load, id(load) in drawn, maps) for number, load in enumerate(loads, start=1)]
    histograms = _histograms(maps)
    verdicts = _verdicts(loads, sources) if len(sources) == 2 else None
    found = findings.grouped(loads)
    html = layout.render(
        "report/page.html.j2",
        title=title or "Slabmark report",
        sources=sources,
        parts=[  # of the page's navigation: anchor, words, whether it is there
            ("verdicts", "Before and after", verdicts),
            ("answers", "Answers", True),
            ("findings", "Worth a look", found),
            ("requests", "Request sizes", histograms),
            ("settings", "Asked for, and in effect", True),
            ("machine", "What ran where", True),
            ("recipe", "How it was measured", True),
            ("words", "Words", True),
        ],
        verdicts=verdicts,
        first_screen=first_screen.rows(loads, found),
        headline=first_screen.headline(loads),
        comparisons=(comparisons := _comparisons(sections))[:MOST_ANSWERS],
        unanswered=len(comparisons) - MOST_ANSWERS,
        sections=sections,
        histograms=histograms,
        findings=found,
        words={"Columns": glossary.COLUMNS, "Phases": glossary.PHASES, "Methods": _methods(loads)},
        machines=machines(collection.records),
        recipe=recipe(collection.records),
        collection=collection,
        most_open=MOST_OPEN_ROWS,
        most_named=MOST_CELLS_NAMED,
    )
    return html, [drawing for section in sections for drawing in section["drawings"]] + histograms


def _verdicts(loads, sources):
    """What `slabmark compare` says of the two results of a report."""
    sides = [[cell for load in loads for cell in load.cells if cell.first.source == source] for source in sources]
    matching = compare.match(*sides)
    if not matching.pairs:
        return None
    heading = f"{sources[1]} against {sources[0]}"
    notes = [f"Not compared: {cell.label}: {why}." for cell, why in matching.missing]
    rows = compare.compare(matching.pairs)
    counts = collections.Counter(row.verdict for row in rows)
    changed = [f"{name}: {base} → {new}" for name, base, new in compare.changes(matching.pairs) if name != "results"]
    notes = [f"Changed: {'; '.join(changed)}."] * bool(changed) + notes
    notes += list(dict.fromkeys(row.note for row in rows if row.note))
    answer = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()) + "."
    return {"heading": heading, "answer": answer[0].upper() + answer[1:], "rows": rows, "notes": notes}


def _section(number, load, is_drawn, maps):
    """One workload as the page shows it."""
    drawings, notes = [], []
    if is_drawn and load.cells:
        drawings = [figures.rates(load, f"rates-{number}"), figures.scaling(load, f"scaling-{number}")]
        if len(load.cells) > figures.MOST_ROWS:
            notes.append(
                f"The figure shows the {figures.MOST_ROWS} fastest of {len(load.cells)} cells; the table has them all."
            )
    elif load.cells:
        notes.append(f"Figures are drawn for the {MOST_DRAWN_WORKLOADS} workloads with the most cells.")
    for cell in load.cells:
        if name := cell.first.pattern["settings"].get("map"):
            maps.setdefault(name, cell.first.file)
    return {
        "anchor": f"workload-{number}",
        "load": load,
        "answer": first_screen.answer(load),
        "drawings": [drawing for drawing in drawings if drawing],
        "notes": notes,
        "settings": _settings(load),
    }


def _comparisons(sections):
    """Workloads that move the same, written or read, in one entry each: its title, its sections, and where there are several
    ways, a table of their rates: columns, and rows of a way each."""
    grouped = collections.defaultdict(list)
    for section in sections:
        load = section["load"]
        grouped[cells.subject((load.all_cells + load.unsupported)[0].first)].append(section)
    found = []
    for same in grouped.values():
        title = same[0]["load"].title
        entry = {"title": title, "sections": same, "columns": [], "rows": []}
        ways = {cell.label: None for section in same for cell in section["load"].cells}
        if len(same) > 1:
            entry["title"] = title.partition(" ")[2][:1].upper() + title.partition(" ")[2][1:]
            by_label = [{cell.label: cell for cell in section["load"].cells} for section in same]
            if 1 < len(ways) <= MOST_SIDE_BY_SIDE:
                entry["columns"] = [_column(section["load"], same) for section in same]
                entry["rows"] = [(way, [cells_of.get(way) for cells_of in by_label]) for way in ways]
        found.append(entry)
    return found


def _column(load, same):
    """Its direction, and the conditions that tell it from the others of that direction."""
    first = load.cells[0].first if load.cells else (load.all_cells + load.unsupported)[0].first
    alike = [other for other in same if other["load"].title.split(" ")[0] == load.title.split(" ")[0]]
    more = [f"cache {first.cache}"] * bool(first.cache) + [f"{'with' if first.sync else 'without'} sync"]
    return load.title.split(" ")[0].lower() + (f" ({', '.join(more)})" if len(alike) > 1 else "")


def _settings(load):
    """[(label, asked for, in effect, notes)] of requested against effective, once for each different set of values."""
    rows = {}
    for cell in load.cells[: figures.MOST_ROWS]:
        settings, effective = cell.first.settings, cell.first.effective
        shown = [*_hints(effective), *((name.replace("_", " "), value) for name, value in effective.items())]
        got = [pair for pair in shown if pair[0] not in NOT_SHOWN and pair[1] not in ({}, [], None)]
        asked = [*settings.get("options", {}).items(), *_hints(settings)]
        rows.setdefault((_pairs(asked), _pairs(got), _notes(effective)), cell.label)
    return [(label, *row) for row, label in rows.items()]


def _notes(effective):
    added = (effective.get("added_hints") or {}).items()
    return (*(effective.get("notes") or ()), *(f"Added: {hint}. {cause}" for hint, cause in added))


def _hints(settings):
    return [(f"hint {name}", value) for name, value in settings.get("hints", {}).items()]


def _pairs(items):
    return tuple((name, _plain(value)) for name, value in items)


def _plain(value):
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_plain(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return "yes" if value is True else "no" if value is False else str(value)


def _methods(loads):
    """What each method of the page does, as far as its records say so."""
    shown = sorted({cell.method: cell.first.method_summary for load in loads for cell in load.all_cells}.items())
    return {printable(name): summary for name, summary in shown if summary}


def machines(records):
    """[(members, number of records, when the first began and the last ended)] of each different set of conditions."""
    groups = {}
    for record in records:
        groups.setdefault(tuple(_conditions(record.manifest).items()), []).append(record.manifest)
    when = lambda end, manifests: [manifest.get(end) or "" for manifest in manifests]
    return [(key, len(same), min(when("started", same)), max(when("ended", same))) for key, same in groups.items()]


def _conditions(manifest):
    program, output = manifest.get("program", {}), manifest.get("output", {})
    hosts, per_node = manifest.get("hosts", []), manifest.get("ranks_per_node") or {}
    return {
        "program": f"{program.get('name')} {program.get('version')}, revision {program.get('git_revision')}, "
        f"{program.get('compiler')}, {program.get('build_type')}",
        "MPI": str(manifest.get("mpi")).split(", package")[0],
        "MPI-IO": str(manifest.get("mpi_io")),
        "libraries": ", ".join(f"{name} {version}" for name, version in manifest.get("libraries", {}).items()),
        "hosts": f"{len(hosts)} ({', '.join(h['name'] for h in hosts[:4])}{', ...' * (len(hosts) > 4)}), at most "
        f"{per_node.get('max')} ranks a node",
        "processor and memory": f"{manifest.get('cores')} cores, {units.size(manifest.get('memory_bytes'))}",
        "kernel": str(manifest.get("kernel")),
        "file system": units.file_system(output),
    }


def recipe(records):
    """What the reader must know of how these records were measured, from the records."""
    measured = [record for record in records if record.measured]
    counts = sorted({len(record.measured) for record in measured} or {0})
    launches = {record.study["launch"] for record in measured if record.study}
    seeds = sorted({str(record.manifest.get("seed")) for record in measured})
    return {
        "trials": " to ".join(map(str, counts[:1] + counts[1:][-1:])),
        "reasons": ", ".join(sorted({str(record.stopping.get("reason")) for record in measured})),
        "warm_up": sum(any(t.warm_up for t in record.trials) for record in measured),
        "records": len(measured),
        "launches": len(launches),
        "seeds": ", ".join(seeds),
        "sync": sum(record.sync for record in measured),
        "verified": sum(record.verified["state"] == "yes" for record in measured),
    }


def _histograms(maps):
    """Request sizes of the decompositions that are still where the records say. `slabmark decomp` reads them."""
    drawings = []
    for number, (name, record_file) in enumerate(list(maps.items())[:MOST_DRAWN_WORKLOADS], start=1):
        if path := find_map(name, record_file):
            with contextlib.suppress(LabError):  # the page is as good without it
                info = [*programs.command("slabmark decomp"), "info", files.as_operand(path), "--json", "-"]
                described = programs.json_of(info, timeout=20)["maps"][:6]
                drawings.append(figures.request_sizes(described, path.name, f"requests-{number}"))
    return drawings


def find_map(name, record_file):
    """A map is named as its command named it: from the folder of that command, which may be that of the records, or one
    above."""
    folders = [pathlib.Path("."), *list(pathlib.Path(record_file).resolve().parents)[:3]]
    return next((folder / name for folder in folders if os.path.isfile(folder / name)), None)
