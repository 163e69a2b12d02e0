"""Progress of long commands on standard error, with the time that is left: a line that is written over on a terminal, and elsewhere
a line now and then."""

import collections
import contextlib
import time

from rich.progress import Progress as Live
from rich.progress import ProgressColumn, TextColumn
from rich.table import Column
from rich.text import Text

from slabmark import units
from slabmark.errors import printable
from slabmark.terminal import Terminal

SECONDS_BETWEEN_LINES = 30  # where standard error is no terminal


class _Left(ProgressColumn):
    """Counts down between two estimates."""

    def render(self, task):
        return Text(_left(task.fields["ends"] and task.fields["ends"] - time.monotonic()))


def _left(seconds):
    if seconds is None:
        return ""
    return f"about {units.duration(max(1, seconds))} left" if seconds > 0 else "longer than expected"


class Progress:
    """To be entered and left; what it shows is gone afterwards."""

    def __init__(self):
        self.console = Terminal(stderr=True)
        self.later = 0.0  # seconds of what comes after all that is estimated
        self._last_line = None
        description = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"))
        kept = {"redirect_stdout": False, "redirect_stderr": False}  # or standard output would go where this goes
        self._live = Live(description, _Left(), console=self.console, transient=True, expand=True, **kept)
        self._task = self._live.add_task("", ends=None)

    def __enter__(self):
        if self.console.is_interactive:
            self._live.start()
        return self

    def __exit__(self, *_):
        self._hide()

    def _hide(self):
        """Whether it was shown. Elsewhere than on a terminal, stopping would print a line."""
        is_shown = self._live.live.is_started
        if is_shown:
            self._live.stop()
        return is_shown

    def at(self, text, left=None):
        """What is being done. `left`: seconds until the end, if they are known."""
        text, left = printable(text), left if left is None else left + self.later
        self._live.update(self._task, description=text, ends=None if left is None else time.monotonic() + left)
        now = time.monotonic()
        if not self.console.is_interactive and (self._last_line is None or now - self._last_line >= SECONDS_BETWEEN_LINES):
            self._last_line = now
            self.console.say(", ".join(filter(None, [text, _left(left)])))

    @contextlib.contextmanager
    def aside(self):
        """Other lines may be printed within."""
        is_shown = self._hide()
        yield
        if is_shown:
            self._live.start()


class Pace:
    """Estimates the time that launches still take: each as long as the mean of those of its kind so far, or of all so far where
    there was none of its kind."""

    def __init__(self, kinds):
        """`kinds`: of all launches that are to come."""
        self.to_come = collections.Counter(kinds)
        self._seconds, self._ended = collections.Counter(), collections.Counter()
        self._known = 0.0  # seconds of those to come whose kind is known
        self._unknown = self.to_come.total()

    def took(self, kind, seconds):
        """A launch of this kind has ended."""
        if self._ended[kind]:
            self._known -= self._of_kind(kind)
        else:
            self._unknown -= self.to_come[kind]
        self.to_come[kind] -= 1
        self._seconds[kind] += seconds
        self._ended[kind] += 1
        self._known += self._of_kind(kind)

    def _of_kind(self, kind):
        return self._seconds[kind] / self._ended[kind] * self.to_come[kind]

    @property
    def left(self):
        """Seconds; None before the first launch has ended."""
        ended = self._ended.total()
        return self._known + self._unknown * self._seconds.total() / ended if ended else None
