"""Tries methods, hints and settings on one pattern by successive halving, confirms the winner against what you do today,
and prints the setting as flags and as lines of C."""

import dataclasses
import json
import os
import pathlib
import shlex
import statistics as standard
import tempfile
import textwrap

from slabmark import apply, cells, file_systems, findings, programs, statistics, units
from slabmark.advise import bench, candidates, chunks_command, ending, halving, pio_command
from slabmark.command_line import a_number, add_launch
from slabmark.errors import InputError, LabError, printable
from slabmark.pattern import making, reading

SHARE_OF_SEARCH = 0.6  # of the time; the rest is for the confirmation
LAUNCHES_TO_CONFIRM = 10  # a side at most; 4 are the fewest with an interval
TRIALS_TO_CONFIRM = 2
# What a launch gets at least, even if the time is spent: seconds, and as a share of all the time.
LEAST_SECONDS, LEAST_SHARE = 10, 0.15


def add_arguments(parser):
    parser.add_argument(
        "pattern",
        metavar="MAP-OR-PATTERN",
        help="a decomposition file, a pattern file, or a subcommand of slabmark-bench with its "
        "options in quotes, such as 'decomp --map f.nc --variables 10'",
    )
    add_launch(parser, "how ranks are started", 4, "number of ranks")
    parser.add_argument(
        "--time", type=a_number(float, 1, 1e7), default=120, metavar="SECONDS", help="to spend in all (default 120)"
    )
    parser.add_argument(
        "-o", "--output-dir", default=".", metavar="FOLDER", help="where the files are written (default .)"
    )
    parser.add_argument(
        "--method",
        type=lambda text: text.split(","),
        metavar="A,B",
        help="only these, such as hdf5-union or 'pnetcdf-*' (default: all of this build that write the format)",
    )
    parser.add_argument(
        "--format",
        choices=["netcdf", "hdf5", "any"],
        help="only ways to write such files; any: also files without header "
        "(default: the format of --today; any with --method)",
    )
    parser.add_argument(
        "--today",
        metavar="METHOD",
        help="what you do today, with which the winner is compared "
        f"(default: the first of {', '.join(candidates.PLAINEST)} that writes the format and is in --method)",
    )
    parser.add_argument("--read", action="store_true", help="advise on reading")
    parser.add_argument("--sync", action="store_true", help="count making the data durable")
    parser.add_argument("--json", metavar="FILE", help="keep the records")
    chunks_command.add_arguments(parser)
    pio_command.add_arguments(parser)


def main(arguments, console):
    if arguments.pio and arguments.chunks:
        raise InputError("--pio and --chunks are two kinds of advice; ask for one of them.")
    if arguments.pio:
        return pio_command.main(arguments, console)
    if arguments.launch is None:
        raise InputError("The following arguments are required: --launch; 'slabmark advise --help' says more.")
    tell = console.say
    bench.check_records(arguments.json)
    if arguments.chunks:
        _existing(arguments.output_dir)
        return chunks_command.main(arguments, pattern_words(arguments.pattern), console)
    environment = programs.environment(arguments.output_dir)
    captured = Captured.of(arguments.pattern).in_build(environment)
    choice = choose(arguments, environment, captured)
    with tempfile.TemporaryDirectory(prefix="slabmark-advise-", dir=_existing(arguments.output_dir)) as scratch:
        launched = Bench(arguments, scratch)
        launched.check()
        what = "files of any kind" if choice.format == "any" else f"{choice.format} files"
        tell(
            f"Trying {units.counted(len(choice.first), 'way')} to {'read' if arguments.read else 'write'} {what} on "
            f"{units.counted(arguments.ranks, 'rank')} for {units.duration(arguments.time)}, to compare the best with "
            f"{choice.today.label}."
        )
        if captured.guess:
            tell(f"The pattern is a guess: {printable(captured.guess)}")
        found = halving.search(
            choice.first,
            launched.seconds,
            lambda: launched.left() - (1 - SHARE_OF_SEARCH) * arguments.time,
            expand=lambda survivors: [more for best in survivors[:2] for more in best.variants(environment["libraries"])],
        )
        if not found.seconds:
            raise LabError(f"No way worked. The first reason: {next(iter(found.failed.values()), 'there was none')}")
        show_search(found, choice.untried, tell)
        winner, today = found.ranking[0], choice.today
        unchanged = captured.unchanged(found.ranking) if captured.level else ending.unchanged_program(winner)
        confirmed = confirm(launched, winner, today, unchanged)
        advised = report(winner, today, confirmed, launched, tell)
        if captured.level:
            tell(in_captured_program(captured, unchanged, today, confirmed))
        elif unchanged:
            tell(in_unchanged_program(unchanged, today, confirmed))
        if captured.guess:
            tell("All of this is of a pattern that is a guess.")
        end(advised, (winner, today), launched, tell)
        launched.keep()  # after the answer, which is not to be lost where there is no room for them
    for lines in file_systems.advice(environment, arguments.output_dir):
        tell(lines)
    return 0


