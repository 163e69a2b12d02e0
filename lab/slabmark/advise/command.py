"""Tries methods, hints and settings on one pattern by successive halving, confirms the winner against what you do today,
and prints the setting as flags and as lines of C."""

import collections
import dataclasses
import json
import math
import os
import pathlib
import shlex
import statistics as standard
import tempfile
import textwrap
import time
import types

from slabmark import apply, cells, file_systems, findings, programs, statistics, units
from slabmark.advise import bench, candidates, chunks_command, code, ending, halving, pio_command
from slabmark.errors import InputError, LabError, printable
from slabmark.pattern import making, reading

SHARE_OF_SEARCH = 0.6  # of the time; the rest is for the confirmation
LAUNCHES_TO_CONFIRM = 10  # a side at most; 4 are the fewest with an interval
TRIALS_TO_CONFIRM = 2
# What a launch gets at least, even if the time is spent: seconds, and as a share of all the time.
LEAST_SECONDS, LEAST_SHARE = 10, 0.15


def main(arguments, console):
    if arguments.pio and arguments.chunks:
        raise InputError("--pio and --chunks are two kinds of advice; ask for one of them.")
    if arguments.pio:
        return pio_command.main(arguments, console)
    if arguments.launch is None:
        raise InputError("--launch is missing. See 'slabmark advise --help'.")
    tell = console.say
    bench.check_records(arguments.json)
    if arguments.chunks:
        _existing(arguments.output_dir)
        return chunks_command.main(arguments, pattern_words(arguments.pattern), console)
    environment = programs.environment(arguments.output_dir)
    parts = [part.in_build(environment) for part in Captured.parts_of(arguments.pattern)]
    busy = list(findings.busy(programs.host_state()["load"], environment.get("cores")))
    # Whatever the user mistyped comes before anything is launched.
    ways = [choose(arguments, environment, part) for part in parts]
    with tempfile.TemporaryDirectory(prefix="slabmark-advise-", dir=_existing(arguments.output_dir)) as scratch:
        if len(parts) == 1:
            arguments.ranks = parts[0].ranks or arguments.ranks
            launched = Bench(arguments, scratch, parts[0].choice)
            launched.check()
            tell_of(busy, tell)
            advise(arguments, environment, parts[0], ways[0], launched, tell)
        else:
            tell_of(busy, tell)
            launched = advise_coupled(arguments, environment, list(zip(parts, ways)), scratch, tell)
        launched.keep()  # after the answer, which is not to be lost where there is no room for them
    for lines in file_systems.advice(environment, arguments.output_dir):
        tell(lines)
    return 0


def tell_of(busy, tell):
    for code_of, cause in busy:
        tell(f"{code_of}: {cause} What follows is uncertain. {findings.REMEDIES[code_of]}")


def advise(arguments, environment, captured, choice, launched, tell):
    """The answer for one pattern, with the lines that apply it at its end."""
    found = compare_ways(arguments, environment, captured, choice, launched, tell)
    if not captured.level and found.unchanged:
        tell(in_unchanged_program(found.unchanged, found.today, found.confirmed))
    if captured.guess:
        tell("All of this is of a pattern that is a guess.")
    end(found, captured, launched, tell)
    if captured.level:
        tell(f"\n{in_captured_program(captured, found)}")


def advise_coupled(arguments, environment, parts, scratch, tell):
    """Of each part of a program that used several libraries or communicators, and then one line for all of it."""
    ready, skipped = [], []
    for number, (part, choice) in enumerate(parts):
        folder = pathlib.Path(scratch) / str(number)
        folder.mkdir()
        given = types.SimpleNamespace(**vars(arguments) | {"ranks": part.ranks, "time_limit": arguments.time_limit / len(parts)})
        launched = Bench(given, folder, part.choice)
        try:
            [line] = launched.check()
            ready.append((part, given, choice, launched, json.loads(line)["pattern"]["bytes"]))
        except InputError as error:
            skipped.append(f"{part.name} cannot be played: {error}")
    if not ready:
        raise InputError(" ".join(skipped))
    ready.sort(key=lambda one: -one[-1])
    total = sum(moved for *_, moved in ready)
    tell("The program has several parts, each with a library and ranks of its own: " + "; ".join(
        f"{part.name} {units.size(moved)} ({units.percent(moved / (total or 1))})" for part, *_, moved in ready) + ".")
    for sentence in skipped:
        tell(sentence)
    answers, lines = [], []
    for part, given, choice, launched, _ in ready:
        tell(f"\n{part.name}:")
        launched.started = time.monotonic()
        try:
            found = compare_ways(given, environment, part, choice, launched, tell)
        except LabError as error:
            tell(str(error))
            continue
        answers.append((part, found))
        lines += launched.lines
        if part.level:
            tell(in_captured_program(part, found, with_line=False))
    gained = [(found.unchanged, part.level) for part, found in answers if part.level and found.gains]
    command = parts[0][0].command or ("./program",)
    if gained:
        tell(f"\nThe captured program, unchanged:\n{textwrap.indent(ending.applied(gained, command), '  ')}{foreign_hdf5(answers)}")
    else:
        tell("\nNo way was confirmed that would make a part of the captured program faster without a change of it.")
    whole = Bench(arguments, scratch)
    whole.lines = lines
    return whole


