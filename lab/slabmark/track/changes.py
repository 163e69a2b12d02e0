"""Finds the nights from which a cell's seconds were lastingly other than before, with a stated rate of false alarms.

The logarithms of the nights are compared window by window: the last few nights with what came before them since the change
before. That is the generalised likelihood ratio for a shift of the mean over windows of limited length (Lai, "Sequential
changepoint detection in quality control and dynamical systems", J. R. Statist. Soc. B 57, 1995), with a baseline that is
estimated on the way, as in the change-point model of Hawkins, Qiu and Kang (J. Quality Technology 35, 2003). The loss is the
biweight one of Fearnhead and Rigaill ("Changepoint detection in the presence of outliers", J. Amer. Statist. Assoc. 114, 2019):
a night far from a level counts as an outlier of it, for the new level as for the old one, so that odd nights are no change
unless they are alike, and nights of a new level count in full. How much nights remember those before is estimated from all
cells together. What is found at a night depends on no later one, so that the rate is that of somebody who looks every night.
studies/track proves it on simulated years; docs/how-to/track-nights.md tells why not another method.
"""

import dataclasses
import functools
import math

import numpy
from scipy import special

WINDOWS = (4, 5, 6, 8, 12, 20, 40)  # nights; fewer than 4 may be a maintenance, longer ones find what is small
BASELINE = 120  # nights before the window, at most: half a year ago says little of tonight
FEWEST = 10  # nights before the window, at least
BOUND = 2.75  # of a night's score in the baseline (Huber's)
# Nights with the same seconds to the last digit would make any difference infinitely many deviations.
LEAST_DEVIATION = 1e-3
# Where its baseline is short, a deviation is uncertain; Student's quantiles with two degrees of freedom a night keep the rate in
# the simulation of studies/track, early nights as late ones.
FREEDOM = 2
MOST_CORRELATED = 0.9
# Nights that remember those before: up to so many of them, known from the last nights of all cells, anew so often.
LAGS, FAR_LAGS, REMEMBERED, EVERY = 6, (9, 10, 11, 12, 13), 240, 30
ENOUGH = 1000  # nights of all cells, of which half of what is estimated is believed
WEEKS, FEWEST_WEEKS = 17, 5  # before a night, of which the habit of its day of the week is known
HABIT = 3.0  # standard errors beyond which it is one


@dataclasses.dataclass(frozen=True)
class Change:
    place: int  # the first night of the new level
    found: int  # the night with which it was found


@functools.cache
def _score_variance():
    """Of the bounded score of a normal variable."""
    density, tail = math.exp(-(BOUND**2) / 2) / math.sqrt(2 * math.pi), special.ndtr(-BOUND)
    return 1 - 2 * tail - 2 * BOUND * density + 2 * BOUND**2 * tail


def chance(alarms_a_year, cells):
    """The probability with which a window of a night may be taken for a change by mistake, so that all windows of all cells
    in a year of nights make at most so many alarms (Bonferroni)."""
    return alarms_a_year / (365 * max(1, cells) * len(WINDOWS) * 2)


class Series:
    """A cell's nights, and what a search finds in them."""

    def __init__(self, logarithms, days, probability):
        self.values, self.days = numpy.asarray(logarithms, dtype=float), numpy.asarray(days)
        self.probability = probability
        self._windows = functools.cache(self._windows)  # searched twice, mostly from the same night on

    def search(self, memory):
        """[Change] in the order of the nights, not yet moved to where the levels meet best."""
        found, start = [], 0
        while change := self._first(start, memory):
            found.append(change)
            start = change.place
        return found

    def _windows(self, start):
        """Of the nights from `start` on: ends of the windows [night, window], scores of independent nights, count and correlation
        of the baselines [night, 1], and the limit of the scores."""
        values, days = self.values[start:], self.days[start:]
        values = values - _habits(values, days)
        count, middle, deviation, correlation = (column[:, None] for column in _baselines(values))
        padded = numpy.concatenate([values, numpy.full(WINDOWS[-1], numpy.nan)])
        nights = (numpy.lib.stride_tricks.sliding_window_view(padded, WINDOWS[-1])[: len(values)] - middle) / deviation
        # Three nights that are far off alike are no change beside one that is not (a gain of 2 `farthest`^2) or two (of 1).
        sure = -special.ndtri(self.probability)
        farthest = {length: sure * (0.7 if length == WINDOWS[0] else 0.9) for length in WINDOWS}
        gains = numpy.stack([_gain(nights[:, :length], farthest[length]) for length in WINDOWS], axis=1)
        ends = numpy.arange(len(values))[:, None] + numpy.array(WINDOWS) - 1
        limit = numpy.where(count >= FEWEST, -special.stdtrit(FREEDOM * count, self.probability), math.inf)
        return ends, gains, count, correlation, limit

    def _first(self, start, memory):
        """The first change after `start`, where the level before it begins."""
        if len(self.values) - start < FEWEST + WINDOWS[0]:
            return None
        ends, gains, count, correlation, limit = self._windows(start)
        lags = memory.at(self.days[start + numpy.minimum(ends, len(ends) - 1)])
        scores = numpy.abs(gains) / numpy.sqrt(_inflation(numpy.array(WINDOWS), count, correlation, lags))
        alarms = scores > limit  # windows that reach beyond the last night are NaN: no alarm
        if not alarms.any():
            return None
        end = ends[alarms].min()
        place, _ = numpy.unravel_index(numpy.where(alarms & (ends == end), scores, 0).argmax(), scores.shape)
        return Change(start + int(place), start + int(end))


