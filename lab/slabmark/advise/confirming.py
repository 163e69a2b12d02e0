"""The confirmation: launches of the winner and of what is done today, in turns."""

import dataclasses
import statistics as standard

from slabmark import units

LAUNCHES = 10  # a side at most; 4 are the fewest with an interval
FEWEST_LAUNCHES = 4
TRIALS = 2
SECONDS_OF_UNKNOWN = 2.0  # that a launch is taken for where the way was never measured


@dataclasses.dataclass
class Confirmed:
    """Medians of the launches by candidate, and why those failed that did."""

    medians: dict
    failed: dict
    at_least: dict = dataclasses.field(default_factory=dict)  # seconds of what took too long to be measured


def confirm(bench, winner, today, unchanged=None, progress=None):
    """Launches of all in turns. It ends where one of the first two fails, except that today's way may take too long."""
    ways = list(dict.fromkeys([today, winner, *([unchanged] if unchanged else [])]))
    found = Confirmed({way: [] for way in ways}, {})
    if len(ways) == 1:
        return found
    if today in bench.too_long:
        found.at_least[today] = bench.at_least(today, winner)
    # A slow one gets a single trial without warm-up.
    known = bench.records.get(today)
    slow = known and known[0].measured[0].open_to_close * 4 * (TRIALS + 1) > bench.left()
    trials = 1 if slow else TRIALS
    turn = _seconds_of_turn(bench, [way for way in ways if way not in found.at_least], trials)
    expected = max(FEWEST_LAUNCHES, min(LAUNCHES, int(max(bench.left(), 0) / turn)))
    longest = 0.0
    for number in range(LAUNCHES):
        # Always enough launches for an interval, and then as many as the time allows.
        begun = bench.left()
        if number >= FEWEST_LAUNCHES and longest > begun:
            break
        if progress:
            left = max(1, expected - number) * turn
            beyond = f", {units.duration(left - begun)} of it beyond the time that was given" if left - begun > 1 else ""
            progress.at(f"comparing the best with {today.label}, launch {number + 1} of each{beyond}", left)
        for way in ways[:: (1, -1)[number % 2]]:
            if way in found.failed or way in found.at_least:
                continue
            outcome = bench.seconds(way, trials, bound=way is winner, share_of_time=1)
            if way == today and way in bench.too_long and not found.medians[way]:
                found.at_least[way] = bench.at_least(way, winner)
            elif isinstance(outcome, str):
                found.failed[way] = outcome
                if way in (winner, today):
                    return found
            else:
                found.medians[way].append(standard.median(outcome))
        longest = max(longest, begun - bench.left())
    return found


def _seconds_of_turn(bench, ways, trials):
    """Expected of a launch of each, by what the search measured."""
    passes = trials + (trials > 1)  # with the warm-up
    return sum(
        bench.beside[way] + passes * bench.records[way][0].measured[0].open_to_close if way in bench.beside else SECONDS_OF_UNKNOWN
        for way in ways
    )
