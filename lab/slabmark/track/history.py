"""The nights of each cell, out of the store: levels, changes, what else changed, and a verdict."""

import collections
import dataclasses
import datetime
import functools
import itertools
import json
import statistics as standard
import typing

import numpy

from slabmark import cells, compare, statistics, units
from slabmark.compare import FASTER, INCONCLUSIVE, MISSING, SAME, SLOWER
from slabmark.track import changes

UNCHANGED, SHORT = "unchanged", "too few nights"  # no change was found; none can be, yet
OUTSIDE = "outside of the phases"  # the rest of open_to_close
DAY = 86_400_000  # milliseconds
# Nights on either side of a change that its ratio is made of.
MOST_COMPARED = changes.BASELINE
OFTEN = 0.1  # of the nights: what changes more often than that is no news
MOST_GAPS = 3  # as many of its usual gaps may pass until a cell is missing


@dataclasses.dataclass(frozen=True)
class Night:
    """What was measured of a cell from one day's beginning to the next one's."""

    day: int  # since 1970
    median: float  # of the launches' medians, in seconds
    limit: float | None  # the same of the limits beside them
    launches: tuple  # of Launch

    @property
    def date(self):
        return date(self.day)

    @property
    def environment(self):
        return self.launches[0].environment


class StoredCell(typing.NamedTuple):
    """As the store has it, with its launches."""

    history: str
    described: dict
    launches: list


class Launch(typing.NamedTuple):  # there are half a million in a year
    """As the store has it; `columns` name those of `table`."""

    started: int
    median: float
    limit: float | None
    verified: str
    environment: int
    hosts: int
    columns: tuple
    trials: bytes | None

    @property
    def table(self):
        """Seconds: a row a trial, a column a name; no rows if they were pruned."""
        return numpy.frombuffer(self.trials or b"", dtype="<f8").reshape(-1, len(self.columns))


class Phase(typing.NamedTuple):
    """Median seconds of a phase on either side of a change."""

    name: str
    before: float
    after: float


class Difference(typing.NamedTuple):
    """What a night has other than the one before."""

    date: str
    what: str
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class Change:
    """From one level to the next."""

    date: str  # of the first night of the new level
    found: str  # of the night with which it was found
    place: int  # among the nights of the cell
    ratio: statistics.Ratio
    verdict: str
    limit: statistics.Ratio | None  # of the limits beside; None where they are not known
    phase: Phase | None  # that contributes most
    changed: list[Difference]  # what else changed then


class Level(typing.NamedTuple):
    """Nights between two changes, by their places."""

    first: int
    end: int  # the place after the last


class Verdict(typing.NamedTuple):
    verdict: str
    ratio: statistics.Ratio | None  # of the level now to the one that was in force before the last days
    why: str


@dataclasses.dataclass
class History:
    """A cell, with those that only its settings tell from it if never two were measured at a time."""

    described: dict
    nights: list
    environments: dict  # by id: {name: value}
    unverified: list  # dates
    label: str = ""
    changes: list = dataclasses.field(default_factory=list)
    verdict: str = UNCHANGED
    ratio: statistics.Ratio | None = None  # of the level now to the one that was in force before the last days
    why: str = ""

    @property
    def title(self):
        return self.described["title"]

    @property
    def name(self):
        return f"{self.title}: {self.label}"

    @functools.cached_property
    def levels(self):
        places = [0, *(change.place for change in self.changes), len(self.nights)]
        return list(itertools.starmap(Level, itertools.pairwise(places)))

    @property
    def series(self):
        """(logarithms of the nights' seconds, their days)"""
        return numpy.log([night.median for night in self.nights]), numpy.array([night.day for night in self.nights])

    @property
    def latest(self):
        return self.nights[-1]


def date(day):
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=int(day))).isoformat()


@dataclasses.dataclass
class Past:
    """All of a store."""

    histories: list
    environments: dict
    hosts: dict
    newest: int | None  # day of the latest night, or of the latest launch where all had wrong data; None of an empty store
    count: dict  # of cells, launches, trials