@dataclasses.dataclass(frozen=True)
class Memory:
    """How much nights are like those before, as it was known on a day: from that day on correlations[i], of lags 1, 2, ..."""

    days: numpy.ndarray
    correlations: numpy.ndarray

    def at(self, days):
        """[..., lag]; nothing was known before the first."""
        return numpy.vstack([numpy.zeros(LAGS), self.correlations])[numpy.searchsorted(self.days, days, side="right")]


NO_MEMORY = Memory(numpy.zeros(0, dtype=int), numpy.zeros((0, LAGS)))


def _memory(cells, found):
    """Of all cells together: the median of their robust variograms (Cressie and Hawkins, Math. Geology 12, 1980) in the last
    nights, without the levels that were known by then."""
    nights = [(cell.values, cell.days, changes) for cell, changes in zip(cells, found) if len(cell.days)]
    cells = [(values - _habits(values, days), days, changes) for values, days, changes in nights]
    if not cells:
        return NO_MEMORY
    first, last = min(days[0] for _, days, _ in cells), max(days[-1] for _, days, _ in cells)
    known = numpy.arange(first + 2 * FEWEST, last + 1, EVERY)
    correlations = numpy.zeros((len(known), LAGS))
    for number, day in enumerate(known):
        parts, many = [], 0
        for values, days, changes in cells:
            end = int(numpy.searchsorted(days, day))
            begin = max(0, end - REMEMBERED)
            if end - begin >= FAR_LAGS[-1] + LAGS and days[end - 1] >= day - REMEMBERED:
                places = [change.place - begin for change in changes if change.found < end and change.place > begin]
                part = values[begin:end]
                if places:  # else the level makes no difference
                    part = numpy.concatenate([level - numpy.median(level) for level in numpy.split(part, places)])
                parts.append(_variogram(part))
                many += end - begin
        if parts:
            correlations[number] = numpy.median(parts, axis=0) * many / (many + ENOUGH)
    return Memory(known, correlations)


def _variogram(values):
    """Correlations of nights with those 1, 2, ... before, if none is left at the far lags."""
    lags = numpy.array([*range(1, LAGS + 1), *FAR_LAGS])
    places = numpy.arange(len(values)) - lags[:, None]
    apart = numpy.where(places >= 0, numpy.square(values - values[places]), numpy.inf)  # what is not there comes last
    medians = _medians(apart, len(values) - lags)
    return 1 - medians[:LAGS] / max(medians[LAGS:].mean(), LEAST_DEVIATION**2)


def find(cells, probability):
    """Changes of each cell of a store, [(logarithms of seconds, days)], with a false alarm of either direction in a window of a
    night of a cell of this probability. A list of [Change], each in the order of the nights."""
    cells = [Series(logarithms, days, probability) for logarithms, days in cells]
    memory = _memory(cells, [cell.search(NO_MEMORY) for cell in cells])
    return [_placed(cell.values, cell.search(memory)) for cell in cells]


@numpy.errstate(invalid="ignore")  # of windows that reach beyond the last night
def _gain(nights, farthest):
    """For each row, the root of what its biweight loss gains by a level of its own instead of 0, with the sign of that level."""
    loss = lambda level: numpy.minimum(numpy.square(nights - level), farthest**2).sum(axis=1)
    level = _medians(nights, numpy.full(len(nights), nights.shape[1]))
    for _ in range(2):
        near = numpy.abs(nights - level[:, None]) < farthest
        level = numpy.where(near, nights, 0).sum(axis=1) / numpy.maximum(near.sum(axis=1), 1)
    gain = numpy.maximum(loss(0) - loss(level[:, None]), 0)
    return numpy.where(numpy.isnan(nights[:, -1]), numpy.nan, numpy.sign(level) * numpy.sqrt(gain))


