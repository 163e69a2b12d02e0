"""Errors that a user can mend, what others print of them, and the nearest name to one that was mistyped."""

import errno
import re

MOST_OF_A_WORD, MOST_OF_A_SENTENCE = 200, 1200  # characters; beyond, the middle is left out
# The errors of the storage; any other OSError says that something that the user named cannot be used.
FAILED_IO = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.ENOMEM)


class LabError(Exception):
    """One full sentence that names the culprit and the remedy. `status` is the exit status."""

    status = 1


class InputError(LabError):
    """Bad usage, or input that cannot be used."""

    status = 2


def explained(error):
    """(exit status, one sentence) of any exception: the only place where they end."""
    if isinstance(error, LabError):
        status, text = error.status, str(error)
    elif isinstance(error, OSError) and error.strerror:
        status = 1 if error.errno in FAILED_IO else 2
        text = f"'{printable(error.filename)}': {error.strerror}." if error.filename else f"{error.strerror}."
    elif isinstance(error, (MemoryError, RecursionError)):
        status, text = 2, f"The input is too large or nested too deeply for this machine ({type(error).__name__})."
    else:
        place = error.__traceback__
        while place.tb_next:
            place = place.tb_next
        where = f"{place.tb_frame.f_code.co_filename.rpartition('/')[2]}, line {place.tb_lineno}"
        status, text = 1, f"Internal error: {type(error).__name__} in {where}: {error}. Please report it."
    return status, cut(printable(text))


def printable(text, keep=""):
    """Control characters, and what reverses the direction of text, as escapes: names reach terminals and scripts."""
    text = str(text)
    return text if text.isprintable() else "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def cut(text):
    """A culprit may be as long as a file: its ends are enough to find it."""
    return _middle_out(
        re.sub(rf"\S{{{MOST_OF_A_WORD + 1},}}", lambda word: _middle_out(word[0], MOST_OF_A_WORD), text),
        MOST_OF_A_SENTENCE,
    )


def _middle_out(text, most):
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 2 :]}"


def did_you_mean(word, known, otherwise=None):
    """' Did you mean "x"?'; if nothing is near, `otherwise`, which defaults to a list of what is known."""
    import difflib  # when it is needed: it takes some milliseconds

    near = difflib.get_close_matches(str(word)[:MOST_OF_A_WORD], list(known), n=1, cutoff=0.6)
    if near:
        return f' Did you mean "{near[0]}"?'
    return f" Known are: {', '.join(sorted(known))}." if otherwise is None else otherwise