@dataclasses.dataclass
class Answer:
    winner: object
    today: object
    unchanged: object  # the best of the ways that leave the program as it is, if one is better than its own
    confirmed: object
    search: object
    advised: object  # the winner, or what is done today

    @property
    def gains(self):
        """Whether the program is faster without a change, be it by chance."""
        confirmed = self.confirmed
        if self.unchanged is None or self.unchanged in confirmed.failed or not is_measured(self.unchanged, self.today, confirmed):
            return False
        if self.today in confirmed.at_least:
            return True
        return statistics.ratio(confirmed.medians[self.today], confirmed.medians[self.unchanged]).median < 1


def compare_ways(arguments, environment, captured, choice, launched, tell):
    """Tries ways, confirms the best, and tells about both."""
    what = "files of any kind" if choice.format == "any" else f"{choice.format} files"
    tell(
        f"Trying {units.counted(len(choice.first), 'way')} to {'read' if arguments.read else 'write'} {what} on "
        f"{units.counted(arguments.ranks, 'rank')} for {units.duration(arguments.time_limit)}, to compare the best with "
        f"{choice.today.label}."
    )
    if captured.guess:
        tell(f"The pattern is a guess: {printable(captured.guess)}")
    found = halving.search(
        choice.first,
        launched.seconds,
        lambda: launched.left() - (1 - SHARE_OF_SEARCH) * arguments.time_limit,
        expand=lambda survivors: [more for best in survivors[:2] for more in best.variants(environment["libraries"])],
        in_order=bool(captured.level),
    )
    if not found.seconds:
        raise LabError(f"No way worked. The first reason: {next(iter(found.failed.values()), 'there was none')}")
    show_search(found, choice.untried, tell)
    winner, today = found.ranking[0], choice.today
    unchanged = captured.unchanged(found.ranking) if captured.level else ending.unchanged_program(winner)
    confirmed = confirm(launched, winner, today, unchanged, tell)
    return Answer(winner, today, unchanged, confirmed, found, report(winner, today, confirmed, launched, tell))


@dataclasses.dataclass(frozen=True)
class Captured:
    """What a pattern file says of the program that it was captured from. All is empty where there was none."""

    level: str = ""  # whose calls were captured
    command: tuple = ()
    guess: str = ""
    hdf5: str = ""  # version
    our_hdf5: str = ""
    type: str = ""  # of most of its elements
    ranks: int = 0  # of a part of a program
    choice: tuple = ()  # words that make `slabmark bench` play this part alone

    LEVELS = ("pnetcdf", "hdf5", "mpiio", "posix")  # what stands above another first: a program may look at its file by that, too
    FORMATS = {"pnetcdf": "netcdf", "hdf5": "hdf5"}  # by level; other programs write files without a header

    @property
    def name(self):
        return f"{NAMES[self.level]} on {units.counted(self.ranks, 'rank')}"

    @classmethod
    def of(cls, path):
        if not is_pattern_file(path):
            return cls()
        with reading.PatternFile(path) as file:
            there = {opened.get("level", "") for opened in asked_for(file.files)} if file.origin == "captured" else set()
            level = next((level for level in cls.LEVELS if level in there), "")
            return cls(level, tuple(file.command), file.guess, file.hdf5, type=commonest_type(file.definitions))

    @classmethod
    def parts_of(cls, path):
        """The parts of a program that are played one by one: of each library the files that the same ranks opened together, with
        those that some of them opened alone. One of everything where all is of one kind, or nothing was captured."""
        whole = cls.of(path)
        if not whole.level:
            return [whole]
        with reading.PatternFile(path) as file:
            openers, together = collections.defaultdict(set), collections.defaultdict(int)
            for rank in range(file.ranks):
                for opened in asked_for([file.files[number] for number in set(file.stream("files", rank).tolist())]):
                    key = opened.get("level", ""), opened.get("path", "")
                    openers[key].add(rank)
                    together[key] = max(together[key], opened.get("ranks", 1))
        groups = collections.defaultdict(list)  # paths by level and ranks
        for (level, path_of), ranks in openers.items():
            if together[level, path_of] > 1:
                groups[level, frozenset(ranks)].append(path_of)
        for (level, path_of), ranks in openers.items():
            if together[level, path_of] <= 1:
                of_level = [key for key in groups if key[0] == level]
                key = next((key for key in of_level if ranks <= key[1]), None) or (level, frozenset())
                groups[key].append(path_of)
            of_all = frozenset(range(file.ranks))
        if len(groups) < 2 and all(ranks in (frozenset(), of_all) for _, ranks in groups):
            return [whole]
        many = collections.Counter(level for level, _ in groups)
        made = []
        for (level, ranks), paths in groups.items():
            count = len(ranks) or len(set().union(*(openers[level, one] for one in paths)))
            names = [word for one in paths if many[level] > 1 for word in ("--file", one)]
            made.append(dataclasses.replace(whole, level=level, ranks=count, choice=("--library", level, *names)))
        return made

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