def _inflation(windows, count, correlation, lags):
    """Variance of a window's mean distance from the baseline's mean / that of as many independent nights with a known mean, of
    nights that remember those before: as the cell's own correlation says, or all cells' lags, whatever is more."""
    lasting = (1 + correlation) / (1 - correlation)
    own = lasting - 2 * correlation * (1 - correlation**windows) / (windows * (1 - correlation) ** 2)
    weights = numpy.maximum(1 - numpy.arange(1, LAGS + 1) / windows[:, None], 0)  # [window, lag]
    common, lasts = 1 + 2 * (lags * weights).sum(axis=2), 1 + 2 * lags.sum(axis=2)
    return numpy.maximum(own + lasting * windows / count, common + lasts * windows / count)


def _habits(values, days):
    """By how much a night differs from others because of its day of the week (backups, quiet weekends), as far as the weeks
    before it say so beyond doubt; else 0."""
    week, weekday = numpy.divmod(days - days[0], 7)
    grid = numpy.full((WEEKS + week[-1] + 1, 7), numpy.nan)  # a row a week, after rows of nothing
    grid[WEEKS + week, weekday] = values
    weeks = numpy.lib.stride_tricks.sliding_window_view(grid[:-1], WEEKS, axis=0)  # [week, weekday, weeks before it]
    before = weeks[week, weekday]  # of each night, its own day of the week
    count = numpy.isfinite(before).sum(axis=1)
    known = count >= FEWEST_WEEKS
    if not known.any():
        return numpy.zeros(len(values))
    before, count = before[known], count[known]
    own = _medians(before, count)
    error = 1.2533 * 1.4826 * _medians(numpy.abs(before - own[:, None]), count) / numpy.sqrt(count)
    there, of_night = numpy.unique(week[known], return_inverse=True)
    all_days = weeks[there].reshape(len(there), -1)
    differs = own - _medians(all_days, numpy.isfinite(all_days).sum(axis=1))[of_night]
    habits = numpy.zeros(len(values))
    habits[known] = numpy.where(numpy.abs(differs) > HABIT * error, differs, 0)
    return habits


@numpy.errstate(invalid="ignore")  # of the first night, whose place is a NaN
def _baselines(values):
    """For each night what its BASELINE nights before (or as many as there are) are like: how many they are, a location, a
    deviation that outliers hardly touch, and how much a night is like the one before. Of the first night there is nothing."""
    many = len(values)
    count = numpy.maximum(numpy.minimum(numpy.arange(many), BASELINE), 1)
    padded = numpy.concatenate([numpy.full(BASELINE, numpy.inf), values])
    before = numpy.lib.stride_tricks.sliding_window_view(padded, BASELINE)[:many]
    there = numpy.isfinite(before)
    middle = _medians(before, count)
    distances = numpy.abs(before - middle[:, None])
    # 1.4826 makes it that of a normal distribution; few values make it too small.
    rough = numpy.maximum(1.4826 * _medians(distances, count) * count / numpy.maximum(count - 0.8, 0.2), LEAST_DEVIATION)
    score = lambda: numpy.where(there, numpy.clip((before - middle[:, None]) / rough[:, None], -BOUND, BOUND), 0)
    middle = middle + rough * score().sum(axis=1) / count  # a step of Huber's estimate
    scores = score()
    squares = numpy.maximum((scores**2).sum(axis=1), 1e-9)
    deviation = rough * numpy.sqrt(squares / numpy.maximum(count - 1, 1) / _score_variance())
    correlation = (scores[:, 1:] * scores[:, :-1]).sum(axis=1) / squares - 1 / numpy.sqrt(count)  # beyond chance only
    return count, middle, numpy.maximum(deviation, LEAST_DEVIATION), numpy.clip(correlation, 0, MOST_CORRELATED)


def _medians(rows, count):
    """Of the first `count` of each row's sorted values; what is not there is infinite or NaN, and so comes last."""
    ordered, row = numpy.sort(rows, axis=1), numpy.arange(len(rows))
    return (ordered[row, (count - 1) // 2] + ordered[row, count // 2]) / 2


def _placed(values, found):
    """The windows have few lengths: moves each change to where the two levels meet best, between its neighbours."""
    placed = []
    for number, change in enumerate(found):
        first = placed[-1].place if placed else 0
        last = found[number + 1].place if number + 1 < len(found) else len(values)
        before, after = values[first : change.place], values[change.place : last]
        levels = numpy.median(before[-BASELINE:]), numpy.median(after[:BASELINE])
        lowest, highest = first + 1, min(last - 1, change.found)
        nearer = numpy.abs(values[lowest:highest] - levels[0]) - numpy.abs(values[lowest:highest] - levels[1])
        gains = numpy.concatenate([[0], nearer.cumsum()])  # of the former level for the nights before each place
        placed.append(Change(lowest + int(gains.argmin()), change.found))
    return placed
