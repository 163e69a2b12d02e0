"""The store: records of many nights in one SQLite file, each launch once.

    cell         what `slabmark compare` takes for one; `history` is what cells share that differ in settings only
    attribute    a name and a value of an environment, once; an environment is a list of these
    layout       the columns of a launch's trials: open_to_close, transfer, and the phases
    launch       a record's launch of a cell: median, trials as 64-bit floats, row by row, and where it ran
    pruned       digests of launches that were removed, so that they do not come back with the next `add`

Launches of a cell lie together, by their start. SQLite's rollback journal, not its log (WAL), since that one needs memory that
all processes share, and nights may be added from several nodes. A writer that is killed leaves what it had committed.
"""

import contextlib
import dataclasses
import datetime
import hashlib
import json
import math
import os
import pathlib
import re
import sqlite3
import uuid

import numpy

from slabmark import cells, compare, files, findings, units
from slabmark.errors import InputError, LabError, printable

VERSION = 1
APPLICATION = 0x536C6254  # "SlbT", in the header of the file
SECONDS_TO_WAIT = 60  # for another writer
MAGIC = b"SQLite format 3\0"
SCHEMA = """
CREATE TABLE cell (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, history TEXT NOT NULL, described TEXT NOT NULL);
CREATE TABLE attribute (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (name, value));
CREATE TABLE environment (id INTEGER PRIMARY KEY, attributes TEXT NOT NULL UNIQUE);
CREATE TABLE hosts (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE layout (id INTEGER PRIMARY KEY, columns TEXT NOT NULL UNIQUE);
CREATE TABLE launch (
  cell INTEGER NOT NULL REFERENCES cell, started INTEGER NOT NULL, digest BLOB NOT NULL,
  median REAL NOT NULL, limit_seconds REAL, verified TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment, hosts INTEGER NOT NULL REFERENCES hosts,
  layout INTEGER NOT NULL REFERENCES layout, trials BLOB,
  PRIMARY KEY (cell, started, digest)) WITHOUT ROWID;
CREATE TABLE pruned (digest BLOB PRIMARY KEY) WITHOUT ROWID;
"""
# Variables that launchers and schedulers set anew for each job: they change every night and mean nothing.
OF_A_JOB = re.compile(
    "SLURM_|OMPI_(ARGV|COMMAND|COMM_WORLD_|FILE_LOCATION|FIRST_RANKS|NUM_APP_CTX|UNIVERSE_SIZE|APP_CTX_|MCA_(ess|orte_|pmix"
    "|initial_wdir|shmem_RUNTIME))"
)
MOST_HOSTS_NAMED = 64


@dataclasses.dataclass(frozen=True)
class Launch:
    """A record as the store keeps it."""

    identity: str
    history: str
    described: str  # JSON: title, subtitle, method, direction, ranks, bytes, settings
    started: int  # milliseconds since 1970, UTC
    median: float  # seconds
    limit: float | None  # seconds
    verified: str
    environment: tuple  # ((name, value), ...)
    hosts: str
    columns: str
    trials: bytes
    digest: bytes