@dataclasses.dataclass(frozen=True)
class Captured:
    """What a pattern file says of the program that it was captured from. All is empty where there was none."""

    level: str = ""  # whose calls were captured
    command: tuple = ()
    guess: str = ""
    hdf5: str = ""  # version
    our_hdf5: str = ""

    LEVELS = ("pnetcdf", "hdf5", "mpiio", "posix")  # what stands above another first: a program may look at its file by that, too
    FORMATS = {"pnetcdf": "netcdf", "hdf5": "hdf5"}  # by level; other programs write files without a header

    @classmethod
    def of(cls, path):
        if not is_pattern_file(path):
            return cls()
        with reading.PatternFile(path) as file:
            asked_for = [opened for opened in file.files if not opened.get("unasked")] or file.files
            there = {opened.get("level", "") for opened in asked_for} if file.origin == "captured" else set()
            level = next((level for level in cls.LEVELS if level in there), "")
            return cls(level, tuple(file.command), file.guess, file.hdf5)

    def in_build(self, environment):
        """Beside this build, and without its level where that cannot make the program's own calls."""
        there = any(m["name"] == candidates.as_captured(self.level).method and not m["missing"] for m in environment["methods"])
        return dataclasses.replace(self, level=self.level if there else "", our_hdf5=environment["libraries"].get("hdf5", ""))

    def takes_no_connector(self):
        """Of this build, since HDF5 1 and 2 are not the same library to a program."""
        return bool(self.hdf5 and self.our_hdf5) and self.hdf5.split(".")[0] != self.our_hdf5.split(".")[0]

    def unchanged(self, ranking):
        """The best of the ways that leave the program as it is; None if that is what it does today, or none was measured."""
        own = candidates.as_captured(self.level)
        best = next((way for way in ranking if way.method == own.method), None)
        return None if best == own else best


def choose(arguments, environment, captured):
    """What to try: of a captured program also ways that leave it as it is, and its own, with which all is compared."""
    today = arguments.today or (candidates.as_captured(captured.level).method if captured.level else None)
    of_level = captured.FORMATS.get(captured.level, "any") if captured.level and not arguments.method else None
    format = arguments.format or of_level
    choice = candidates.choose(environment, arguments.method, today, format)
    if captured.level:
        ways, reasons = candidates.of_captured(environment, captured.level)
        choice.first = ways + [way for way in choice.first if way.method != ways[0].method]
        choice.untried = {name: why for name, why in choice.untried.items() if name != ways[0].method} | reasons
    return choice


def _existing(folder):
    if not pathlib.Path(folder).is_dir():
        raise InputError(f"The folder '{folder}' of --output-dir does not exist.")
    return folder


def pattern_words(text):
    """A file is a pattern or a decomposition; anything else is words of slabmark-bench."""
    if os.path.isfile(text):  # which may be longer than any name of a file
        return ["captured", "--pattern", text] if is_pattern_file(text) else ["decomp", "--map", text]
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"The pattern '{text}' cannot be read: {error}.") from None
    if len(words) < 2:
        raise InputError(
            f"'{text}' is neither a file nor a pattern with options, such as 'decomp --map f.nc --variables 10'."
        )
    return words


def is_pattern_file(text):
    return os.path.isfile(text) and making.is_pattern(text)


