"""Successive halving (Jamieson and Talwalkar 2016): many candidates get few trials, the better half gets twice as many,
until one is left or the time is spent."""

import dataclasses
import math
import random
import statistics
from typing import NamedTuple

from slabmark.advise.bench import TooLong


class Round(NamedTuple):
    candidates: list
    trials: int  # of each


@dataclasses.dataclass
class Search:
    """What was found. `seconds` by candidate holds all trials of those that ran, `failed` the reasons of those that did
    not, `untried` is those for which there was no time."""

    seconds: dict
    failed: dict
    untried: list
    rounds: list[Round]

    def median(self, candidate):
        return statistics.median(self.seconds[candidate])

    @property
    def ranking(self):
        """Best first: what survived longer is better than what was left behind, whatever its one trial said. What was
        measured only in a round that the end of the time cut short stands with the last complete one."""
        survived = {candidate: number for number, one in enumerate(self.rounds) for candidate in one.candidates}
        last = len(self.rounds) - 1
        return sorted(self.seconds, key=lambda candidate: (-survived.get(candidate, last), self.median(candidate)))


def search(candidates, measure, seconds_left, expand=None, seed=1, in_order=False):
    """`measure(candidate, trials)` returns seconds, or a text with the reason of a failure. `seconds_left()` is asked
    before each measurement. `expand(survivors)` adds candidates after the first round. At least one candidate is
    measured, however little time there is. `in_order`: as the candidates stand, and then the best first, so that what the time
    does not reach is what promised least; else in random order."""
    found = Search({}, {}, [], [])
    members, trials = list(candidates), 1
    order = random.Random(seed)
    while members:
        if not in_order:
            order.shuffle(members)
        ran, late = [], 0
        for candidate in members:
            if found.seconds and seconds_left() <= 0:
                break
            outcome = measure(candidate, trials)
            if isinstance(outcome, TooLong) and candidate in found.seconds:
                late += 1  # with more trials than before, which stand
                continue
            if isinstance(outcome, str):
                found.failed[candidate] = outcome
                found.seconds.pop(candidate, None)
                continue
            found.seconds.setdefault(candidate, []).extend(outcome)
            ran.append(candidate)
        tried = found.seconds.keys() | found.failed.keys()
        found.untried = [candidate for candidate in members if candidate not in tried]
        if not ran:
            break
        # A round that the end of the time cut short ranks only what it measured against what it did not.
        complete = len(ran) + late + sum(candidate in found.failed for candidate in members) == len(members)
        if complete or not found.rounds:
            found.rounds.append(Round(ran, trials))
        if not complete:
            break
        survivors = sorted(ran, key=found.median)[: math.ceil(len(ran) / 2)]
        if expand and len(found.rounds) == 1:
            survivors += [more for more in expand(survivors) if more not in found.seconds]
        elif len(ran) <= 2:
            break
        members, trials = survivors, trials * 2
    return found