def launch_of(record):
    """ValueError, with the reason, if a record cannot be kept."""
    if not record.measured:
        raise ValueError("it has no measured trial")
    if wrong := findings.clocks_disagree(record.manifest):
        raise ValueError(f"it is invalid: {wrong[0].lower()}{wrong[1:-1]}")
    try:
        started = datetime.datetime.fromisoformat(record.manifest.get("started") or "")
        started = started if started.tzinfo else started.replace(tzinfo=datetime.UTC)
        started = math.floor(started.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise ValueError("its manifest does not say when it 'started'") from None
    cell = cells.Cell([record], cells.attributes(record))
    identity, history = cells.frozen(_identity(cell)), cells.frozen(_history(cell))
    phases = cells.in_order(name for trial in record.measured for name in trial.phases)
    table = [
        [trial.open_to_close, trial.transfer, *(trial.phases.get(name, 0.0) for name in phases)] for trial in record.measured
    ]
    trials = numpy.array(table, dtype="<f8").tobytes()
    where = record.manifest.get("ended")
    return Launch(
        identity,
        history,
        cells.frozen(_described(cell)),
        started,
        cell.launch_medians[0],
        min((bound["seconds"] for bound in record.bounds), default=None),
        cell.verified,
        tuple(_environment(cell)),
        _hosts(record.manifest),
        json.dumps(["open_to_close", "transfer", *phases]),
        trials,
        hashlib.blake2b(json.dumps([identity, started, where]).encode() + trials, digest_size=16).digest(),
    )


def _history(cell):
    """What seconds must have in common to be told one after the other: all that `compare` refuses to compare across. The
    memory of a machine is that to a power of two, since a new kernel keeps other amounts of it for itself."""
    conditions = {name: condition(cell) for name, condition in compare.CONDITIONS.items()} | {"machine": _machine(cell)}
    return compare.core(cell), conditions, cell.attributes["mount"], cell.is_bound, cell.attributes["program"]


def _machine(cell):
    """(cores, memory)"""
    memory = cell.first.manifest.get("memory_bytes")
    return cell.first.manifest.get("cores"), units.size(2 ** round(math.log2(memory))) if memory else None


def _identity(cell):
    return _history(cell), compare.asked(cell)


def _described(cell):
    record = cell.first
    settings = {name: value for name, value in cell.attributes.items() if name not in NOT_SETTINGS}
    settings |= {name: printable(value) for name, value in record.pattern["settings"].items() if name != "map"}
    settings |= {"sync": "yes" if record.sync else "no", "cache": record.cache or "", "bytes": units.size(cell.bytes)}
    settings |= {name: str(value or "") for name, value in zip(("cores", "memory"), _machine(cell))}
    settings |= {name: cell.attributes[name] for name in ("program", "file system", "mount")}
    title, subtitle = cells.titles(record)
    return {
        "title": title,
        "subtitle": subtitle,
        "method": printable(record.method),
        "direction": printable(record.direction),
        "ranks": cell.ranks,
        "bytes": cell.bytes,
        "settings": settings,
    }


# Of cells.attributes: what an upgrade changes, not what was asked for.
NOT_SETTINGS = ("MPI", "MPI-IO", "HDF5", "PnetCDF", "program", "build", "file system", "mount", "results")


def _environment(cell):
    """[(name, value)] of what can change from one night to another, as texts in the order of a reader's interest."""
    record, manifest = cell.first, cell.first.manifest
    program, output = manifest.get("program", {}), manifest.get("output", {})
    found = {name: value for name, value in cell.attributes.items() if name not in ("results", "MPI")}
    found = {name: value for name, value in found.items() if not name.startswith(cells.VARIABLE)}
    found["MPI"] = manifest.get("mpi", "")
    found |= {
        f"library {name}": value for name, value in manifest.get("libraries", {}).items() if name not in ("hdf5", "pnetcdf")
    }
    found |= {name: program.get(name, "") for name in ("version", "compiler")}
    found |= {"kernel": manifest.get("kernel"), "cores": manifest.get("cores"), "memory": manifest.get("memory_bytes")}
    found |= {"mount options": output.get("options"), "mounted from": output.get("source")}
    found["striping"] = (output.get("lustre") or {}).get("striping")
    found |= {f"hint {name} in effect": value for name, value in record.effective.get("hints", {}).items()}
    found["not collective because of"] = record.effective.get("no_collective_cause") or None
    variables = {name: value for name, value in manifest.get("environment", {}).items() if not OF_A_JOB.match(name)}
    variables |= record.study.get("environment", {})
    found |= {cells.VARIABLE * (name in found) + name: value for name, value in variables.items()}
    texts = ((printable(name), printable(value)) for name, value in found.items() if value not in (None, ""))
    return [(name, value) for name, value in texts if value]


def _hosts(manifest):
    names = [printable(host["name"]) for host in manifest.get("hosts", [])]
    more = f" and {len(names) - MOST_HOSTS_NAMED} more" if len(names) > MOST_HOSTS_NAMED else ""
    return ", ".join(names[:MOST_HOSTS_NAMED]) + more


class Store:
    """An open store. Every error of SQLite's is a sentence."""

    def __init__(self, path, connection):
        self.path, self.connection = path, connection
        self._ids = {}  # of what stands once: (table, key) -> id

    def add(self, launches):
        """In one transaction; the number that were not there yet."""
        with _sentences(self.path), self._writing():
            return sum(self._add(launch) for launch in launches)

    def _add(self, launch):
        execute = self.connection.execute
        if execute("SELECT 1 FROM pruned WHERE digest = ?", (launch.digest,)).fetchone():
            return 0
        cell = self._id("cell", ("identity", "history", "described"), (launch.identity, launch.history, launch.described))
        attributes = [self._id("attribute", ("name", "value"), pair) for pair in launch.environment]
        row = (
            cell,
            launch.started,
            launch.digest,
            launch.median,
            launch.limit,
            launch.verified,
            self._id("environment", ("attributes",), (json.dumps(attributes, separators=(",", ":")),)),
            self._id("hosts", ("names",), (launch.hosts,)),
            self._id("layout", ("columns",), (launch.columns,)),
            launch.trials,
        )
        return execute(f"INSERT OR IGNORE INTO launch VALUES ({','.join('?' * len(row))})", row).rowcount

    def _id(self, table, names, values):
        """Of the row that has these values; for a cell, that has this identity."""
        unique = names[:1] if table == "cell" else names
        key = table, *values[: len(unique)]
        if key not in self._ids:
            self.connection.execute(
                f"INSERT OR IGNORE INTO {table} ({','.join(names)}) VALUES ({','.join('?' * len(names))})", values
            )
            found = self.connection.execute(
                f"SELECT id FROM {table} WHERE {' AND '.join(f'{name} = ?' for name in unique)}", key[1:]
            )
            self._ids[key] = found.fetchone()[0]
        return self._ids[key]

    @contextlib.contextmanager
    def _writing(self):
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            self._ids.clear()  # those of rows that are no more
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            raise

    def prune(self, before, only_trials=False):
        """Removes launches that started before this time (milliseconds), or only their trials; how many."""
        with _sentences(self.path):
            with self._writing():
                if only_trials:
                    change = "UPDATE launch SET trials = NULL WHERE started < ? AND trials IS NOT NULL"
                else:
                    self.connection.execute("INSERT OR IGNORE INTO pruned SELECT digest FROM launch WHERE started < ?", (before,))
                    change = "DELETE FROM launch WHERE started < ?"
                many = self.connection.execute(change, (before,)).rowcount
            # Or the file stays as long as it was; where there is no room for a copy of it, that is all that is lost.
            with contextlib.suppress(sqlite3.OperationalError):
                self.connection.execute("VACUUM")
            return many

    def pruned_at(self, before, only_trials=False):
        """What `prune` would remove."""
        more = " AND trials IS NOT NULL" if only_trials else ""
        with _sentences(self.path):
            return self.connection.execute(f"SELECT count(*) FROM launch WHERE started < ?{more}", (before,)).fetchone()[0]

    def rows(self, statement, *values):
        with _sentences(self.path):
            return self.connection.execute(statement, values).fetchall()

    @contextlib.contextmanager
    def reading(self):
        """All that is read within is of one moment, whatever is added meanwhile."""
        with _sentences(self.path):
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("ROLLBACK")

    def copy(self, path):
        """A whole store at one moment, while others may add. InputError, LabError."""
        path = os.path.realpath(path)
        temporary = os.path.join(os.path.dirname(path), f".slabmark-{uuid.uuid4().hex}")
        try:
            with _sentences(path), contextlib.closing(_connect(temporary, "rwc&nolock=1")) as target:
                self.connection.backup(target)
            os.replace(temporary, path)
        finally:
            for left in (temporary, f"{temporary}-journal"):
                with contextlib.suppress(OSError):
                    os.unlink(left)


@contextlib.contextmanager
def opened(path, make=False):
    """A Store; a new one if `make` and there is no file. InputError unless it is a store that this version reads."""
    path = pathlib.Path(path)
    check(path, make)
    is_new = not path.exists()
    mode = "rwc" if make else "rw"  # SQLite opens a file that may not be written for reading only
    try:
        with contextlib.suppress(OSError):  # SQLite says what is wrong
            mode += "" if files.has_record_locks(path, make) else "&nolock=1"
        with _sentences(path):
            connection = _connect(path, mode)
        with contextlib.closing(connection):
            with _sentences(path):
                connection.isolation_level = None  # transactions begin where they are meant to
                connection.execute("PRAGMA synchronous = FULL")
                if make:
                    _prepare(connection)
                _check_version(connection, path)
            yield Store(path, connection)
    finally:
        if is_new:  # nothing was added: nothing stays
            with contextlib.suppress(OSError):
                path.stat().st_size or path.unlink()


def _connect(path, mode):
    return sqlite3.connect(f"{pathlib.Path(path).absolute().as_uri()}?mode={mode}", uri=True, timeout=SECONDS_TO_WAIT)


def check(path, make):
    """InputError for what is no store at all, which is not even opened by SQLite, or if there is none and none is to be made."""
    path = pathlib.Path(path)
    if not path.exists():
        if path.is_symlink():
            raise InputError(f"'{path}' is a link to '{os.readlink(path)}', which is not there.")
        if not path.absolute().parent.is_dir():
            raise InputError(f"'{path}' cannot be made: there is no folder '{path.absolute().parent}'.")
        if not make:
            raise InputError(f"There is no store '{path}'; 'slabmark track add' makes one.")
        return
    with files.open_regular(path) as file:
        beginning = file.read(len(MAGIC))
    # Nothing yet: another writer is making it, or was killed.
    if beginning != MAGIC and beginning:
        raise InputError(_foreign(path))


def _foreign(path):
    return f"'{path}' is no store of 'slabmark track', and is left alone; name another file."


def _marks(connection):
    """(application, version)"""
    return tuple(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))