NAMES = {"pnetcdf": "PnetCDF", "hdf5": "HDF5", "mpiio": "MPI-IO", "posix": "POSIX", "": "A library that this build does not have"}


def asked_for(files):
    """Those that a program, or a rank of it, opened through a library; all, if it used none."""
    return [opened for opened in files if not opened.get("unasked")] or files


def commonest_type(definitions):
    """Of the elements of all datasets, as far as lines of code know it."""
    elements = collections.Counter()
    for one in definitions:
        if one.get("kind") == "dataset" and isinstance(one.get("type"), str) and one["type"] in code.TYPES:
            lengths = one.get("maximum") or one.get("extent") or []
            elements[one["type"]] += math.prod(length for length in lengths if isinstance(length, int) and length > 0)
    return elements.most_common(1)[0][0] if elements else ""


def type_in_words(words):
    """Of the variables of a pattern of `slabmark bench`, as its options say."""
    given = dict(zip(words, words[1:])) | dict(word.split("=", 1) for word in words if word.startswith("--") and "=" in word)
    return next((given[name] for name in ("--type", "--real") if given.get(name) in code.TYPES), "float64")


def choose(arguments, environment, captured):
    """What to try: of a captured program also ways that leave it as it is, and its own, with which all is compared."""
    today = arguments.today or (candidates.as_captured(captured.level).method if captured.level else None)
    of_level = captured.FORMATS.get(captured.level, "any") if captured.level and not arguments.method else None
    format = arguments.format or of_level
    choice = candidates.choose(environment, arguments.method, today, format)
    if captured.level:
        ways, reasons = candidates.of_captured(environment, captured.level)
        others = [way for way in choice.first if way.method != ways[0].method]
        is_door = lambda way: way == ways[0] or way.way != apply.NOTHING
        is_rearranged = lambda way: way.method.endswith("-rearranged")
        # In the order of what helped most in programs so far; the time may not reach them all.
        choice.first = [*filter(is_door, ways), *filter(is_rearranged, others), *(way for way in ways if not is_door(way)),
                        *(way for way in others if not is_rearranged(way))]
        choice.untried = {name: why for name, why in choice.untried.items() if name != ways[0].method} | reasons
    return choice


def _existing(folder):
    if not pathlib.Path(folder).is_dir():
        raise InputError(f"The folder '{folder}' of --output-dir does not exist.")
    return folder


