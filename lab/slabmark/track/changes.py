"""Finds the nights from which a cell's seconds were lastingly other than before, with a stated rate of false alarms.

The logarithms of the nights are compared window by window: the last few nights with what came before them since the change
before. That is the generalised likelihood ratio for a shift of the mean over windows of limited length (Lai, "Sequential
changepoint detection in quality control and dynamical systems", J. R. Statist. Soc. B 57, 1995), with a baseline that is
estimated on the way, as in the change-point model of Hawkins, Qiu and Kang (J. Quality Technology 35, 2003). Nights count by
Huber's bounded score of their distance from the baseline, because with an unbounded one a single outlier is a change
(Fearnhead and Rigaill, "Changepoint detection in the presence of outliers", J. Amer. Statist. Assoc. 114, 2019). What is
found at a night depends on no later one, so that the rate is that of somebody who looks every night. bench/track proves it
on simulated years; docs/track.md tells why not another method.
"""

import dataclasses
import functools
import math

import numpy
from scipy import special

WINDOWS = (4, 5, 6, 8, 12, 20, 40)  # nights; fewer than 4 may be a maintenance, longer ones find what is small
BASELINE = 120  # nights before the window, at most: half a year ago says little of tonight
FEWEST = 10  # nights before the window, at least
BOUND = 2.75  # of a night's score: three outliers in a row are not yet a change, four nights of a real one are
# Nights with the same seconds to the last digit would make any difference infinitely many deviations.
LEAST_DEVIATION = 1e-3
# Where its baseline is short, a deviation is uncertain; Student's quantiles with two degrees of freedom a night keep the rate in
# the simulation of bench/track, early nights as late ones.
FREEDOM = 2
MOST_CORRELATED = 0.9
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


def find(logarithms, probability, days=None):
    """Changes in the logarithms of seconds, a value a night, with a false alarm of either direction in a window of this
    probability. `days`: which days the nights are, one after the other by default. [Change] in the order of the nights."""
    values = numpy.asarray(logarithms, dtype=float)
    days = numpy.arange(len(values)) if days is None else numpy.asarray(days)
    found, start = [], 0
    while change := _first(values, days, start, probability):
        found.append(change)
        start = change.place
    return _placed(values, found)


def _first(values, days, start, probability):
    """The first change after `start`, where the level before it begins."""
    values = values[start:]
    if len(values) < FEWEST + WINDOWS[0]:
        return None
    values = values - _habits(values, days[start:])
    count, middle, deviation, correlation = (column[:, None] for column in _baselines(values))
    windows = numpy.array(WINDOWS)
    padded = numpy.concatenate([values, numpy.full(windows[-1], numpy.nan)])
    nights = numpy.lib.stride_tricks.sliding_window_view(padded, windows[-1])[: len(values)]
    sums = numpy.clip((nights - middle) / deviation, -BOUND, BOUND).cumsum(axis=1)[:, windows - 1]
    # Variance of the sum, and of the baseline's mean, of nights that remember the one before.
    lasting = (1 + correlation) / (1 - correlation)
    own = lasting - 2 * correlation * (1 - correlation**windows) / (windows * (1 - correlation) ** 2)
    scores = sums / numpy.sqrt(_score_variance() * windows * (own + lasting * windows / count))
    limit = -special.stdtrit(FREEDOM * count, probability)
    alarms = (count >= FEWEST) & (numpy.abs(scores) > limit)  # windows that reach beyond the last night are NaN: no alarm
    if not alarms.any():
        return None
    ends = numpy.arange(len(values))[:, None] + windows - 1
    end = ends[alarms].min()
    place, _ = numpy.unravel_index(numpy.where(alarms & (ends == end), numpy.abs(scores), 0).argmax(), scores.shape)
    return Change(start + int(place), start + int(end))


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
