"""Change points: found soon, dated rightly, and seldom by mistake, on a few of the simulated years of studies/track."""

import pathlib
import sys

import numpy
import pytest
from conftest import LAB

sys.path.insert(0, str(pathlib.Path(LAB.parent, "studies/track")))

import years  # noqa: E402
from slabmark.track import changes  # noqa: E402

PROBABILITY = changes.chance(0.5, 200)


def found_in(values, probability=PROBABILITY):
    [found] = changes.find([(values, numpy.arange(len(values)))], probability)
    return found


@pytest.mark.parametrize("kind", list(years.STEADY))
def test_years_in_which_nothing_lasting_happens_are_quiet(kind):
    """Twenty cells of a store of 200: 0.05 false alarms are allowed, and two happen by chance once in 800 times."""
    cells = [(years.year(kind, (1, seed)), numpy.arange(years.NIGHTS)) for seed in range(20)]
    assert sum(map(len, changes.find(cells, PROBABILITY))) <= 1


def test_what_nights_remember_is_known_from_all_cells_whatever_their_levels_did(monkeypatch):
    """Half alike: of the values' variance 0.39 is that of the nights, so that they correlate by 0.19, 0.10, 0.05, ..."""
    steps = [[(60 + 6 * cell, 1.2)] for cell in range(40)]
    days, known = numpy.arange(years.NIGHTS), []
    estimate = changes._memory
    monkeypatch.setattr(changes, "_memory", lambda *of: known.append(estimate(*of)) or known[-1])
    for kind in ("nights half alike", "and nights 2 %"):
        changes.find([(years.year(kind, (4, number), step), days) for number, step in enumerate(steps)], PROBABILITY)
    alike, apart = (one.at(days) for one in known)
    assert 0.12 < alike[-1, 0] < 0.3 and alike[-1, 0] > alike[-1, 1] > alike[-1, 3]
    assert apart[-1].max() < 0.08 and not alike[:20].any()


def test_odd_nights_are_a_change_only_if_they_are_alike():
    values = years.year("and nights 1 %", 5)
    values[100:104] += numpy.log([1.3, 1.6, 1.9, 1.45])
    assert found_in(values) == []
    values[200:204] += numpy.log(1.5)
    assert [change.found for change in found_in(values)] == [203]


@pytest.mark.parametrize("kind", ["launches 5 %", "and stragglers", "and nights 1 %"])
@pytest.mark.parametrize("ratio", [1.1, 1 / 1.1])
def test_a_lasting_change_by_a_tenth_is_found_within_five_nights(kind, ratio):
    soon, near = 0, 0
    for seed in range(40):
        night = int(numpy.random.default_rng((2, seed)).integers(60, 340))
        found = [change for change in found_in(years.year(kind, (3, seed), [(night, ratio)])) if change.found >= night]
        soon += bool(found) and found[0].found - night < 5
        near += bool(found) and abs(found[0].place - night) <= 1
    assert soon >= 36 and near >= 36, (soon, near)


@pytest.mark.parametrize("kind", ["weekends 5 % faster", "a slow night a week"])
def test_the_habits_of_the_week_hide_a_change_hardly(kind):
    soon = 0
    for seed in range(40):
        found = [change for change in found_in(years.year(kind, (3, seed), [(200, 1.1)])) if change.found >= 200]
        soon += bool(found) and found[0].found < 205
    assert soon >= 30


@pytest.mark.parametrize("nights", [1, 2, 3])
@pytest.mark.parametrize("ratio", [10, 0.1])
def test_outliers_are_no_change_however_far_and_a_change_is_found_beside_them(nights, ratio):
    values = years.year("and stragglers", 5)
    values[100 : 100 + nights] += numpy.log(ratio)
    assert found_in(values) == []
    values[200:] += numpy.log(1.2)
    [change] = found_in(values)
    assert abs(change.place - 200) <= 1


def test_up_and_down_are_two_changes():
    found = found_in(years.year("and nights 1 %", 6, [(100, 1.3), (150, 1 / 1.3), (250, 1.2)]))
    assert [abs(change.place - night) <= 1 for change, night in zip(found, (100, 150, 250), strict=True)] == [True] * 3


def test_what_is_found_at_a_night_depends_on_no_later_night():
    values = years.year("heavy tails", 7, [(90, 1.15), (200, 0.8)])
    whole = found_in(values)
    assert len(whole) == 2
    for last in range(80, 365, 5):
        assert [c.found for c in found_in(values[: last + 1])] == [c.found for c in whole if c.found <= last]


def test_nights_alike_to_the_last_digit_are_no_change_and_too_few_neither():
    assert found_in(numpy.zeros(100)) == [] == found_in(numpy.zeros(0)) == found_in(numpy.r_[numpy.zeros(5), numpy.ones(8)])
    [change] = found_in(numpy.r_[numpy.zeros(60), numpy.ones(6)])
    assert change == changes.Change(60, 63)


def test_a_slow_drift_is_told_as_small_steps_and_not_as_one_far_from_the_truth():
    found = found_in(years.year("drift 20 % a year", 8))
    assert 1 <= len(found) <= 6


def test_fewer_false_alarms_are_had_by_asking_for_fewer():
    values = [years.year("heavy tails", (9, seed)) for seed in range(60)]
    many, few = (sum(len(found_in(one, probability)) for one in values) for probability in (1e-3, 1e-5))
    assert many > 4 * few
