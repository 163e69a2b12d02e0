"""Statistics on numbers with known answers, and the error rates of comparisons on simulated noise."""

import itertools
import math
import random
import statistics as standard

import pytest
from conftest import noise
from slabmark import compare, statistics


def test_the_interval_of_10_values_is_the_2nd_and_9th():
    summary = statistics.summarise([10, 1, 9, 2, 8, 3, 7, 4, 6, 5])
    assert (summary.median, summary.low, summary.high, summary.is_range) == (5.5, 2, 9, False)
    assert summary.coverage == pytest.approx(1 - 2 * 11 / 1024)
    assert summary.half_width == pytest.approx(3.5 / 5.5)


def test_30_values_have_the_10th_and_21st():
    assert statistics.median_interval(30)[:2] == (10, 21)


def test_fewer_than_6_values_have_a_range_only():
    summary = statistics.summarise([3, 1, 2, 5, 4])
    assert (summary.low, summary.high, summary.is_range, summary.coverage) == (1, 5, True, 0.9375)
    assert statistics.summarise([]) is None


def test_outliers_are_flagged_at_their_places_and_stay():
    summary = statistics.summarise([1.0, 1.1, 100.0, 0.9, 1.0, 1.05])
    assert summary.outliers == (2,)
    assert summary.trials == 6


def test_the_rank_sum_distribution_is_that_of_all_orders():
    m, n = 4, 5
    counts = [0] * (m * n + 1)
    for places in itertools.combinations(range(m + n), m):
        counts[sum(place - i for i, place in enumerate(places))] += 1
    assert statistics._rank_sum_counts(m, n) == counts


def test_a_known_ratio_is_found_within_its_interval():
    base = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
    ratio = statistics.ratio(base, [2 * value for value in base])
    assert ratio.median == pytest.approx(2.0)
    assert ratio.low < 2 < ratio.high


def test_three_values_a_side_have_no_interval():
    assert statistics.ratio([1, 2, 3], [10, 20, 30]).low is None
    assert statistics.fewest_to_compare(0.05) == 4


def verdicts(count, slowdown, tolerance, repetitions, seed):
    generator = random.Random(seed)
    found = [
        compare.verdict(statistics.ratio(noise(generator, count), noise(generator, count, slowdown)), tolerance)
        for _ in range(repetitions)
    ]
    return {name: found.count(name) / repetitions for name in set(found)}


@pytest.mark.parametrize("count", [4, 6, 10])
def test_unchanged_noise_raises_a_false_alarm_at_most_5_times_in_100(count):
    found = verdicts(count, 1.0, 0.0, 2000, seed=count)
    # The rate is at most 5 % by construction; 3 standard deviations of 2000 draws are 1.5 %.
    assert found.get(compare.SLOWER, 0) + found.get(compare.FASTER, 0) <= 0.05 + 0.015


def test_a_slowdown_by_a_third_is_found_9_times_in_10_with_10_trials():
    assert verdicts(10, 1.33, 0.05, 400, seed=1)[compare.SLOWER] > 0.9


def test_a_speedup_is_called_faster_and_no_change_is_never_called_so_with_a_tolerance():
    assert verdicts(10, 0.7, 0.05, 200, seed=2)[compare.FASTER] > 0.9
    assert (
        compare.FASTER not in verdicts(10, 1.0, 0.05, 200, seed=3)
        or verdicts(10, 1.0, 0.05, 200, seed=3)[compare.FASTER] < 0.03
    )


def test_the_stated_power_is_the_real_one():
    generator = random.Random(5)
    steady = lambda count, scale=1.0: [scale * generator.lognormvariate(0, 0.1) for _ in range(count)]
    stated = sorted(statistics.detectable(steady(10), steady(10), tolerance=0.05) for _ in range(101))[50]
    hits = sum(
        compare.verdict(statistics.ratio(steady(10), steady(10, stated)), 0.05) == compare.SLOWER for _ in range(400)
    )
    assert 0.7 < hits / 400 < 0.9  # 80 % is what it states


def test_as_many_values_as_are_needed_make_a_verdict_clear_eight_times_in_ten():
    generator = random.Random(3)
    even = lambda slow: [slow * math.exp(standard.NormalDist(0, 0.1).inv_cdf((i + 0.5) / 8)) for i in range(8)]
    draw = lambda count, slow: [slow * math.exp(generator.gauss(0, 0.1)) for _ in range(count)]

    def clear(count):
        sides = [(draw(count, 1.0), draw(count, 1.12)) for _ in range(100)]
        return sum(compare.verdict(statistics.ratio(*pair), 0.05) == compare.SLOWER for pair in sides)

    needed = statistics.needed(even(1.0), even(1.12))
    assert clear(needed // 3) < 50 and 70 < clear(needed) < 95
