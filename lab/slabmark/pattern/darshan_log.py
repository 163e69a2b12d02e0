"""A pattern from a Darshan log, as a guess: Darshan has counters, and where its extended tracing (DXT) was on the requests that
reached the files, but no datasets and no selections. Needs the package `darshan` (pip install darshan)."""

import collections
import contextlib
import dataclasses
import os
import pathlib
import pickle
import signal
import tempfile

import numpy

from slabmark.errors import InputError
from slabmark.pattern import layouts, making

NO_FILE = ("<STDIN>", "<STDOUT>", "<STDERR>")
MOST_PIECES = 10_000_000  # requests that a guess without tracing makes up
MOST_LEFT_OUT = 0.05  # of all bytes that the log counts
BESIDE = ("STDIO", "DFS")  # modules whose bytes are not in POSIX's


@dataclasses.dataclass(frozen=True)
class Log:
    """What is known of one direction."""

    ranks: int
    traced: bool
    by_mpi_io: bool  # at the level above POSIX
    partial: list[str]  # modules for which Darshan's memory did not suffice
    counted: int  # bytes by the counters of POSIX
    beside: dict[str, int]  # bytes by module, or none
    requests: dict[str, "Requests"]  # by file


@dataclasses.dataclass(frozen=True)
class Requests:
    """To one file, of all ranks: begins and lengths in bytes, and whose they are."""

    rank: numpy.ndarray
    begin: numpy.ndarray
    length: numpy.ndarray


def read(path, reads=False) -> making.Pattern:
    """What was written, or read: a step for each file, of its bytes. InputError for what is no log, has none of it, or has more
    than MOST_LEFT_OUT that a pattern cannot have."""
    darshan = _library()
    log = _apart(path, lambda: _contents(darshan, path, reads))
    verb = "read" if reads else "written"
    if not log.requests and not any(log.beside.values()):
        raise InputError(f"By the Darshan log '{path}' nothing was {verb}." + ("" if reads else " Reading is taken by --read."))
    kept, twice = {}, 0
    for name, requests in sorted(log.requests.items()):
        kept[name], lost = without_overlaps(requests)
        twice += lost
    missing = _missing(log, twice, sum(int(requests.length.sum()) for requests in log.requests.values()))
    _check_share(path, verb, sum(int(requests.length.sum()) for requests in kept.values()), missing)
    ranks = max(log.ranks, *(int(requests.rank.max()) + 1 for requests in kept.values()))  # a log of no MPI says 1
    kept, alone = _put_together(kept)
    made = making.Pattern(_sentence(log, verb, missing, alone), "imported", reads)
    for name, requests in kept.items():
        made.step([made.file_bytes(name, layout_of(requests, ranks))], path=name)
    return made


def _missing(log, twice, found):
    """[(bytes, what they are)] that a pattern of the log lacks."""
    missing = [(twice, "of overlapping requests"), (log.counted - found, "that were counted and not traced")]
    missing += [(count, f"by {module}") for module, count in log.beside.items()]
    return [(count, what) for count, what in missing if count > 0]


def _check_share(path, verb, kept, missing):
    left_out = sum(count for count, _ in missing)
    if left_out <= MOST_LEFT_OUT * (kept + left_out):
        return
    which = ", ".join(f"{count} {what}" for count, what in missing)
    raise InputError(
        f"A pattern of the Darshan log '{path}' would have {kept} of {kept + left_out} bytes {verb}; it would lack {which}. More than "
        f"{MOST_LEFT_OUT:.0%} makes no pattern of the program; run it under 'slabmark capture'."
    )


def _contents(darshan, path, reads):
    """The Log."""
    try:
        report = darshan.DarshanReport(str(path), read_all=False, dtype="dict")
        report.read_name_records()
        ranks = max(1, int(report.metadata["job"]["nprocs"]))
    except (RuntimeError, KeyError, ValueError, OSError) as error:
        raise InputError(f"'{path}' cannot be read as a Darshan log: {str(error).rstrip('.')}.") from None
    traced = "DXT_POSIX" in report.modules
    if not traced and not {"POSIX", *BESIDE}.intersection(report.modules):
        raise InputError(f"The Darshan log '{path}' has no records of POSIX: nothing says what went to files.")
    found = _traced(report, reads) if traced else _counted(_counts(report, "POSIX", reads), reads, ranks)
    partial = [module for module in ("POSIX", "DXT_POSIX", *BESIDE) if report.modules.get(module, {}).get("partial_flag")]
    by_file = _by_file(report, "POSIX", reads)
    beside = {module: sum(_by_file(report, module, reads).values()) for module in BESIDE}
    if "POSIX" in partial:  # else what MPI-IO moves more than POSIX goes between ranks
        moved = _by_file(report, "MPI-IO", reads)
        beside["MPI-IO and not by POSIX"] = sum(max(0, count - by_file[name]) for name, count in moved.items())
    return Log(ranks, traced, "MPI-IO" in report.modules, partial, sum(by_file.values()), beside, found)


