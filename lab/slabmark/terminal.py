"""Words for people, on a terminal or into a log."""


def say(console, text=""):
    """Text as it is: no colours of rich's own, no lines broken that a user may want to copy."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)
