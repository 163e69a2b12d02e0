"""What advice says of one pattern: the answer in a sentence, its evidence, and the same as a document."""

import dataclasses
import functools
import math
import statistics as standard
import textwrap
from typing import NamedTuple

from slabmark import apply, documents, statistics, units
from slabmark.advise import bench, candidates, confirming, ending, halving

SHOWN = 6  # of the best


class Conclusion(NamedTuple):
    sentence: str
    advised: candidates.Candidate  # the winner, or what is done today


class Comparison(NamedTuple):
    is_better: bool | None  # than what is done today; None: that may be chance
    words: str  # what follows the name of the way


@dataclasses.dataclass
class Answer:
    winner: candidates.Candidate
    today: candidates.Candidate
    unchanged: candidates.Candidate | None  # the best of the ways that leave the program as it is, if one is better than its own
    confirmed: confirming.Confirmed
    search: halving.Search
    untried: dict = dataclasses.field(default_factory=dict)  # reasons by method
    version: str = ""  # of the library of what is done today

    @functools.cached_property
    def conclusion(self):
        winner, today, confirmed = self.winner, self.today, self.confirmed
        failed = [f"{way.label} failed: {confirmed.failed[way]}" for way in (today, winner) if way in confirmed.failed]
        if winner == today:
            return Conclusion(f"Stay with {today.label}: nothing that was tried is faster.", winner)
        if failed:
            why = failed[0].rstrip(".")
            return Conclusion(f"{winner.label} is the fastest that was found; it was not compared with {today.label}: {why}.", winner)
        found = self.compared(winner)
        if found.is_better:
            return Conclusion(f"Use {winner.label}: it {found.words}.", winner)
        if found.is_better is False:
            return Conclusion(f"Stay with {today.label}: the fastest in the search, {winner.label}, {found.words}.", today)
        if today in confirmed.at_least:
            return Conclusion(f"{winner.label} is the fastest that was found: it {found.words}.", winner)
        return Conclusion(f"Either will do: {winner.label} {found.words}, which may be chance; more --time-limit tells more.", winner)

    def compared(self, way):
        """A way with what is done today."""
        today, confirmed = self.today, self.confirmed
        if today in confirmed.at_least:
            return _compared_with_bound(way, today, confirmed)
        ratio = statistics.ratio(confirmed.medians[today], confirmed.medians[way])
        is_better = True if is_shorter(ratio) else False if is_longer(ratio) else None
        return Comparison(is_better, f"is {times_as_fast(ratio)} as {today.label}{self.version and f' of {self.version}'} here")

    def is_measured(self, way):
        return bool(self.confirmed.medians[way] and (self.confirmed.medians[self.today] or self.today in self.confirmed.at_least))

    @property
    def gains(self):
        """Whether the program is faster without a change, be it by chance."""
        confirmed = self.confirmed
        if self.unchanged is None or self.unchanged in confirmed.failed or not self.is_measured(self.unchanged):
            return False
        if self.today in confirmed.at_least:
            return True
        return statistics.ratio(confirmed.medians[self.today], confirmed.medians[self.unchanged]).median < 1


def _compared_with_bound(way, today, confirmed):
    """Where a launch of today's way took too long to end."""
    seconds, bound = standard.median(confirmed.medians[way]), confirmed.at_least[today]
    takes = f"takes {units.seconds(seconds)} ({units.counted(len(confirmed.medians[way]), 'launch')})"
    if bound <= seconds:
        return Comparison(None, f"{takes}; {today.label} did not end in its time, so which is faster is not known")
    times = units.three_digits(math.floor(bound / seconds * 10) / 10)
    return Comparison(True, f"{takes}, and {today.label} more than {units.seconds(bound)}: at least {times} times as long")


def is_shorter(ratio):
    """Beyond doubt; without an interval nothing is."""
    return ratio.high is not None and ratio.high < 1


def is_longer(ratio):
    return ratio.low is not None and ratio.low > 1


def times_as_fast(ratio):
    """'3.1 times (95 % interval 2.8 to 3.4, 10+10 launches) as fast', of a ratio of seconds."""
    interval = "too few for an interval" if ratio.low is None else f"95 % interval {1 / ratio.high:.3g} to {1 / ratio.low:.3g}"
    return f"{1 / ratio.median:.3g} times ({interval}, {ratio.base}+{ratio.new} launches) as fast"