def pattern_words(text):
    """A file is a pattern or a decomposition; anything else is words of `slabmark bench`."""
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

    def __init__(self, arguments, scratch, choice=()):
        super().__init__(arguments, [*pattern_words(arguments.pattern), *choice], scratch)
        self.records = {}  # by candidate
        self.beside = {}  # by candidate, the seconds of a launch in which it did not move data
        self.too_long = {}  # by candidate, the seconds that its launch took more than

    def check(self):
        """The lines of a record of what moves nothing. InputError if the pattern, the launcher or the folder is no good for that."""
        outcome = self._launch(candidates.Candidate("null"), 1, False, self.arguments.time_limit)
        if isinstance(outcome, str):
            raise InputError(f"Nothing can be tried here: {outcome.rstrip('.:')}.")
        return outcome

    def at_least(self, candidate, other):
        """Seconds that a trial of a candidate takes at least whose launch took too long: all but what a launch of another one takes
        for all else."""
        return self.too_long[candidate] - self.beside.get(other, 0.0)

    def seconds(self, candidate, trials, bound=False, share_of_time=1 / 3):
        """Open-to-close of each trial, or why there is none. No launch may use up what the others need: one that takes
        more than this share of the time that is left is too slow to be advised."""
        limit = max(LEAST_SECONDS, self.arguments.time_limit * LEAST_SHARE, self.left() * share_of_time)
        begun = time.monotonic()
        lines = self._launch(candidate, trials, bound, limit)
        if isinstance(lines, bench.TooLong) and trials == 1:
            self.too_long[candidate] = lines.seconds
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
        self.beside[candidate] = time.monotonic() - begun - sum(trial.open_to_close for trial in record.trials)
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
        if isinstance(reason, bench.TooLong):
            tell(f"  {f'> {units.duration(reason.seconds)}':>9}  {candidate.label}: it was ended")
        else:
            tell(f"  {'-':>9}  {candidate.label}: it failed: {reason}")
    reasons = {candidate.label: "the time was over" for candidate in found.untried} | untried
    for reason in dict.fromkeys(reasons.values()):
        tell(f"Not tried: {'; '.join(label for label, why in reasons.items() if why == reason)}: {reason}.")


@dataclasses.dataclass
class Confirmed:
    """Medians of the launches by candidate, and why those failed that did."""

    medians: dict
    failed: dict
    at_least: dict = dataclasses.field(default_factory=dict)  # seconds of what took too long to be measured


def confirm(bench, winner, today, unchanged=None, tell=lambda text: None):
    """Launches of all in turns. It ends where one of the first two fails, except that today's way may take too long."""
    ways = list(dict.fromkeys([today, winner, *([unchanged] if unchanged else [])]))
    found = Confirmed({way: [] for way in ways}, {})
    if len(ways) == 1:
        return found
    if today in bench.too_long:
        found.at_least[today] = bench.at_least(today, winner)
    # A slow one gets a single trial without warm-up.
    known = bench.records.get(today)
    slow = known and known[0].measured[0].open_to_close * 4 * (TRIALS_TO_CONFIRM + 1) > bench.left()
    trials = 1 if slow else TRIALS_TO_CONFIRM
    tell(expected_end(bench, [way for way in ways if way not in found.at_least], trials))
    longest = 0.0
    for number in range(LAUNCHES_TO_CONFIRM):
        # Always enough launches for an interval, and then as many as the time allows.
        begun = bench.left()
        if number >= 4 and longest > begun:
            break
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


def expected_end(bench, ways, trials):
    """How long the comparison takes about, and how much of that is beyond --time-limit."""
    passes = trials + (trials > 1)  # with the warm-up
    turn = sum(bench.beside[way] + passes * bench.records[way][0].measured[0].open_to_close if way in bench.beside else 2.0 for way in ways)
    many = max(4, min(LAUNCHES_TO_CONFIRM, int(max(bench.left(), 0) / turn)))
    beyond = many * turn - bench.left()
    more = f", {units.duration(beyond)} of it beyond --time-limit" if beyond > 1 else ""
    return f"Comparing the best takes about {units.duration(max(1, many * turn))} more{more}."


def report(winner, today, confirmed, bench, tell):
    """Returns which of the two to take."""
    failed = [f"{way.label} failed: {confirmed.failed[way]}" for way in (today, winner) if way in confirmed.failed]
    tell()
    if winner == today:
        tell(f"Nothing was found that is faster than {today.label}.")
    elif failed:
        tell(f"{winner.label} is the fastest that was found. It was not compared with {today.label}, because {failed[0]}")
    elif today in confirmed.at_least:
        is_better, words = compared(winner, today, confirmed)
        begin = f"Use {winner.label}" if is_better else f"{winner.label} is the fastest that was found"
        tell(f"{begin}: it takes {words}.")
    else:
        ratio = statistics.ratio(confirmed.medians[today], confirmed.medians[winner])
        tell(conclusion(winner, today, ratio))
        if is_longer(ratio):
            return today
    cell = bench.cell(winner)
    if cell and cell.share is not None:
        tell(f"It reaches {units.percent(cell.share)} of the limit (the same bytes, contiguous).")
    return winner


