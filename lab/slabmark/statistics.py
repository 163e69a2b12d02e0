"""Statistics over trials, as src/bench/measure/statistics defines them, and the comparison of two samples.

Seconds are aggregated first and one rate is derived (docs/explanation/measurement.md). Nothing here assumes a distribution.
"""

import bisect
import dataclasses
import functools
import itertools
import math
import statistics as standard

import numpy
import scipy
from scipy import special

from slabmark.verdicts import TOLERANCE

FEWEST_FOR_INTERVAL = 6
OUTLIER_THRESHOLD = 14.8


@dataclasses.dataclass(frozen=True, slots=True)
class Summary:
    """One quantity over trials, in the unit of the values."""

    trials: int
    median: float
    low: float  # the interval of the median, or the range where is_range
    high: float
    is_range: bool
    coverage: float
    half_width: float  # half the interval's length / median
    outliers: tuple  # places of flagged values


@dataclasses.dataclass(frozen=True, slots=True)
class Ratio:
    """How a new sample stands to a base one: `median` > 1 means that the new seconds are longer."""

    median: float
    low: float | None  # None: too few values for an interval at this confidence
    high: float | None
    base: int  # number of values
    new: int


@functools.cache
def median_interval(count, alpha=0.05):
    """(k, n+1-k, coverage) of the order statistics, from 1, that bound the median with at least 1 - `alpha`; of fewer
    values than that takes, the least and the greatest."""
    if count < fewest_for_interval(alpha):
        return 1, max(count, 1), max(0.0, 1 - 2.0 ** (1 - count)) if count else 0.0
    coverages = 1 - 2 * special.bdtr(range(count // 2), count, 0.5)  # of k = 1, 2, ...: P(k-1 < B < n+1-k)
    first = int((coverages >= 1 - alpha).sum())
    return first, count + 1 - first, float(coverages[first - 1])


def fewest_for_interval(alpha):
    """Values needed before the median has an interval; FEWEST_FOR_INTERVAL at 95 %."""
    return next(count for count in itertools.count(2) if 2.0 ** (1 - count) <= alpha)


def median(values, alpha=0.05):
    """(median, low, high): with the interval of median_interval, or None, None of too few values."""
    ordered = sorted(values)
    first, last, _ = median_interval(len(ordered), alpha)
    few = len(ordered) < fewest_for_interval(alpha)
    return standard.median(ordered), *((None, None) if few else (ordered[first - 1], ordered[last - 1]))


def median_needed(values, other, alpha=0.05, power=0.8):
    """Values with which the interval of the median would leave out `other` with probability `power`, if their median and
    spread stay: normal theory of the logarithms, with the variance pi/2 s^2/n of a median. None beyond MOST_NEEDED."""
    spread, distance = float(numpy.std(numpy.log(values), ddof=1)), abs(math.log(standard.median(values) / other))

    def reached(count):
        level = 1 - median_interval(count, alpha)[2]
        quantiles = special.stdtrit(count - 1, 1 - level / 2) + special.stdtrit(count - 1, power)
        return quantiles * spread * math.sqrt(math.pi / 2 / count) <= distance

    fewest = max(fewest_for_interval(alpha), len(values) + 1)
    return next((count for count in range(fewest, MOST_NEEDED + 1) if reached(count)), None)


def outliers(values):
    """Places of the values that lie more than OUTLIER_THRESHOLD median absolute deviations from the median."""
    middle = standard.median(values)
    distances = [abs(value - middle) for value in values]
    farthest = OUTLIER_THRESHOLD * standard.median(distances)
    return tuple(place for place, distance in enumerate(distances) if distance > farthest)


def summarise(values):
    """None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    first, last, coverage = median_interval(len(ordered))
    middle, low, high = standard.median(ordered), ordered[first - 1], ordered[last - 1]
    half = 0.0 if high == low else (high - low) / 2 / middle if middle else math.inf
    return Summary(
        len(ordered), middle, low, high, len(ordered) < FEWEST_FOR_INTERVAL, coverage, half, outliers(values)
    )


@functools.cache
def _rank_sum_counts(m, n):
    """counts[u]: in how many of the C(m+n, m) orders U = u, by the generating function of Mann and Whitney (1947)."""
    counts = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        # times (1 - q^(n+i)) / (1 - q^i), in place
        for u in range(m * n, n + i - 1, -1):
            counts[u] -= counts[u - n - i]
        for u in range(i, m * n + 1):
            counts[u] += counts[u - i]
    return counts


# Beyond this many pairs the normal approximation of U is good to three digits, and the exact counts are slow.
MOST_EXACT_PAIRS = 2500


@functools.cache
def _cut(m, n, alpha):
    """(c, level): the interval runs from the c-th smallest pair ratio to the c-th greatest, where c is the greatest with
    P(U <= c - 1) <= alpha / 2, or 0 if there is none. It misses with the probability `level`: at most alpha, and less for
    few values."""
    if m * n > MOST_EXACT_PAIRS:
        deviation = math.sqrt(m * n * (m + n + 1) / 12)
        return max(0, math.floor(m * n / 2 + special.ndtri(alpha / 2) * deviation)), alpha
    orders = math.comb(m + n, m)
    below = [0, *itertools.accumulate(_rank_sum_counts(m, n))]  # orders with U < c
    cut = bisect.bisect_right(below, alpha / 2 * orders) - 1
    return cut, 2 * below[cut] / orders


def ratio(base, new, alpha=0.05):
    """Ratio of new to base seconds: the median of all pairwise ratios (Hodges and Lehmann), with the interval that
    inverts the rank-sum test of Wilcoxon, Mann and Whitney. If both samples come from the same distribution, whatever
    it is, the interval excludes 1 with a probability of at most `alpha`."""
    pairs = sorted(b / a for a in base for b in new)
    cut, _ = _cut(len(base), len(new), alpha)
    bounds = (pairs[cut - 1], pairs[-cut]) if cut else (None, None)
    return Ratio(standard.median(pairs), *bounds, len(base), len(new))


def launch_effect(launches):
    """How much more the launches differ than their trials: the ratio F of the mean squares between and within launches
    of the logarithms of the seconds. About 1 if a launch is nothing but its trials. None if there is too little."""
    groups = [[math.log(value) for value in values] for values in launches if len(values) > 1]
    if len(groups) < 3:
        return None
    if all(min(group) == max(group) for group in groups):
        return 1.0 if len(set(map(tuple, groups))) == 1 else math.inf
    return float(scipy.stats.f_oneway(*groups).statistic)


def fewest_to_compare(alpha):
    """Values needed on either side before `ratio` has an interval."""
    return next(count for count in itertools.count(2) if 2 / math.comb(2 * count, count) <= alpha)


def detectable(base, new, alpha=0.05, tolerance=0.0, power=0.8):
    """The slowdown that would be found beyond `tolerance` with probability `power`, given the spread of the two
    samples: normal theory for the logarithms, with the variance pi/3 s^2 (1/m + 1/n) of the Hodges-Lehmann estimate
    and Student's quantiles, since the spread itself is estimated. None where `ratio` has no interval."""
    reach = _reach(_spread(base, new), len(base), len(new), alpha, power)
    return None if reach is None else (1 + tolerance) * math.exp(reach)


MOST_NEEDED = 1000  # values; what needs more is not found by more of the same


def needed(base, new, alpha=0.05, tolerance=TOLERANCE, power=0.8):
    """Values a side with which the verdict on a ratio such as this one would be clear with probability `power`, given
    the spread of the two samples: by the same theory as `detectable`. None beyond MOST_NEEDED."""
    spread, seen = _spread(base, new), abs(math.log(ratio(base, new).median))
    distance = abs(seen - math.log(1 + tolerance))  # to the limit within which it is the same
    counts = range(max(fewest_to_compare(alpha), min(len(base), len(new)) + 1), MOST_NEEDED + 1)
    first = bisect.bisect(counts, False, key=lambda count: _reach(spread, count, count, alpha, power) <= distance)
    return counts[first] if first < len(counts) else None


def _spread(base, new):
    """Standard deviation of the logarithms, pooled; 0 where one value a side tells nothing of it."""
    squares = sum(len(side) * numpy.var(numpy.log(side)) for side in (base, new))
    return math.sqrt(squares / max(1, len(base) + len(new) - 2))


def _reach(spread, m, n, alpha, power):
    """Distance of logarithms that is found with probability `power`; None where there is no interval."""
    (_, level), freedom = _cut(m, n, alpha), m + n - 2
    if not level:
        return None
    quantiles = special.stdtrit(freedom, 1 - level / 2) + special.stdtrit(freedom, power)
    return quantiles * spread * math.sqrt(math.pi / 3 * (1 / m + 1 / n))