def _prepare(connection):
    """Makes the tables of a new store, unless another writer just did."""
    if connection.execute("PRAGMA page_count").fetchone()[0]:
        return
    connection.execute("PRAGMA page_size = 8192")
    connection.execute("BEGIN IMMEDIATE")
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        for statement in SCHEMA.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _check_version(connection, path):
    application, version = _marks(connection)
    if not application and not version and not connection.execute("PRAGMA page_count").fetchone()[0]:
        raise InputError(f"The store '{path}' is empty; 'slabmark track add' fills it.")
    if application != APPLICATION:
        raise InputError(_foreign(path))
    if version != VERSION:
        raise InputError(
            f"The store '{path}' is of version {version} and this slabmark reads version {VERSION}; a newer slabmark may read it."
        )
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if there != set(re.findall("CREATE TABLE (\\w+)", SCHEMA)):
        raise InputError(f"The store '{path}' is damaged: it lacks a table; copy it from a backup.")


@contextlib.contextmanager
def _sentences(path):
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(f"The store '{path}' is damaged ({error}); copy it from a backup.") from None
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith("SQLITE_BUSY"):
            raise LabError(
                f"The store '{path}' was in use by another writer for {SECONDS_TO_WAIT} s; nothing more was added: try again."
            ) from None
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
            raise InputError(
                f"The store '{path}' cannot be written or made here ({error}); choose a place that may be."
            ) from None
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_SCHEMA")) or not name or name == "SQLITE_ERROR":
            raise InputError(f"'{path}' is no store, or a damaged one ({error}); copy it from a backup.") from None
        raise LabError(f"The store '{path}' could not be read or written: {error}; what was there before stays.") from None