def compared(way, today, confirmed):
    """(whether a way takes less time than today's, None: that may be chance; what it takes, in words)."""
    if today in confirmed.at_least:
        seconds, bound = standard.median(confirmed.medians[way]), confirmed.at_least[today]
        launches = units.counted(len(confirmed.medians[way]), "launch")
        if bound <= seconds:
            return None, f"{units.seconds(seconds)} ({launches}); {today.label} did not end in its time, so which is faster is not known"
        times = units.three_digits(math.floor(bound / seconds * 10) / 10)
        return True, f"{units.seconds(seconds)} ({launches}), and {today.label} more than {units.seconds(bound)}: at least {times} times as long"
    ratio = statistics.ratio(confirmed.medians[today], confirmed.medians[way])
    return True if is_shorter(ratio) else False if is_longer(ratio) else None, evidence(ratio, today)


def is_measured(way, today, confirmed):
    return bool(confirmed.medians[way] and (confirmed.medians[today] or today in confirmed.at_least))


def in_unchanged_program(unchanged, today, confirmed):
    """What the winner's way brings to a program that stays as it is: measured through the drop-in itself."""
    if reason := confirmed.failed.get(unchanged):
        return f"Through the drop-in, in an unchanged program, it could not be confirmed: {reason}"
    if not is_measured(unchanged, today, confirmed):
        return "Through the drop-in, in an unchanged program, it was not measured."
    calls = f"{unchanged.method} with {apply.LIBRARY} preloaded"
    return f"In an unchanged program, through the drop-in ({calls}), it takes {compared(unchanged, today, confirmed)[1]}."


def in_captured_program(captured, found, with_line=True):
    """What may be had without a change of the captured program, and the line that does it."""
    unchanged, today, confirmed = found.unchanged, found.today, found.confirmed
    nothing = "Nothing was found that would make the captured program faster without a change of it"
    if unchanged is None:
        is_of_program = lambda way: way.method == candidates.as_captured(captured.level).method
        if late := [way.label for way in found.search.untried if is_of_program(way)]:
            return (f"The time was over before {units.counted(len(late), 'way')} could be tried that would leave the captured program as it is "
                    f"({'; '.join(late)}), so what these bring is not known. More --time-limit tells.")
        failed = [f"{way.label}: {reason}" for way, reason in found.search.failed.items() if is_of_program(way) and way != today]
        return f"{nothing}. These could not be measured: {'; '.join(failed)}" if failed else f"{nothing}."
    if unchanged in confirmed.failed or not is_measured(unchanged, today, confirmed):
        why = confirmed.failed.get(unchanged) or confirmed.failed.get(today) or "the time was over."
        return f"{unchanged.label}, which leaves the captured program as it is, could not be confirmed: {why}"
    is_better, words = compared(unchanged, today, confirmed)
    if is_better is False:
        return f"{nothing}: {unchanged.label} takes {words}."
    chance = "" if is_better or today in confirmed.at_least else ", which may be chance"
    text = f"Without a change of the captured program, {unchanged.label} takes {words}{chance}."
    if not with_line:
        return text
    lines = textwrap.indent(ending.applied([(unchanged, captured.level)], captured.command or ("./program",)), "  ")
    return f"{text}{foreign_hdf5([(captured, found)])}\n\nThe captured program, unchanged:\n{lines}"


def foreign_hdf5(answers):
    """What has to be done before a connector that was found to help can be had. `answers`: of the parts of a program."""
    for captured, found in answers:
        if found.unchanged and found.unchanged.way in apply.LAYOUTS and captured.takes_no_connector():
            return (f"\nThe program has HDF5 {captured.hdf5}, and this Slabmark, with its connector, {captured.our_hdf5}: build one of them with "
                    "the HDF5 of the other before.")
    return ""


def end(found, captured, bench, tell):
    advised = found.advised
    if measured := bench.cell(advised):
        advised = advised.with_added_hints(measured.first.effective.get("added_hints") or {})
    type = captured.type or type_in_words(bench.words)
    for heading, lines in ending.parts(advised, bench.template, bench.arguments.ranks, captured.command, type).items():
        tell(f"\n{heading}:\n{textwrap.indent(lines, '  ', lambda line: True)}")
    warnings = {}
    for candidate in (found.winner, found.today):
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
    return f"Either will do: {winner.label} takes {found}, which may be chance. More --time-limit tells more."
