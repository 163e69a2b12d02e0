"""Tries methods, hints and settings on one pattern by successive halving, confirms the winner against what you do today,
and prints the setting as flags and as lines of C."""

import collections
import dataclasses
import json
import math
import os
import pathlib
import shlex
import tempfile
import textwrap
import time
import types

from slabmark import apply, cells, documents, file_systems, findings, programs, units
from slabmark.advise import answers, bench, candidates, chunks_command, code, confirming, ending, halving, pio_command
from slabmark.errors import InputError, LabError, printable
from slabmark.pattern import making, reading
from slabmark.progress import Progress
from slabmark.terminal import Terminal

SHARE_OF_SEARCH = 0.6  # of the time; the rest is for the confirmation
# The least that a launch gets, even if the time is spent: seconds, and as a share of all the time.
LEAST_SECONDS, LEAST_SHARE = 10, 0.15


def main(arguments, console):
    if arguments.pio and arguments.chunks:
        raise InputError("--pio and --chunks are two kinds of advice; ask for one of them.")
    if arguments.pio:
        return pio_command.main(arguments, console)
    if arguments.launch is None:
        raise InputError("--launch is missing. See 'slabmark advise --help'.")
    bench.check_records(arguments.json)
    if arguments.json == documents.PRINT:
        console = Terminal(stderr=True)  # standard output is for programs then
    if arguments.chunks:
        _existing(arguments.output_dir)
        return chunks_command.main(arguments, pattern_words(arguments.pattern), console)
    environment = programs.environment(arguments.output_dir)
    parts = [part.in_build(environment) for part in Captured.parts_of(arguments.pattern)]
    busy = list(findings.busy(programs.host_state()["load"], environment.get("cores")))
    # Typing errors of the user are found before anything is launched.
    ways = [choose(arguments, environment, part) for part in parts]
    with tempfile.TemporaryDirectory(prefix="slabmark-advise-", dir=_existing(arguments.output_dir)) as scratch, Progress() as progress:
        if len(parts) == 1:
            found = advise(arguments, environment, parts[0], ways[0], scratch, progress)
        else:
            found = advise_coupled(arguments, environment, list(zip(parts, ways)), scratch, progress)
    console.say(found.answer)
    for finding, cause in busy:
        console.say(f"{finding}: {cause} This answer is uncertain. {findings.REMEDIES[finding]}")
    for lines in found.details:
        console.say(lines)
    # After the answer, which is not to be lost where there is no room for them.
    bench.keep(arguments.json, [*found.records, documents.line(found.document)])
    for lines in file_systems.advice(environment, arguments.output_dir):
        console.say(lines)
    return 0


@dataclasses.dataclass
class Advice:
    answer: str
    details: list[str]
    records: list[bytes]  # lines
    document: documents.Advice


def advise(arguments, environment, captured, choice, scratch, progress):
    """Of one pattern, with the lines that apply the answer at its end."""
    arguments.ranks = captured.ranks or arguments.ranks
    launched = Bench(arguments, scratch, captured.choice)
    launched.check()
    found = compare_ways(arguments, environment, captured, choice, launched, progress)
    details = [*details_of(arguments, captured, choice, found, launched), *end(found, captured, launched)]
    if captured.level:
        details.append(f"\n{answers.in_captured_program(captured, found)}")
    line = ""
    if captured.level and found.gains:
        line = ending.applied([(found.unchanged, captured.level)], captured.command or ("./program",))
    sentence = found.conclusion.sentence
    part = answers.document(found, captured, arguments)
    return Advice(sentence, details, launched.lines, documents.Advice(answer=sentence, apply=line, parts=[part]))


def advise_coupled(arguments, environment, parts, scratch, progress):
    """Of each part of a program that used several libraries or communicators, with one line for all of it."""
    ready, skipped = _playable(arguments, parts, scratch)
    total = sum(one.bytes for one in ready) or 1
    shares = "; ".join(f"{one.part.name} {units.size(one.bytes)} ({units.percent(one.bytes / total)})" for one in ready)
    details = [f"The program has several parts, each with a library and ranks of its own: {shares}.", *skipped]
    found, records, made = [], [], []
    for number, one in enumerate(ready, start=1):
        progress.later = (len(ready) - number) * one.arguments.time_limit
        one.bench.started = time.monotonic()
        details.append(f"\n{one.part.name}:")
        try:
            answer = compare_ways(one.arguments, environment, one.part, one.choice, one.bench, progress)
        except LabError as error:
            details.append(str(error))
            continue
        details += [answer.conclusion.sentence, *details_of(one.arguments, one.part, one.choice, answer, one.bench)]
        found.append((one.part, answer))
        records += one.bench.lines
        made.append(answers.document(answer, one.part, one.arguments))
        if one.part.level:
            details.append(answers.in_captured_program(one.part, answer, with_line=False))
    gained = [(part, answer) for part, answer in found if part.level and answer.gains]
    line, sentence = "", "No way was confirmed that would make a part of the captured program faster without a change of it."
    if gained:
        command = parts[0][0].command or ("./program",)
        line = ending.applied([(answer.unchanged, part.level) for part, answer in gained], command)
        gains = "; ".join(f"{part.name} by {answer.unchanged.label}, which {answer.compared(answer.unchanged).words}" for part, answer in gained)
        sentence = f"Run the captured program by the last line: it stays unchanged and gains {gains}."
        details.append(f"\nThe captured program, unchanged:\n{textwrap.indent(line, '  ')}{answers.foreign_hdf5(found)}")
    return Advice(sentence, details, records, documents.Advice(answer=sentence, apply=line, parts=made))


