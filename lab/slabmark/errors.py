"""Errors that a user can mend, and the nearest name to one that was mistyped."""

import difflib


class LabError(Exception):
    """One full sentence that names the culprit and the remedy. `status` is the exit status."""

    status = 1


class InputError(LabError):
    """Bad usage, or input that cannot be used."""

    status = 2


def did_you_mean(word, known):
    """' Did you mean "x"?', or a list of what is known if nothing is near."""
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    if near:
        return f' Did you mean "{near[0]}"?'
    return f" Known are: {', '.join(sorted(known))}."
