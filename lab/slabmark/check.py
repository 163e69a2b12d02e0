"""Runs a program twice, without an accelerator and with what 'slabmark apply' puts into it, and compares the files that it leaves.

Each run begins with the files that were there: what a run changed is set aside and what it changed is put back. If files differ,
the program runs without it once more, to tell what it makes anew each time, such as a time of day.
"""

import contextlib
import dataclasses
import fcntl
import os
import pathlib
import shutil
import stat
import sys
import tempfile

from slabmark import contents, units
from slabmark.errors import InputError, printable

FICLONE = 0x40049409  # <linux/fs.h>
MOST_FILES = 50_000
MOST_LINES = 40  # of differences
OURS = ".slabmark-"  # how names of our own folders begin


def watched(command, named):
    """Folders with all that is in them, and beginnings of names: of the files that a command may make or change. `named`: by the
    user. Else the working folder, and what words of the command seem to name elsewhere."""
    if missing := next((name for name in named if not os.path.isdir(name)), None):
        raise InputError(f"There is no folder '{missing}', which --check-dir names.")
    folders, beginnings = [os.path.realpath(name) for name in named or ["."]], []
    if shared := next(filter(_is_shared, folders), None):
        raise InputError(f"'{shared}' is a folder in which all users write, so files that others make during a run would count as files of "
                         "the program. Run it in a folder of its own, or name one with --check-dir.")
    for word in [] if named else command[1:]:
        path = os.path.realpath(word.rpartition("=")[2]) if "/" in word else ""
        if not path or os.path.isfile(path) and os.access(path, os.X_OK):
            continue  # no path, or a program
        if os.path.isdir(path):
            folders += [] if _is_shared(path) else [path]
        elif os.path.isdir(os.path.dirname(path)):
            beginnings.append(path)
    return folders, beginnings


def _is_shared(folder):
    """Such as /tmp."""
    return bool(os.stat(folder).st_mode & stat.S_ISVTX)


@dataclasses.dataclass
class Outputs:
    """What a run left: the place of each file that it made or changed, and None for each that it removed."""

    status: int
    files: dict = dataclasses.field(default_factory=dict)


class Files:
    """The files of a program, and how they were before it ran. All in `store` is ours."""

    def __init__(self, watched, store, compressed=False):
        self.watched, self.store, self.compressed = watched, pathlib.Path(store), compressed
        self.before = self._found()
        self.folders = set(self.seen)
        self.kept = {path: self._place("before", path) for path in self.before}
        needed = sum(found.st_size for found in self.before.values() if stat.S_ISREG(found.st_mode))
        if needed > (room := shutil.disk_usage(store).free):
            raise InputError(f"{units.size(needed)} of files are there before the run, and there is room for {units.size(room)} of copies: "
                             "name the folder of the program's output with --check-dir.")
        for path, place in self.kept.items():
            _copy(path, place)

    def _found(self):
        """{path: what lstat() says} of files and symbolic links, and of files that these lead to. `seen`: the folders. Those that
        links lead to are not looked into: they may be anybody's."""
        folders, beginnings = self.watched
        found, self.seen, left = {}, set(), list(folders)
        for beginning in beginnings:
            folder = os.path.dirname(beginning)
            left += [path for name in _names(folder) if (path := f"{folder}/{name}").startswith(beginning)]
        while left:
            path = left.pop()
            if os.path.basename(path).startswith(OURS) or path in found or path in self.seen:
                continue
            with contextlib.suppress(FileNotFoundError):
                says = os.lstat(path)
                if stat.S_ISDIR(says.st_mode):
                    self.seen.add(path)
                    left += [os.path.join(path, name) for name in _names(path)]
                elif stat.S_ISLNK(says.st_mode):
                    found[path] = says
                    left += [os.path.realpath(path)] * os.path.isfile(path)
                elif stat.S_ISREG(says.st_mode) and os.access(path, os.R_OK):  # others are not this user's to change
                    found[path] = says
            if len(found) > MOST_FILES:
                raise InputError(f"There are more than {MOST_FILES:,} files in {', '.join(map(repr, folders + beginnings))}: name the folder of "
                                 "the program's output with --check-dir.")
        return found

    def _place(self, run, path):
        return self.store / run / path.lstrip("/")

    def take(self, run, status):
        """Sets aside what the program left and makes everything as it was before."""
        now, left = self._found(), Outputs(status)
        for path, found in now.items():
            if path in self.before and _same(found, self.before[path]):
                continue
            left.files[path] = place = self._place(run, path)
            if path in self.before:
                _copy(path, place)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(path, place)
        left.files |= {path: None for path in self.before.keys() - now.keys()}
        for folder in sorted(self.seen - self.folders, key=len, reverse=True):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        for folder in self.folders - self.seen:
            os.makedirs(folder, exist_ok=True)
        changed = left.files.keys() & self.before.keys()
        for path in changed:
            _put(self.kept[path], path)
        self.before |= {path: os.lstat(path) for path in changed}
        return left

    def put(self, outputs):
        for path, place in outputs.files.items():
            if place is None:
                os.unlink(path)
            else:
                _put(place, path)

    def put_what_is_new(self, outputs):
        """Files that no other run has made, so that nothing gets lost that was not the program's."""
        for path, place in outputs.files.items():
            if place and not os.path.lexists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                shutil.move(place, path)

    def after(self, outputs, path):
        """Where the file of this path is as it was after a run; None if it was not there."""
        return outputs.files[path] if path in outputs.files else self.kept.get(path)


