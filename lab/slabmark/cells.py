"""Puts records together: those of one cell from several launches, and the cells of one workload."""

import collections
import dataclasses
import functools
import json
import os
import statistics as standard

from slabmark import statistics, units
from slabmark.errors import printable
from slabmark.terms import PHASES
from slabmark.units import counted


def in_order(phases):
    """Each once, in the order in which they happen, then those that only a newer program knows."""
    there = dict.fromkeys(phases)
    return [phase for phase in PHASES if phase in there] + [phase for phase in there if phase not in PHASES]


class Cell:
    """Pattern × method × settings × conditions, over all launches. The warm-up trials are left out."""

    def __init__(self, records, attributes):
        self.records = records
        self.attributes = attributes  # what may distinguish cells of a workload, as text by name: "ranks", "hint cb_nodes"
        self.label = ""
        self.limit = None  # the faster of the limits under the same conditions, as the workload's table shows it
        self.first = records[0]
        self.title = titles(self.first)[0]
        self.method, self.is_bound = self.first.method, self.first.is_bound
        self.ranks, self.bytes = self.first.pattern["ranks"], self.first.pattern["bytes"]
        launches = [record.measured for record in records if record.measured]
        self.trials = [trial for launch in launches for trial in launch]
        self.seconds = [trial.open_to_close for trial in self.trials]
        # These values are independent, which trials of one launch may not be.
        self.launch_medians = [standard.median(trial.open_to_close for trial in launch) for launch in launches]
        self.summary = statistics.summarise(self.seconds)
        self.transfer = statistics.summarise([trial.transfer for trial in self.trials])

    @functools.cached_property
    def rate(self):
        """Bytes per second: (median, low, high), or None, as of what moves none."""
        s = self.summary
        return (self.bytes / s.median, self.bytes / s.high, self.bytes / s.low) if s and s.low > 0 and self.bytes else None

    @functools.cached_property
    def phases(self):
        """Median seconds by phase, in order; a phase that a trial lacks took 0 s."""
        names = in_order(name for trial in self.trials for name in trial.phases)
        return {name: standard.median(trial.phases.get(name, 0.0) for trial in self.trials) for name in names}

    def median(self, member):
        """Over the trials, of one of their members."""
        return standard.median(getattr(trial, member) for trial in self.trials)

    @functools.cached_property
    def slowest(self):
        """(rank, host) that was slowest in most trials, and the share of the trials in which it was."""
        counts = collections.Counter((trial.slowest_rank, trial.slowest_host) for trial in self.trials)
        place, times = counts.most_common(1)[0]
        return *place, times / len(self.trials)

    @functools.cached_property
    def bound(self):
        """(method, median seconds) of the limit, or None. Of records whose limit's own is not there, the median of theirs."""
        if self.limit:
            return self.limit.method, self.limit.summary.median
        by_method = {}
        for record in self.records:
            for bound in record.bounds:
                by_method.setdefault(bound["method"], []).append(bound["seconds"])
        found = [(standard.median(seconds), method) for method, seconds in by_method.items()]
        return min(found)[::-1] if found else None

    @property
    def share(self):
        """Share of the limit, or None."""
        return self.bound[1] / self.summary.median if self.bound and self.summary and self.summary.median else None

    @property
    def verified(self):
        states = {record.verified["state"] for record in self.records if not record.unsupported}
        return "no" if "no" in states else "not asked" if "not asked" in states else "yes"


@dataclasses.dataclass
class Workload:
    """Cells that move the same pattern in the same direction: what a table compares."""

    title: str
    subtitle: str
    cells: list  # measured, fastest first
    bounds: list
    unsupported: list

    @property
    def all_cells(self):
        return self.cells + self.bounds


# Before the names of what a study's authors may call as they like, or as we call our own: else one hides the other.
HINT, VARIABLE = "hint ", "variable "
# Settings of a pattern that say how a program moved it, not which bytes: h5perf's API, and what it has for chunks.
OF_THE_WAY = ("api", "storage")
OF_FILES = ("map", "pattern")  # settings that name the file that a pattern is made from
# Values that hold for all programs, although only some say so.
UNSAID = {"files": "1"}

DOING = {"read": "Reading", "exchange": "Exchanging"}

frozen = functools.partial(json.dumps, sort_keys=True)  # JSON to compare and to look up by


def map_name(settings):
    """The file of a map, or of a pattern, without its folder; None of a pattern that has none."""
    return next((os.path.basename(settings[name]) for name in OF_FILES if name in settings), None)


def attributes(record):
    """What a user can vary or an upgrade changes, as text by name. Two records of one workload that agree in all of
    them are of one cell. Where several results are read, each has its own cells: two nights are not one sample."""
    manifest = record.manifest
    program, output = manifest.get("program", {}), manifest.get("output", {})
    found = {"ranks": str(record.pattern["ranks"]), "nodes": str(len(manifest.get("hosts", [])) or 1)}
    found |= {name: value for name, value in record.pattern["settings"].items() if name == "storage"}
    found |= {name: str(value) for name, value in sorted(record.settings.get("options", {}).items())}
    found |= {HINT + name: str(value) for name, value in sorted(record.settings.get("hints", {}).items())}
    found |= {VARIABLE + name: str(value) for name, value in sorted(record.study.get("environment", {}).items())}
    libraries = manifest.get("libraries", {})
    found |= {
        "MPI": str(manifest.get("mpi", "")).split(",")[0],
        "MPI-IO": str(manifest.get("mpi_io", "")),
        "HDF5": str(libraries.get("hdf5", "")),
        "PnetCDF": str(libraries.get("pnetcdf", "")),
        "program": str(program.get("name", "")),
        "build": f"{program.get('git_revision', '')} {program.get('build_type', '')}".strip(),
        "file system": output.get("type") or "",
        "mount": output.get("mount_point") or "",
        "results": record.source,
    }
    return {printable(name): printable(value) for name, value in found.items()}


