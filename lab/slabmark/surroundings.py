"""What the lab finds where it is started, and what the programs that it starts are to find of that."""

import contextlib
import os

from slabmark.errors import InputError

# The names of the variables that the command slabmark changed, or Python did as it began; what each was before has this and
# its name for a name. src/programs/slabmark/main.cpp sets them.
BEFORE = "SLABMARK_BEFORE"
PROGRAMS = "SLABMARK_BIN"  # the only one of them that the lab looks up later
_programs_of_user: list[str | None] = []


def restore_variables():
    """Puts back what the wrapper changed for Python's beginning, so that programs that are started find what the user set."""
    for name in os.environ.pop(BEFORE, "").split():
        value = os.environ.pop(f"{BEFORE}_{name}", None)
        if name == PROGRAMS:
            _programs_of_user[:] = [value]
        elif value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def environment_of_user():
    """What a command of the user's own is to find."""
    environment = dict(os.environ)
    for value in _programs_of_user:
        environment.pop(PROGRAMS, None)
        if value is not None:
            environment[PROGRAMS] = value
    return environment


def check_folder():
    """InputError if the working folder is gone, in which paths mean nothing."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise InputError("The folder in which this was started has been removed; change to another.") from None


@contextlib.contextmanager
def as_matplotlib_needs():
    """While it is loaded: the settings of a user, which are for other pictures, may end it. It opens no windows, and of the
    places of its file of settings the working folder is the first; in ours there is an empty one, and no module."""
    backend, folder = os.environ.get("MPLBACKEND"), os.open(".", os.O_PATH | os.O_DIRECTORY)
    try:
        os.environ["MPLBACKEND"] = "agg"
        os.chdir(os.path.join(os.path.dirname(__file__), "settings"))
        yield
    finally:
        os.fchdir(folder)
        os.close(folder)
        if backend is None:
            del os.environ["MPLBACKEND"]
        else:
            os.environ["MPLBACKEND"] = backend