class Bench(bench.Bench):
    """Launches of candidates."""

    def __init__(self, arguments, scratch):
        super().__init__(arguments, pattern_words(arguments.pattern), scratch)
        self.records = {}  # by candidate

    def check(self):
        """InputError if the pattern, the launcher or the folder is no good: what moves nothing runs with it."""
        outcome = self._launch(candidates.Candidate("null"), 1, False, self.arguments.time)
        if isinstance(outcome, str):
            raise InputError(f"Nothing can be tried here: {outcome.rstrip('.:')}.")

    def seconds(self, candidate, trials, bound=False, share_of_time=1 / 3):
        """Open-to-close of each trial, or why there is none. No launch may use up what the others need: one that takes
        more than this share of the time that is left is too slow to be advised."""
        limit = max(LEAST_SECONDS, self.arguments.time * LEAST_SHARE, self.left() * share_of_time)
        lines = self._launch(candidate, trials, bound, limit)
        record = lines if isinstance(lines, str) else bench.record_of(lines)
        if isinstance(record, str):
            return record
        if candidate.variables:  # what tells these records from others of the method
            lines = [_with_environment(line, candidate.variables) for line in lines]
            record = bench.record_of(lines)
        self.lines += lines
        if record.unsupported:
            return record.unsupported
        self.records.setdefault(candidate, []).append(record)
        return [trial.open_to_close for trial in record.measured]

    def _launch(self, candidate, trials, bound, limit):
        """Lines of records, or why there are none."""
        flags = [*candidate.flags, *([] if bound else ["--no-bound"])]
        flags += [*(["--read"] if self.arguments.read else []), *(["--sync"] if self.arguments.sync else [])]
        return self.launch(flags, trials, limit, variables=candidate.variables)

    def cell(self, candidate):
        return cells.workloads(self.records[candidate])[0].cells[0] if candidate in self.records else None


def _with_environment(line, environment):
    return json.dumps(json.loads(line) | {"study": {"environment": dict(environment)}}).encode() + b"\n"


def show_search(found, untried, tell):
    tell()
    for number, (members, trials) in enumerate(found.rounds, start=1):
        tell(f"Round {number}: {units.counted(len(members), 'way')}, {units.counted(trials, 'trial')} each.")
    tell("The best, by median seconds from open to close:")
    for candidate in found.ranking[:6]:
        tell(f"  {units.seconds(found.median(candidate)):>9}  {candidate.label}")
    for candidate, reason in found.failed.items():
        tell(f"  {'-':>9}  {candidate.label}: it failed: {reason}")
    reasons = {candidate.label: "the time was over" for candidate in found.untried} | untried
    for reason in dict.fromkeys(reasons.values()):
        tell(f"Not tried: {'; '.join(label for label, why in reasons.items() if why == reason)}: {reason}.")


@dataclasses.dataclass
class Confirmed:
    """Medians of the launches by candidate, and why those failed that did."""

    medians: dict
    failed: dict


def confirm(bench, winner, today, unchanged=None):
    """Launches of all in turns. It ends where one of the first two fails."""
    ways = list(dict.fromkeys([today, winner, *([unchanged] if unchanged else [])]))
    found = Confirmed({way: [] for way in ways}, {})
    if len(ways) == 1:
        return found
    # A slow one gets a single trial without warm-up.
    known = bench.records.get(today)
    slow = known and known[0].measured[0].open_to_close * 4 * (TRIALS_TO_CONFIRM + 1) > bench.left()
    trials = 1 if slow else TRIALS_TO_CONFIRM
    longest = 0.0
    for number in range(LAUNCHES_TO_CONFIRM):
        # Always enough launches for an interval, and then as many as the time allows.
        begun = bench.left()
        if number >= 4 and longest > begun:
            break
        for way in ways[:: (1, -1)[number % 2]]:
            if way in found.failed:
                continue
            outcome = bench.seconds(way, trials, bound=way is winner, share_of_time=1)
            if isinstance(outcome, str):
                found.failed[way] = outcome
                if way in (winner, today):
                    return found
            else:
                found.medians[way].append(standard.median(outcome))
        longest = max(longest, begun - bench.left())
    return found


