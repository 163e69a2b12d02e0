"""What a command prints for people, on a terminal or into a log."""

from rich.console import Console

from slabmark.errors import printable


class Terminal(Console):
    def say(self, text=""):
        """Text as it is: no colours of rich's own, no lines broken that a user may want to copy. Its own line breaks stay:
        those of a name are made printable by who puts it in, or quoted where it is in a line to type."""
        self.print(printable(text, keep="\n"), highlight=False, markup=False, soft_wrap=True)
