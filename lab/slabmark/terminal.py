"""Words for people, on a terminal or into a log."""

from slabmark.errors import printable


def say(console, text=""):
    """Text as it is: no colours of rich's own, no lines broken that a user may want to copy."""
    console.print(printable(text, keep="\n"), highlight=False, markup=False, soft_wrap=True)
