"""Files that users name. What is read is a regular file. What is written replaces no input, nothing but regular files, and
no file that Slabmark did not make, unless told to; and it is there whole or not at all."""

import contextlib
import os
import pathlib
import stat
import uuid

from slabmark.errors import InputError, LabError

# What stands in the beginning of files that `slabmark` made and may make again.
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


def check_output(path, inputs=(), overwrite=False, ours=None):
    """InputError unless `path` may be written: as a new file, or over one that begins with `ours`, or any other regular
    file if `overwrite`; over one of the inputs never."""
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
        raise InputError(f"'{path}' exists already; name another output, or allow this with --overwrite.")


def beginning(path):
    with open_regular(path) as file:
        return file.read(BEGINNING)


def write(path, data):
    """Replaces a file by bytes. What was there stays until all of them are. LabError if that fails."""
    path = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(path), f".slabmark-{uuid.uuid4().hex}")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        raise LabError(f"'{path}' cannot be written: {error.strerror}.") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