def report(winner, today, confirmed, bench, tell):
    """Returns which of the two to take."""
    failed = [f"{way.label} failed: {confirmed.failed[way]}" for way in (today, winner) if way in confirmed.failed]
    tell()
    if winner == today:
        tell(f"Nothing was found that is faster than {today.label}.")
    elif failed:
        tell(f"{winner.label} is the fastest that was found. It was not compared with {today.label}, because {failed[0]}")
    else:
        ratio = statistics.ratio(confirmed.medians[today], confirmed.medians[winner])
        tell(conclusion(winner, today, ratio))
        if is_longer(ratio):
            return today
    cell = bench.cell(winner)
    if cell and cell.share is not None:
        tell(f"It reaches {units.percent(cell.share)} of the limit (the same bytes, contiguous).")
    return winner


def in_unchanged_program(unchanged, today, confirmed):
    """What the winner's way brings to a program that stays as it is: measured through the drop-in itself."""
    if reason := confirmed.failed.get(unchanged):
        return f"Through the drop-in, in an unchanged program, it could not be confirmed: {reason}"
    if min(len(confirmed.medians[today]), len(confirmed.medians[unchanged])) == 0:
        return "Through the drop-in, in an unchanged program, it was not measured."
    ratio = statistics.ratio(confirmed.medians[today], confirmed.medians[unchanged])
    calls = f"{unchanged.method} with {apply.LIBRARY} preloaded"
    return f"In an unchanged program, through the drop-in ({calls}), it takes {evidence(ratio, today)}."


def in_captured_program(captured, unchanged, today, confirmed):
    """What may be had without a change of the captured program, and the line that does it."""
    nothing = "Nothing was found that would make the captured program faster without a change of it"
    if unchanged is None:
        return f"{nothing}."
    if unchanged in confirmed.failed or not confirmed.medians[today] or not confirmed.medians[unchanged]:
        why = confirmed.failed.get(unchanged) or confirmed.failed.get(today) or "the time was over."
        return f"{unchanged.label}, which leaves the captured program as it is, could not be confirmed: {why}"
    ratio = statistics.ratio(confirmed.medians[today], confirmed.medians[unchanged])
    if is_longer(ratio):
        return f"{nothing}: {unchanged.label} takes {evidence(ratio, today)}."
    chance = "" if is_shorter(ratio) else ", which may be chance"
    foreign = ""
    if unchanged.way in apply.LAYOUTS and captured.takes_no_connector():
        foreign = (f"\nThe program has HDF5 {captured.hdf5}, and this Slabmark, with its connector, {captured.our_hdf5}: build one of them with "
                   "the HDF5 of the other before.")
    lines = textwrap.indent(ending.applied(unchanged, captured.command or ("./program",), captured.level), "  ")
    return (
        f"Without a change of the captured program, {unchanged.label} takes {evidence(ratio, today)}{chance}.\n\n"
        f"The captured program, unchanged:\n{lines}{foreign}"
    )


def end(advised, compared, bench, tell):
    if measured := bench.cell(advised):
        advised = advised.with_added_hints(measured.first.effective.get("added_hints") or {})
    for heading, lines in ending.parts(advised, bench.template, bench.arguments.ranks).items():
        tell(f"\n{heading}:\n{textwrap.indent(lines, '  ', lambda line: True)}")
    warnings = {}
    for candidate in compared:
        for finding in findings.of_cell(measured) if (measured := bench.cell(candidate)) else ():
            warnings.setdefault(finding.code, (finding, candidate))
    for finding, candidate in warnings.values():
        tell(f"\n{finding.code} ({candidate.label}): {finding.cause}\n    {finding.remedy}")


def is_shorter(ratio):
    """Beyond doubt; without an interval nothing is."""
    return ratio.high is not None and ratio.high < 1


def is_longer(ratio):
    return ratio.low is not None and ratio.low > 1


def evidence(ratio, today):
    interval = "too few for an interval" if ratio.low is None else f"95 % interval {ratio.low:.3g} to {ratio.high:.3g}"
    return f"{ratio.median:.3g} times the seconds of {today.label} ({interval}, {ratio.base}+{ratio.new} launches)"


def conclusion(winner, today, ratio):
    found = evidence(ratio, today)
    if is_shorter(ratio):
        return f"Use {winner.label}: it takes {found}."
    if is_longer(ratio):
        return f"Stay with {today.label}: what looked fastest, {winner.label}, takes {found}."
    return f"Either will do: {winner.label} takes {found}, which may be chance. More --time tells more."