def evidence(answer):
    """Lines on the search."""
    found = answer.search
    for number, one in enumerate(found.rounds, start=1):
        yield f"Round {number}: {units.counted(len(one.candidates), 'way')}, {units.counted(one.trials, 'trial')} each."
    yield "The best, by median seconds from open to close:"
    for candidate in found.ranking[:SHOWN]:
        yield f"  {units.seconds(found.median(candidate)):>9}  {candidate.label}"
    for candidate, reason in found.failed.items():
        if isinstance(reason, bench.TooLong):
            yield f"  {f'> {units.duration(reason.seconds)}':>9}  {candidate.label}: it was ended"
        else:
            yield f"  {'-':>9}  {candidate.label}: it failed: {reason}"
    reasons = _not_tried(answer)
    for reason in dict.fromkeys(reasons.values()):
        yield f"Not tried: {'; '.join(label for label, why in reasons.items() if why == reason)}: {reason}."


def _not_tried(answer):
    """Reasons by name."""
    return {candidate.label: "the time was over" for candidate in answer.search.untried} | answer.untried


def in_unchanged_program(answer):
    """The winner's gain in a program that stays as it is: measured through the drop-in itself."""
    unchanged = answer.unchanged
    if reason := answer.confirmed.failed.get(unchanged):
        return f"Through the drop-in, in an unchanged program, it could not be confirmed: {reason}"
    if not answer.is_measured(unchanged):
        return "Through the drop-in, in an unchanged program, it was not measured."
    calls = f"{unchanged.method} with {apply.LIBRARY} preloaded"
    return f"In an unchanged program, through the drop-in ({calls}), it {answer.compared(unchanged).words}."


def in_captured_program(captured, answer, with_line=True):
    """What may be had without a change of the captured program, and the line that does it."""
    unchanged, confirmed = answer.unchanged, answer.confirmed
    nothing = "Nothing was found that would make the captured program faster without a change of it"
    if unchanged is None:
        return _no_way_unchanged(captured, answer, nothing)
    if unchanged in confirmed.failed or not answer.is_measured(unchanged):
        why = confirmed.failed.get(unchanged) or confirmed.failed.get(answer.today) or "the time was over."
        return f"{unchanged.label}, which leaves the captured program as it is, could not be confirmed: {why}"
    found = answer.compared(unchanged)
    if found.is_better is False:
        return f"{nothing}: {unchanged.label} {found.words}."
    chance = "" if found.is_better or answer.today in confirmed.at_least else ", which may be chance"
    text = f"Without a change of the captured program, {unchanged.label} {found.words}{chance}."
    if not with_line:
        return text
    lines = textwrap.indent(ending.applied([(unchanged, captured.level)], captured.command or ("./program",)), "  ")
    return f"{text}{foreign_hdf5([(captured, answer)])}\n\nThe captured program, unchanged:\n{lines}"


def _no_way_unchanged(captured, answer, nothing):
    is_of_program = lambda way: way.method == candidates.as_captured(captured.level).method
    if late := [way.label for way in answer.search.untried if is_of_program(way)]:
        return (f"The time was over before {units.counted(len(late), 'way')} could be tried that would leave the captured program as it is "
                f"({'; '.join(late)}), so what these bring is not known. A longer --time-limit tells.")
    failed = [f"{way.label}: {reason}" for way, reason in answer.search.failed.items() if is_of_program(way) and way != answer.today]
    return f"{nothing}. These could not be measured: {'; '.join(failed)}" if failed else f"{nothing}."


def foreign_hdf5(answers):
    """What has to be done before a connector that was found to help can be had. `answers`: of the parts of a program."""
    for captured, found in answers:
        if found.unchanged and found.unchanged.way in apply.LAYOUTS and captured.takes_no_connector():
            return (f"\nThe program has HDF5 {captured.hdf5}, and this Slabmark, with its connector, {captured.our_hdf5}: build one of them with "
                    "the HDF5 of the other before.")
    return ""


def document(answer, captured, arguments):
    """A part of the document of advice."""
    medians, today, winner = answer.confirmed.medians, answer.today, answer.winner
    ratio = statistics.ratio(medians[today], medians[winner]) if winner != today and medians[today] and medians[winner] else None
    seconds = lambda way: standard.median(medians[way]) if medians.get(way) else None
    return documents.PartAdvice(
        part=captured.name if captured.level else "",
        answer=answer.conclusion.sentence,
        direction="read" if arguments.read else "write",
        ranks=arguments.ranks,
        advised=answer.conclusion.advised,
        winner=documents.ConfirmedWay(way=winner, seconds=seconds(winner), at_least=None, launches=len(medians[winner])),
        today=documents.ConfirmedWay(
            way=today, seconds=seconds(today), at_least=answer.confirmed.at_least.get(today), launches=len(medians[today])
        ),
        ratio=ratio,
        tried=[
            documents.TriedWay(way=way, seconds=answer.search.median(way), trials=len(answer.search.seconds[way]))
            for way in answer.search.ranking
        ],
        failed=[documents.LeftOut(name=way.label, reason=str(reason)) for way, reason in answer.search.failed.items()],
        untried=[documents.LeftOut(name=name, reason=reason) for name, reason in _not_tried(answer).items()],
    )