def _bytes(module, reads):
    return f"{module.replace('-', '')}_BYTES_{'READ' if reads else 'WRITTEN'}"


def _by_file(report, module, reads):
    """Bytes that were moved."""
    moved = collections.Counter()
    for name, _, count in _counts(report, module, reads):
        moved[name] += count[_bytes(module, reads)]
    return moved


def _counts(report, module, reads):
    """[(file, rank or -1 for all, counters)] of what moved anything."""
    if module not in report.modules:
        return []
    report.mod_read_all_records(module, dtype="dict")
    names = report.counters[module]["counters"]
    rows = [(_name(report, record), record["rank"], _counters(record, names)) for record in report.records[module]]
    return [row for row in rows if row[0] is not None and row[2][_bytes(module, reads)] > 0]


def _apart(path, read):
    """What read() returns, in a process of its own: over some damaged logs Darshan's library crashes, and of others it says what
    is wrong on standard error alone, and goes on with what it has."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                os.dup2(said.fileno(), 2)
                try:
                    made = read()
                except Exception as error:
                    made = error
                pickle.dump(made, answer)
                answer.flush()
            os._exit(0)
        try:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except BaseException:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise
        said.seek(0), answer.seek(0)
        errors = [line for line in said.read().decode(errors="replace").splitlines() if line.startswith("Error: ")]
        if status or errors:
            reason = errors[0].removeprefix("Error: ").rstrip(".") if errors else "Darshan's library crashes over it"
            raise InputError(f"'{path}' cannot be read as a Darshan log: {reason}.")
        try:
            made = pickle.load(answer)
        except EOFError:
            raise InputError(f"'{path}' cannot be read as a Darshan log: Darshan's library gives up.") from None
    if isinstance(made, Exception):
        raise made
    return made


def is_log(path):
    """By its name, as Darshan makes it: what a log begins with is the version of its format, as a text."""
    return pathlib.Path(path).suffix == ".darshan"


def _library():
    try:
        import darshan
    except ImportError:
        raise InputError(
            "Darshan logs are read by the Python package 'darshan', which is not here: pip install darshan."
        ) from None
    return darshan


def _name(report, record):
    """None for what is no file."""
    name = report.name_records.get(record["id"], "")
    if name in NO_FILE:
        return None
    return name.strip("/") if name.isprintable() and name.strip("/") else f"file {record['id']}"


def _traced(report, reads):
    """By file, each request that was traced, in the order of time."""
    report.mod_read_all_dxt_records("DXT_POSIX", dtype="dict")
    found = collections.defaultdict(list)
    for record in report.records["DXT_POSIX"]:
        if (name := _name(report, record)) is None:
            continue
        for segment in record["read_segments" if reads else "write_segments"]:
            if segment["length"] > 0:
                found[name].append((segment["start_time"], record["rank"], segment["offset"], segment["length"]))
    return {name: Requests(*numpy.array([row[1:] for row in sorted(rows)], dtype=numpy.int64).T) for name, rows in found.items()}


def _counted(counts, reads, ranks):
    """By file, requests of the commonest size as the counters make them likely: of a rank alone its bytes in a row; of a file
    that all share equal parts, or by turns where most requests did not follow the one before. Ranks whose rows would overlap
    take turns, too."""
    word, verb = ("READ", "READS") if reads else ("WRITTEN", "WRITES")
    follows = "POSIX_CONSEC_READS" if reads else "POSIX_CONSEC_WRITES"
    found = collections.defaultdict(list)
    for name, rank, count in counts:
        moved = count[f"POSIX_BYTES_{word}"]
        requests = max(1, count[f"POSIX_{verb}"])
        size = max(1, min(moved, count.get("POSIX_ACCESS1_ACCESS") or -(-moved // requests)))
        if -(-moved // size) > MOST_PIECES:
            size = -(-moved // MOST_PIECES)
        pieces = -(-moved // size)
        number = numpy.arange(pieces)
        length = numpy.full(pieces, size)
        length[-1] = moved - size * (pieces - 1)
        if rank >= 0:
            end = count.get(f"POSIX_MAX_BYTE_{word}", moved - 1) + 1
            found[name].append((numpy.full(pieces, rank), max(0, end - moved) + number * size, length))
        else:
            in_turns = 2 * count.get(follows, 0) < requests
            owner = number % ranks if in_turns else number * ranks // pieces
            found[name].append((owner, number * size, length))
    return {name: _without_rows_that_overlap(rows) for name, rows in found.items()}


def _without_rows_that_overlap(rows):
    """The requests to one file. A row is (ranks, begins, lengths)."""
    places = sorted((int(begin[0]), int(begin[-1] + length[-1])) for _, begin, length in rows)
    if any(begin < end for (_, end), (begin, _) in zip(places, places[1:])):
        turn = numpy.concatenate([numpy.arange(len(begin)) for _, begin, _ in rows])
        rank, _, length = (numpy.concatenate(part) for part in zip(*rows))
        order = numpy.lexsort((rank, turn))
        rank, length = rank[order], length[order]
        rows = [(rank, max(0, places[-1][1] - int(length.sum())) + numpy.cumsum(length) - length, length)]
    return Requests(*(numpy.concatenate(part) for part in zip(*rows)))


def _counters(record, names):
    counters = record["counters"]
    return {name: int(counters[name]) for name in names} if isinstance(counters, dict) else dict(zip(names, map(int, counters)))


def without_overlaps(requests):
    """(the requests less what an earlier part of the file has already, in their order; the bytes that were left out): a pattern
    has each byte once a step."""
    order = numpy.lexsort((-requests.length, requests.begin))
    begin, length = requests.begin[order], requests.length[order]
    end = numpy.maximum.accumulate(begin + length)
    reached = numpy.concatenate([[0], end[:-1]])
    cut = numpy.maximum(begin, reached)
    rest = begin + length - cut
    kept = numpy.sort(order[rest > 0])
    begins, lengths = numpy.empty_like(begin), numpy.empty_like(length)
    begins[order], lengths[order] = cut, rest
    return Requests(requests.rank[kept], begins[kept], lengths[kept]), int(length.sum() - lengths[kept].sum())


def _put_together(found):
    """(by file, and how many were put together): files of one rank each are one file, in which they lie one after another."""
    alone = {name: requests for name, requests in found.items() if len(set(requests.rank.tolist())) == 1}
    if len(alone) < 2:
        return found, 0
    rows, end = [], 0
    for requests in sorted(alone.values(), key=lambda requests: int(requests.rank[0])):
        rows.append((requests.rank, requests.begin + end, requests.length))
        end += int((requests.begin + requests.length).max())
    shared = {name: requests for name, requests in found.items() if name not in alone}
    return shared | {f"{len(alone)} files": Requests(*(numpy.concatenate(part) for part in zip(*rows)))}, len(alone)


def layout_of(requests, ranks):
    """The bytes of a file, up to the last that is known of."""
    order = numpy.argsort(requests.rank, kind="stable")
    ends = numpy.searchsorted(requests.rank[order], numpy.arange(-1, ranks), side="right")

    def part(rank):
        mine = order[ends[rank] : ends[rank + 1]]
        return layouts.Part(requests.begin[mine].reshape(-1, 1), requests.length[mine].reshape(-1, 1))

    return layouts.Layout((int((requests.begin + requests.length).max()),), ranks, part)


def _sentence(log, verb, missing, alone):
    if log.traced:
        text = f"Offsets are those that Darshan's tracing saw {verb} at POSIX's level"
        text += ", where aggregators of MPI-IO may stand for the ranks that had the data" if log.by_mpi_io else ""
    else:
        text = f"Darshan counted the bytes {verb} and did not trace them, so who has which is made up"
    text += f"; {alone} files of one rank each are put together as one" if alone else ""
    text += "".join(f"; {count} bytes {what} are left out" for count, what in missing)
    if log.partial:
        text += f"; Darshan's memory did not suffice for all records of {', '.join(log.partial)}, so that files may be missing"
    return text + "; datasets and time steps are unknown."