@dataclasses.dataclass
class Playable:
    """A part of a program that can be played."""

    part: "Captured"
    arguments: types.SimpleNamespace
    choice: candidates.Choice
    bench: "Bench"
    bytes: int


def _playable(arguments, parts, scratch):
    """([Playable], the largest first; sentences on those that cannot be played)."""
    ready, skipped = [], []
    for number, (part, choice) in enumerate(parts):
        folder = pathlib.Path(scratch) / str(number)
        folder.mkdir()
        given = types.SimpleNamespace(**vars(arguments) | {"ranks": part.ranks, "time_limit": arguments.time_limit / len(parts)})
        launched = Bench(given, folder, part.choice)
        try:
            [line] = launched.check()
            ready.append(Playable(part, given, choice, launched, json.loads(line)["pattern"]["bytes"]))
        except InputError as error:
            skipped.append(f"{part.name} cannot be played: {error}")
    if not ready:
        raise InputError(" ".join(skipped))
    return sorted(ready, key=lambda one: -one.bytes), skipped


def compare_ways(arguments, environment, captured, choice, launched, progress):
    """Tries ways, and confirms the best against what is done today."""
    search_ends = (1 - SHARE_OF_SEARCH) * arguments.time_limit  # seconds before the end of the time

    def measure(candidate, trials):
        progress.at(f"trying {candidate.label}, {units.counted(trials, 'trial')}", launched.left())
        return launched.seconds(candidate, trials)

    found = halving.search(
        choice.first,
        measure,
        lambda: launched.left() - search_ends,
        expand=lambda survivors: [more for best in survivors[:2] for more in best.variants(environment["libraries"])],
        in_order=bool(captured.level),
    )
    if not found.seconds:
        raise LabError(f"No way worked. The first reason: {next(iter(found.failed.values()), 'there was none')}")
    winner, today = found.ranking[0], choice.today
    unchanged = captured.unchanged(found.ranking) if captured.level else ending.unchanged_program(winner)
    confirmed = confirming.confirm(launched, winner, today, unchanged, progress)
    return answers.Answer(winner, today, unchanged, confirmed, found, choice.untried, version_of(today, environment, captured))


def version_of(candidate, environment, captured):
    """Name and version of the library that a method writes by; empty where the method needs none."""
    name = captured.level or candidates.library(candidate.method)
    version = environment["libraries"].get(name)
    return f"{NAMES[name]} {version}" if version and name in NAMES else ""


def details_of(arguments, captured, choice, found, launched):
    """Lines that follow the answer."""
    cell = launched.cell(found.conclusion.advised)
    if cell and cell.share is not None:
        yield f"It reaches {units.percent(cell.share)} of the limit (the same bytes, contiguous)."
    if not captured.level and found.unchanged:
        yield answers.in_unchanged_program(found)
    if captured.guess:
        yield f"The pattern is a guess, and so is all of this: {printable(captured.guess)}"
    what = "files of any kind" if choice.format == "any" else f"{choice.format} files"
    yield (
        f"\nTried {units.counted(len(found.search.seconds) + len(found.search.failed), 'way')} to "
        f"{'read' if arguments.read else 'write'} {what} on {units.counted(arguments.ranks, 'rank')}, then compared the best with "
        f"{found.today.label}."
    )
    yield from answers.evidence(found)


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
            names = [word for one in paths if many[level] > 1 for word in ("--only-file", one)]
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


def end(found, captured, bench):
    """The lines that apply the answer, and warnings."""
    advised = found.conclusion.advised
    if measured := bench.cell(advised):
        advised = advised.with_added_hints(measured.first.effective.get("added_hints") or {})
    type = captured.type or type_in_words(bench.words)
    for heading, lines in ending.parts(advised, bench.template, bench.arguments.ranks, captured.command, type).items():
        yield f"\n{heading}:\n{textwrap.indent(lines, '  ', lambda line: True)}"
    warnings = {}
    for candidate in (found.winner, found.today):
        for finding in findings.of_cell(measured) if (measured := bench.cell(candidate)) else ():
            warnings.setdefault(finding.code, (finding, candidate))
    for finding, candidate in warnings.values():
        yield f"\n{finding.code} ({candidate.label}): {finding.cause}\n    {finding.remedy}"
