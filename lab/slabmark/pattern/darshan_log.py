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


@dataclasses.dataclass(frozen=True)
class Requests:
    """To one file, of all ranks: begins and lengths in bytes, and whose they are."""

    rank: numpy.ndarray
    begin: numpy.ndarray
    length: numpy.ndarray


def read(path, reads=False) -> making.Pattern:
    """What was written, or read: a step for each file, of its bytes. InputError for what is no log, or has none of it."""
    darshan = _library()
    ranks, traced, by_mpi_io, found = _apart(path, lambda: _contents(darshan, path, reads))
    verb = "read" if reads else "written"
    if not found:
        raise InputError(f"By the Darshan log '{path}' nothing was {verb}." + ("" if reads else " Reading is taken by --read."))
    kept, twice = {}, 0
    for name, requests in sorted(found.items()):
        kept[name], lost = without_overlaps(requests)
        twice += lost
    ranks = max(ranks, *(int(requests.rank.max()) + 1 for requests in kept.values()))  # a log of no MPI says 1
    kept, alone = _put_together(kept)
    made = making.Pattern(_sentence(traced, by_mpi_io, verb, twice, alone), "imported")
    for name, requests in kept.items():
        made.step([made.file_bytes(name, layout_of(requests, ranks))], path=name)
    return made


def _contents(darshan, path, reads):
    """(ranks, whether it was traced, whether MPI-IO was there, requests by file)."""
    try:
        report = darshan.DarshanReport(str(path), read_all=False, dtype="dict")
        report.read_name_records()
        ranks = max(1, int(report.metadata["job"]["nprocs"]))
    except (RuntimeError, KeyError, ValueError, OSError) as error:
        raise InputError(f"'{path}' cannot be read as a Darshan log: {str(error).rstrip('.')}.") from None
    traced = "DXT_POSIX" in report.modules
    if not traced and "POSIX" not in report.modules:
        raise InputError(f"The Darshan log '{path}' has no records of POSIX: nothing says what went to files.")
    found = _traced(report, reads) if traced else _counted(report, reads, ranks)
    return ranks, traced, "MPI-IO" in report.modules, found


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


def _names(report, record):
    name = report.name_records.get(record["id"], "")
    return None if name in NO_FILE or not name.isprintable() or not name.strip("/") else name.strip("/")


def _traced(report, reads):
    """By file, each request that was traced, in the order of time."""
    report.mod_read_all_dxt_records("DXT_POSIX", dtype="dict")
    found = collections.defaultdict(list)
    for record in report.records["DXT_POSIX"]:
        if (name := _names(report, record)) is None:
            continue
        for segment in record["read_segments" if reads else "write_segments"]:
            if segment["length"] > 0:
                found[name].append((segment["start_time"], record["rank"], segment["offset"], segment["length"]))
    return {name: Requests(*numpy.array([row[1:] for row in sorted(rows)], dtype=numpy.int64).T) for name, rows in found.items()}


def _counted(report, reads, ranks):
    """By file, requests of the commonest size as the counters make them likely: of a rank alone its bytes in a row; of a file
    that all share equal parts, or by turns where most requests did not follow the one before."""
    report.mod_read_all_records("POSIX", dtype="dict")
    names = report.counters["POSIX"]["counters"]
    word, verb = ("READ", "READS") if reads else ("WRITTEN", "WRITES")
    follows = "POSIX_CONSEC_READS" if reads else "POSIX_CONSEC_WRITES"
    found = collections.defaultdict(list)
    for record in report.records["POSIX"]:
        count = _counters(record, names)
        if (name := _names(report, record)) is None or (moved := count[f"POSIX_BYTES_{word}"]) <= 0:
            continue
        requests = max(1, count[f"POSIX_{verb}"])
        size = max(1, min(moved, count.get("POSIX_ACCESS1_ACCESS") or -(-moved // requests)))
        if -(-moved // size) > MOST_PIECES:
            size = -(-moved // MOST_PIECES)
        pieces = -(-moved // size)
        number = numpy.arange(pieces)
        length = numpy.full(pieces, size)
        length[-1] = moved - size * (pieces - 1)
        if record["rank"] >= 0:
            end = count.get(f"POSIX_MAX_BYTE_{word}", moved - 1) + 1
            found[name].append((numpy.full(pieces, record["rank"]), max(0, end - moved) + number * size, length))
        else:
            in_turns = 2 * count.get(follows, 0) < requests
            owner = number % ranks if in_turns else number * ranks // pieces
            found[name].append((owner, number * size, length))
    return {name: Requests(*(numpy.concatenate(part) for part in zip(*rows))) for name, rows in found.items()}


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


def _sentence(traced, by_mpi_io, verb, twice, alone):
    if traced:
        text = f"Offsets are those that Darshan's tracing saw {verb} at POSIX's level"
        text += ", where aggregators of MPI-IO may stand for the ranks that had the data" if by_mpi_io else ""
    else:
        text = f"Darshan counted the bytes {verb} and did not trace them, so who has which is made up"
    text += f"; {alone} files of one rank each are put together as one" if alone else ""
    text += f"; {twice} bytes of overlapping requests are left out" if twice else ""
    return text + "; datasets and time steps are unknown."