def pattern_identity(record):
    """What makes two records move the same bytes, but for the number of ranks, whatever the program and library are."""
    return (*subject(record), record.direction, record.sync, record.cache)


def subject(record):
    """The same, written or read, under whatever conditions. A map is known by its name and the bytes that it makes, since
    programs are started in different folders."""
    pattern, settings = record.pattern, record.pattern["settings"]
    kept = {name: value for name, value in settings.items() if name not in OF_THE_WAY and UNSAID.get(name) != value}
    if name := map_name(settings):
        kept |= {key: name for key in OF_FILES if key in kept} | {"bytes of all": pattern["bytes"]}
    return pattern["name"], frozen(kept), pattern.get("datasets"), pattern.get("rounds")


def _run_of(record):
    """Records of one command have this in common."""
    manifest = record.manifest
    return record.file, manifest.get("started"), manifest.get("configuration_hash"), frozen(manifest.get("hosts"))


def workloads(records):
    """Groups records into workloads, in the order of their first appearance. A limit belongs to the workload beside
    which it was measured."""
    of_run = {_run_of(record): pattern_identity(record) for record in records if not record.is_bound}
    grouped = collections.defaultdict(list)
    for record in records:
        beside = of_run.get(_run_of(record)) if record.is_bound else None
        grouped[beside or pattern_identity(record)].append(record)
    loads = [_workload(group) for group in grouped.values()]
    _tell_apart(loads)
    return loads


def _tell_apart(loads):
    """Adds to equal titles the settings in which their patterns differ."""
    by_title = collections.defaultdict(list)
    for load in loads:
        first = (load.all_cells + load.unsupported)[0].first
        by_title[load.title].append((load, _described(first.pattern["settings"])))
    for same in by_title.values():
        names = [name for name in same[0][1] if len({settings.get(name) for _, settings in same}) > 1]
        for load, settings in same:
            differing = (f"{name.replace('_', ' ')} {settings[name]}" for name in names if name in settings)
            load.title = ", ".join([load.title, *differing])


def _described(settings):
    """Without what a title has or cells differ in; sizes in bytes as people say them."""
    elsewhere = {*OF_THE_WAY, *(name for name, value in UNSAID.items() if settings.get(name) == value)}
    elsewhere |= {*OF_FILES, "variables"} if map_name(settings) else set()
    return {
        name: units.size(number) if name in ("bytes", "block", "buffer") and (number := units.whole(value)) is not None else value
        for name, value in settings.items()
        if name not in elsewhere
    }


def _workload(records):
    by_key = {}
    for record in records:
        found = attributes(record)
        key = (record.is_bound, record.method, bool(record.unsupported), frozen(found))
        by_key.setdefault(key, (found, []))[1].append(record)
    cells = [Cell(same, found) for found, same in by_key.values()]
    varying = _varying([cell for cell in cells if not cell.is_bound])
    for cell in cells:
        cell.label = _label(cell, varying)
    measured, median = [cell for cell in cells if cell.summary], lambda cell: cell.summary.median
    limits = [cell for cell in measured if cell.is_bound]
    fastest = {_conditions(limit): limit for limit in reversed(sorted(limits, key=median))}
    kept = sorted((cell for cell in measured if not cell.is_bound), key=median)
    for cell in kept:
        cell.limit = fastest.get(_conditions(cell))
    first = next((record for record in records if not record.is_bound), records[0])
    return Workload(*titles(first), kept, limits, [cell for cell in cells if cell.first.unsupported])


def _conditions(cell):
    """Under which a limit is one for a cell: all but the options of either."""
    return frozen({name: value for name, value in cell.attributes.items() if "." not in name})


def _varying(cells):
    """An option belongs to some methods only, so it varies if two cells that have it differ. A hint or a variable of
    the environment that one cell of a method lacks varies, too."""
    values, optional = {}, set()
    for cell in cells:
        optional |= {name for name in cell.attributes if name.startswith((HINT, VARIABLE))}
        for name, value in cell.attributes.items():
            values.setdefault(name, []).append(value)
    return [n for n, found in values.items() if len(set(found)) > 1 or (n in optional and len(found) < len(cells))]


def plain(name):
    """Of an attribute, as labels have it."""
    return name.removeprefix(HINT).removeprefix(VARIABLE)


def _label(cell, varying):
    parts = [printable(cell.method) + (" (limit)" if cell.is_bound else "")]
    for name in varying:
        if (value := cell.attributes.get(name)) not in (None, ""):
            parts.append(counted(value, "rank") if name == "ranks" else f"{plain(name)}={value}")
    return ", ".join(parts)


def titles(record):
    """A heading for the workload of a record, and what else describes it."""
    settings = record.pattern["settings"]
    title = record.pattern["name"]
    if name := map_name(settings):
        variables = settings.get("variables")
        title = name if "pattern" in settings else f"{counted(variables, 'variable') if variables else title} on {name}"
    title = f"{DOING.get(record.direction, 'Writing')} {title}{' (a guess)' if settings.get('guess') else ''}"
    details = [f"{name.replace('_', ' ')} {value}" for name, value in _described(settings).items()]
    if record.cache:
        details.append(f"cache {record.cache}")
    details.append("with sync (fsync)" if record.sync else "without sync (fsync)")
    return printable(title), printable(", ".join(details))