def read(store, day_starts=0):
    """A Past without verdicts. `day_starts`: milliseconds after midnight UTC."""
    with store.reading():
        attributes = {number: pair for number, *pair in store.rows("SELECT id, name, value FROM attribute")}
        environments = {
            number: dict(attributes[one] for one in json.loads(text))
            for number, text in store.rows("SELECT id, attributes FROM environment")
        }
        hosts = dict(store.rows("SELECT id, names FROM hosts"))
        layouts = {number: tuple(json.loads(text)) for number, text in store.rows("SELECT id, columns FROM layout")}
        stored = [
            StoredCell(history, json.loads(text), list(_launches(store, number, layouts)))
            for number, history, text in store.rows("SELECT id, history, described FROM cell")
        ]
    stored = [cell for cell in stored if cell.launches]
    launches = [launch for cell in stored for launch in cell.launches]
    if not all(_is_whole(launch, environments, hosts) for launch in launches):
        raise ValueError("a launch lacks a part")
    grouped = collections.defaultdict(list)
    for cell in stored:
        grouped[cell.history].append(cell)
    histories = [_history(cell, day_starts, environments) for group in grouped.values() for cell in _joined(group)]
    _label(histories)
    histories.sort(key=lambda history: (history.title, history.label))
    trials = sum(len(one.trials or b"") // (8 * len(one.columns)) for one in launches)
    good = [night.day for history in histories for night in history.nights]
    newest = max(good or ((cell.launches[-1].started - day_starts) // DAY for cell in stored), default=None)
    return Past(histories, environments, hosts, newest, {"cells": len(histories), "launches": len(launches), "trials": trials})


def _launches(store, cell, layouts):
    rows = store.rows(
        "SELECT started, median, limit_seconds, verified, environment, hosts, layout, trials FROM launch "
        "WHERE cell = ? ORDER BY started, digest",
        cell,
    )
    for *others, layout, trials in rows:
        yield Launch(*others, layouts[layout], trials)


def _is_whole(launch, environments, hosts):
    known = launch.environment in environments and launch.hosts in hosts
    return known and isinstance(launch.trials or b"", bytes) and not len(launch.trials or b"") % (8 * len(launch.columns))


def _joined(group):
    """Cells that follow each other are one, whose settings changed; those that were measured in turns are several."""
    group = sorted(group, key=lambda cell: cell.launches[0].started)
    if all(one.launches[-1].started < other.launches[0].started for one, other in itertools.pairwise(group)):
        return [group[-1]._replace(launches=[launch for cell in group for launch in cell.launches])]
    return group


def _history(cell, day_starts, environments):
    launches = cell.launches
    good, nights = [launch for launch in launches if launch.verified != "no"], []
    day_of = lambda launch: (launch.started - day_starts) // DAY
    if not all(0 < launch.median <= 1e12 and (launch.limit is None or launch.limit >= 0) for launch in good):
        raise ValueError("seconds that are none")
    for day, found in itertools.groupby(good, day_of):
        found = tuple(found)
        limits = [launch.limit for launch in found if launch.limit]
        nights.append(
            Night(day, standard.median([launch.median for launch in found]), standard.median(limits) if limits else None, found)
        )
    unverified = sorted({date(day_of(launch)) for launch in launches if launch.verified == "no"})
    return History(cell.described, nights, environments, unverified)


def _label(histories):
    """By the method, the ranks, and the settings in which cells of one title differ: no two have the same name."""
    taken = collections.Counter()
    by_title = lambda history: history.title
    for _, same in itertools.groupby(sorted(histories, key=by_title), by_title):
        same = list(same)
        for history in same:
            method, ranks = history.described["method"], history.described["ranks"]
            differing = [
                f"{cells.plain(name)}={value}"
                for name, value in history.described["settings"].items()
                if value and name != "ranks" and any(_differs(name, value, other.described["settings"]) for other in same)
            ]
            history.label = ", ".join([method, units.counted(ranks, "rank"), *differing])
            taken[history.name] += 1
            if (number := taken[history.name]) > 1:
                history.label += f" ({number})"


def _differs(name, value, other):
    """An option belongs to some methods only: who lacks it does not differ in it."""
    return other.get(name) != value if name in other or "." not in name else False


def named(past, words):
    """The cells whose names hold all `words`."""
    return [history for history in past.histories if all(word.lower() in history.name.lower() for word in words)]


def judge(past, tolerance, recent, alarms_a_year):
    """Finds the changes of all cells and gives each a verdict on the level now against the one `recent` days ago."""
    found = changes.find([history.series for history in past.histories], changes.chance(alarms_a_year, past.count["cells"]))
    for history, places in zip(past.histories, found, strict=True):
        history.changes = _changes(history, places, tolerance)
        history.verdict, history.ratio, history.why = _verdict(history, past.newest, tolerance, recent)


def _changes(history, found, tolerance):
    nights, made = history.nights, []
    often = _often(history)
    for number, change in enumerate(found):
        first = found[number - 1].place if number else 0
        last = found[number + 1].place if number + 1 < len(found) else len(nights)
        before, after = _beside(nights, first, change.place, last)
        ratio = statistics.ratio([n.median for n in before], [n.median for n in after])
        limits = [[n.limit for n in side if n.limit] for side in (before, after)]
        made.append(
            Change(
                nights[change.place].date,
                nights[change.found].date,
                change.place,
                ratio,
                compare.verdict(ratio, tolerance),
                statistics.ratio(*limits) if all(limits) else None,
                _phase(before, after),
                _what_else(history, change.place, often),
            )
        )
    return made


def _beside(nights, first, place, last):
    return nights[max(first, place - MOST_COMPARED) : place], nights[place : min(last, place + MOST_COMPARED)]


def _phase(before, after):
    """The phase whose median seconds changed most, as far as trials are still there; OUTSIDE where more came from between them."""
    before, after = _phases(before), _phases(after)
    if not before or not after:
        return None
    phases = (Phase(name, before.get(name, 0.0), after.get(name, 0.0)) for name in dict.fromkeys([*before, *after]))
    return max(phases, key=lambda phase: abs(phase.after - phase.before))


def _phases(nights):
    """Median seconds by phase."""
    tables = collections.defaultdict(list)
    for night in nights:
        for launch in night.launches:
            if launch.trials:
                tables[launch.columns].append(launch.trials)
    found = collections.defaultdict(list)
    for columns, blobs in tables.items():
        table = numpy.frombuffer(b"".join(blobs), dtype="<f8").reshape(-1, len(columns))
        for number, name in enumerate(columns[2:], start=2):
            found[name].append(table[:, number])
        found[OUTSIDE].append(table[:, 0] - table[:, 2:].sum(axis=1))
    many = sum(len(b"".join(blobs)) // 8 // len(columns) for columns, blobs in tables.items())
    # A trial without the phase spent no time in it.
    return {
        name: float(numpy.median(numpy.concatenate([*parts, numpy.zeros(many - sum(map(len, parts)))])))
        for name, parts in found.items()
    }


def _differences(history, place):
    """Between a night and the one before."""
    one, other = (history.nights[number].environment for number in (place - 1, place))
    if one == other:
        return []
    before, after = history.environments[one], history.environments[other]
    return [
        Difference(history.nights[place].date, name, before.get(name, "-"), after.get(name, "-"))
        for name in dict.fromkeys([*after, *before])
        if before.get(name) != after.get(name)
    ]


def _often(history):
    """Names of what changes in so many nights that it says nothing."""
    counts = collections.Counter(one.what for place in range(1, len(history.nights)) for one in _differences(history, place))
    return {name for name, count in counts.items() if count > max(3, OFTEN * len(history.nights))}


def _what_else(history, place, often):
    """That night, or else in the night before or after: where a level begins is sometimes a night off."""
    for near in ((place,), (place - 1, place + 1)):
        found = [
            difference
            for at in near
            if 0 < at < len(history.nights)
            for difference in _differences(history, at)
            if difference.what not in often
        ]
        if found:
            return found
    return []


def _verdict(history, newest, tolerance, recent):
    nights = history.nights
    if history.unverified and (not nights or history.unverified[-1] >= nights[-1].date):
        return Verdict(MISSING, None, f"what was read back on {history.unverified[-1]} was wrong")
    gaps = [other.day - one.day for one, other in itertools.pairwise(nights)]
    if newest - nights[-1].day > MOST_GAPS * (standard.median(gaps) if gaps else 1):
        return Verdict(MISSING, None, f"it was last measured on {nights[-1].date}")
    if len(nights) < (fewest := changes.FEWEST + changes.WINDOWS[0]):
        return Verdict(SHORT, None, f"changes are found from {fewest} nights on")
    first, now = history.levels[0], history.levels[-1]
    then = next((level for level in reversed(history.levels) if nights[level.first].day <= newest - recent), first)
    if then == now:
        return Verdict(UNCHANGED, None, "")
    before, after = nights[max(then.first, then.end - MOST_COMPARED) : then.end], nights[now.first :][:MOST_COMPARED]
    ratio = statistics.ratio([n.median for n in before], [n.median for n in after])
    return Verdict(compare.verdict(ratio, tolerance), ratio, f"since {history.changes[-1].date}")


def told(change):
    """A change in sentences: by how much, where the time went, what the limit did, what else changed."""
    yield f"changed on {change.date} ({compare.interval_words(change.ratio)}; found on {change.found})"
    if phase := change.phase:
        where = f"{'' if phase.name == OUTSIDE else 'in '}{phase.name}"
        yield f"most of it {where}: {units.seconds(phase.before)} before, {units.seconds(phase.after)} after"
    if change.limit:
        yield f"the limit beside it: {compare.interval_words(change.limit)}"
    for one in change.changed:
        yield f"{'that day' if one.date == change.date else f'on {one.date}'}: {one.what}: {one.before} -> {one.after}"
    if not change.changed:
        yield "nothing else that records tell of changed then"


def is_over(history, newest, recent):
    """Whether it is so long that the cell was not measured that nobody misses it."""
    return history.verdict == MISSING and bool(history.nights) and newest - history.latest.day > recent


ORDER = (SLOWER, MISSING, INCONCLUSIVE, FASTER, SAME, SHORT, UNCHANGED)  # of the verdicts, the worst first
