"""Files that users name. What is read is a regular file. What is written replaces no input, nothing but regular files, and
no file that Slabmark did not make, unless told to; and it is there whole or not at all."""

import contextlib
import errno
import fcntl
import os
import pathlib
import stat
import sys
import uuid

from slabmark.errors import FAILED_IO, InputError, LabError, printable

# The beginning of files that `slabmark` made and may make again.
REPORT = b'<meta name="generator" content="slabmark'
TABLE = b"workload,"
PICTURE = b"Software\0slabmark"
JOB_SCRIPT = b"# Written by 'slabmark "
BEGINNING = 1 << 16  # bytes of a file in which one of these stands


def open_regular(path):
    """For reading bytes. A pipe or device might never end. InputError, OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # opening a pipe waits for its other end, else
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError(f"'{path}' is no regular file.")
    return open(descriptor, "rb")


def as_operand(path):
    """For the command line of a program, to which what begins with a dash is an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def check_output(path, inputs=(), overwrite=None, ours=None):
    """InputError unless `path` may be written: as a new file, or over one that begins with `ours`, or any other regular
    file if `overwrite` (None: nobody can ask for that); over one of the inputs never."""
    path = pathlib.Path(path)
    if not path.parent.is_dir():
        raise InputError(f"'{path}' cannot be written: there is no folder '{path.parent}'.")
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"'{path}' cannot be written: it is no regular file.")
    for other in inputs:
        if os.path.exists(other) and os.path.samefile(path, other):
            raise InputError(f"'{path}' is one of the inputs, and is not written over; name another output.")
    if not overwrite and not (ours and ours in beginning(path)):
        remedy = "remove it" if overwrite is None else "allow this with --overwrite"
        raise InputError(f"'{path}' exists already; name another output, or {remedy}.")


def beginning(path):
    with open_regular(path) as file:
        return file.read(BEGINNING)


def write(path, data):
    """Replaces a file by bytes, durably. What was there stays until all of them are, and its mode is kept. LabError if that
    fails: an InputError where the file may not be written at all."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, f".slabmark-{uuid.uuid4().hex}")
    try:
        with open(temporary, "xb") as file:
            with contextlib.suppress(OSError):  # nothing is there, or its file system has no modes
                os.fchmod(file.fileno(), os.stat(path).st_mode & 0o777)
            file.write(data)
            file.flush()
            _make_durable(file.fileno())  # or after a crash of the machine the name may lead to an empty file
        os.replace(temporary, path)
        with contextlib.suppress(PermissionError):  # a folder may be written and not be read
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                _make_durable(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        kind = LabError if error.errno in FAILED_IO else InputError
        raise kind(f"'{path}' cannot be written: {error.strerror}.") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def append(path, data):
    """All of it, or nothing. LabError if that fails."""
    end = None
    try:
        with open(path, "ab") as file:
            end = file.tell()
            file.write(data)
    except OSError as error:
        if end is not None:
            with contextlib.suppress(OSError):
                os.truncate(path, end)
                end or os.unlink(path)
        raise LabError(f"'{path}' cannot be written: {error.strerror}. Nothing was added to it; name a file on another disk.") from None


def take_lock(lock, path):
    """True once `lock()` has returned. False, and one line says so, where the file system of the path has no locks: any refusal
    means that, whatever its number, except that another process holds one. That is a BlockingIOError."""
    try:
        lock()
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):  # flock() and lockf() each have their own
            raise BlockingIOError(*error.args) from None
        print(f"slabmark: '{printable(path)}' is on a file system without locks ({error.strerror}), so two runs at once cannot be told "
              "apart there: start one at a time.", file=sys.stderr)
        return False
    return True


def has_record_locks(path, make=False):
    """Whether the file's system has the locks of fcntl(), by which SQLite keeps writers apart; `make`: an empty file if there is
    none. To be asked before SQLite opens the file, as a process that closes a file gives back all its locks on that."""
    descriptor = os.open(path, os.O_RDONLY | (os.O_CREAT if make else 0), 0o644)
    try:
        return take_lock(lambda: fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, 1), path)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)


def _make_durable(descriptor):
    """Where the file system can: some know no such thing, of folders above all."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno in FAILED_IO:
            raise