def _names(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _same(one, other):
    facts = lambda found: (stat.S_IFMT(found.st_mode), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return facts(one) == facts(other)


def _copy(path, place):
    place.parent.mkdir(parents=True, exist_ok=True)
    _put(path, place)


def _put(source, target):
    """Makes the target what the source is: in place where both are files, which keeps stripes, owners and other names."""
    target = pathlib.Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() or os.path.islink(source):
        target.unlink(missing_ok=True)
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
        return
    if target.exists() and not os.access(target, os.W_OK):
        target.unlink()
    with open(source, "rb") as one, open(target, "wb") as other:
        try:
            fcntl.ioctl(other.fileno(), FICLONE, one.fileno())  # takes no time and no room where the file system can
        except OSError:
            shutil.copyfileobj(one, other, 4 << 20)
    shutil.copystat(source, target)


def tell(text):
    print(f"slabmark apply: {text}", file=sys.stderr, flush=True)


def main(run, command, named, way, compressed=False):
    """`run(natively)` runs the command and returns its status; `compressed`: but for the native runs, it makes netCDF-4 of classic
    files. The exit status: 0 if both runs left the same, 1 if not, that of the
    command where it failed in both."""
    folder = os.path.realpath(named[0] if named else ".")
    places = watched(command, named)
    try:
        store = tempfile.mkdtemp(prefix=f"{OURS}check-", dir=folder)
    except OSError as error:
        raise InputError(f"Copies of files cannot be kept in '{folder}': {error.strerror}.") from None
    try:
        files = Files(places, store, compressed)
    except BaseException:
        shutil.rmtree(store, ignore_errors=True)
        raise
    try:
        native, door, outcome = _runs(run, files, (f"with {way}", "without"))
    except BaseException:
        tell(f"--check did not end: the files as they were before the program ran are in '{printable(files.store / 'before')}'.")
        raise
    if outcome.differs:
        tell(f"The files of the native run are in '{printable(files.store / 'without')}'.")
    else:
        shutil.rmtree(store, ignore_errors=True)
    return 1 if outcome.differs or not outcome.files else (door or native).status


def _runs(run, files, names):
    """(what the native run left, what the other one did, the outcome)."""
    tell("--check: the native run begins.")
    native, door = files.take("without", run(True)), None
    if native.status >= 128:  # by a signal: who sent it waits for no more
        files.put(native)
        tell(f"--check: the native run ended with status {native.status}, so nothing was compared.")
        return native, native, Outcome(files=1)
    tell(f"--check: the run {names[0]} begins.")
    door = files.take("door", run(False))
    others = [native]
    outcome = compare(files, [door, *others], names)
    if outcome.differs:
        tell("--check: something differs, so a second native run begins, to tell what differs each time.")
        others.append(files.take("again", run(True)))
        outcome = compare(files, [door, *others], names)
    files.put(door)
    for text in outcome.lines[:MOST_LINES]:
        tell(text)
    if len(outcome.lines) > MOST_LINES:
        tell(f"... and {len(outcome.lines) - MOST_LINES} more lines like these.")
    if door.status != native.status:
        tell(f"differs: the command ended with status {door.status} {names[0]}, and {native.status} {names[1]}.")
        outcome.differs = True
    if not outcome.differs:
        for one in others:
            files.put_what_is_new(one)
    if not outcome.files:
        tell(f"The program left no file of HDF5 or classic netCDF in {', '.join(map(repr, files.watched[0]))}, so nothing was compared: name "
             "the folder of its output with --check-dir.")
    elif not outcome.differs:
        tell(f"equal: {units.counted(outcome.files, 'file')}, {units.counted(outcome.items, 'dataset')}, "
             f"{units.counted(outcome.elements, 'element')} are the same {names[0]} and {names[1]}.")
    return native, door, outcome


@dataclasses.dataclass
class Outcome:
    differs: bool = False
    files: int = 0
    items: int = 0
    elements: int = 0
    lines: list = dataclasses.field(default_factory=list)


def compare(files, runs, names):
    outcome, here = Outcome(), f"{os.getcwd()}/"
    for group in _groups(files, runs):
        places = [files.after(run, path) for run, path in zip(runs, group)]
        shown = " and ".join(printable(path.removeprefix(here)) for path in dict.fromkeys(group[:2]))
        kinds = [place and not os.path.islink(place) and contents.kind(place) for place in places]
        if files.compressed and set(kinds[:2]) == {contents.HDF5, contents.NETCDF}:
            kinds = [contents.NETCDF if kind else kind for kind in kinds]
        if not any(kinds[:2]):
            if places[0] and places[1] and not _same_bytes(*places[:2]):
                outcome.lines.append(f"not compared: '{shown}' is no file of HDF5 or netCDF; its bytes differ.")
            continue
        outcome.files += 1
        for text, steady in _of_file(places, kinds, names, outcome):
            outcome.differs |= steady
            outcome.lines.append(f"{'differs' if steady else 'not the same in two native runs'}: '{shown}'{text}.")
    return outcome


def _groups(files, runs):
    """[a path for each run] of what is to be compared. Files have names of their own in each run if all runs, two native ones among
    them, leave as many that no other run has: these are taken in the order of their names."""
    paths = set().union(*(run.files for run in runs[:2]))
    there = [{path for path in run.files if files.after(run, path)} for run in runs]
    alone = [sorted(own - set().union(*(other for other in there if other is not own))) for own in there]
    apart = list(zip(*alone)) if len(runs) > 2 and len(set(map(len, alone))) == 1 else []
    return [(path,) * len(runs) for path in sorted(paths - {path for group in apart for path in group})] + apart


def _of_file(places, kinds, names, outcome):
    """(text, steady) of what is not the same in a file."""
    if kinds[0] != kinds[1]:
        says = lambda place, kind: f"a file of {kind}" if kind else "another file" if place else "not there"
        steady = len(kinds) < 3 or (kinds[2], places[2] is None) == (kinds[1], places[1] is None)
        yield f" is {says(places[0], kinds[0])} {names[0]}, {says(places[1], kinds[1])} {names[1]}", steady
        return
    places = [place for place, kind in zip(places, kinds) if kind == kinds[0]]
    try:
        found = contents.compare(places, kinds[0], names)
    except Exception as error:  # of libraries that have a kind of their own for everything
        yield f" cannot be read ({' '.join(str(error).split())[:300]})", True
        return
    outcome.items, outcome.elements = outcome.items + found.items, outcome.elements + found.elements
    for one in found.differences:
        yield f", {printable(one.name)}: {printable(one.text)}", one.steady


def _same_bytes(one, other):
    if os.path.islink(one) or os.path.islink(other):
        return os.path.islink(one) and os.path.islink(other) and os.readlink(one) == os.readlink(other)
    if os.path.getsize(one) != os.path.getsize(other):
        return False
    with open(one, "rb") as first, open(other, "rb") as second:
        while block := first.read(4 << 20):
            if block != second.read(4 << 20):
                return False
    return True
