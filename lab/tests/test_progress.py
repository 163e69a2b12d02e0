"""Progress on standard error, the estimate of the time that is left, and tables on narrow terminals."""

import io
import re

import pytest
from slabmark import progress, tables
from slabmark.terminal import Terminal


def test_the_estimate_takes_each_kind_by_itself_and_the_mean_for_what_was_not_there_yet():
    pace = progress.Pace(["long", "short", "long", "short", "other"])
    assert pace.left is None
    pace.took("long", 100.0)
    assert pace.left == 100.0 * 4
    pace.took("short", 2.0)
    assert pace.left == 100.0 + 2.0 + 51.0
    pace.took("other", 3.0)
    assert pace.left == pytest.approx(102.0)
    pace.took("long", 50.0)
    pace.took("short", 2.0)
    assert pace.left == pytest.approx(0.0)


def shown(monkeypatch, is_terminal, **environment):
    """What standard error gets of several steps."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    file = io.StringIO()
    console = Terminal(file=file, force_terminal=is_terminal, width=60)
    monkeypatch.setattr(progress, "Terminal", lambda stderr: console)
    with progress.Progress() as made:
        made.at("[1/3] one\x1b[31m", None)
        made.at("[2/3] two", 90.0)
        made.at("[3/3] three" + "x" * 100, 45.0)
    return file.getvalue()


def test_a_log_has_a_line_now_and_then(monkeypatch):
    assert shown(monkeypatch, False) == "[1/3] one\\x1b[31m\n"


def test_a_terminal_has_one_line_that_fits_and_goes(monkeypatch):
    text = shown(monkeypatch, True, TERM="xterm", NO_COLOR="1")
    assert "three" in text and re.search(r"about 4\d s left", text) and "\x1b[2K" in text
    assert "\x1b[3" not in text.replace("\x1b[?25", "") and "\n\n" not in text, "neither colors nor a second line"


def test_a_dumb_terminal_is_not_animated(monkeypatch):
    assert shown(monkeypatch, True, TERM="dumb").count("\n") == 1


def table(width):
    console = Terminal(width=width, file=io.StringIO())
    columns = [
        tables.Column("name", lambda row: row, is_name=True),
        tables.Column("seconds", lambda row: "123.4 ms", optional=1),
        tables.Column("verdict", lambda row: "inconclusive"),
        tables.Column("more", lambda row: "x" * 20, optional=2),
    ]
    left_out = tables.show(console, columns, ["a-long-name-of-a-cell, cb_nodes=1"])
    return left_out, console.file.getvalue()


@pytest.mark.parametrize("width, expected", [(80, []), (50, ["more"]), (30, ["more", "seconds"])])
def test_a_table_leaves_out_columns_until_it_fits(width, expected):
    left_out, text = table(width)
    assert sorted(left_out) == sorted(expected)
    assert max(map(len, text.splitlines())) <= width and "inconclusive" in text
    assert "".join(line[:12] for line in text.splitlines()).count("a-long-name")
