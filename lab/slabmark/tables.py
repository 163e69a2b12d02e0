"""Tables for people that fit the terminal: where it is narrow, columns are left out, which is said."""

import dataclasses
from collections.abc import Callable

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

LEAST_OF_NAMES = 12  # characters of a column of names, whose texts are folded to it at need


@dataclasses.dataclass(frozen=True)
class Column:
    heading: str
    of: Callable  # a row -> its text, which may be a Text
    is_name: bool = False  # names may be folded
    justify: str = "right"  # of what is no name
    optional: int = 0  # where the table is too wide, columns go, those with the greatest number first; 0 stays


def show(console, columns, rows, title=None):
    """Prints a table. Returns the headings of the columns that found no room."""
    rows = [[_text(column.of(row)) for column in columns] for row in rows]
    shown = _fitting(columns, rows, console.width)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    if title:
        console.print(Text(title, style="bold"))
    for column in (columns[place] for place in shown):
        if column.is_name:
            table.add_column(column.heading, overflow="fold", min_width=LEAST_OF_NAMES)
        else:
            table.add_column(column.heading, justify=column.justify, no_wrap=True)
    for row in rows:
        table.add_row(*(row[place] for place in shown))
    console.print(table)
    console.say()
    return [column.heading.replace("\n", " ") for place, column in enumerate(columns) if place not in shown]


def say_left_out(console, headings):
    """`headings`: of the columns that found no room."""
    if headings:
        console.say(f"The terminal is too narrow for the columns {', '.join(dict.fromkeys(headings))}.")


def _text(value):
    return value if isinstance(value, Text) else Text(str(value))


def _fitting(columns, rows, width):
    """Places of the columns that there is room for."""
    widths = [
        LEAST_OF_NAMES if column.is_name else max(map(_width, [column.heading, *(row[place].plain for row in rows)]))
        for place, column in enumerate(columns)
    ]
    shown = list(range(len(columns)))
    while sum(widths[place] for place in shown) + 2 * (len(shown) - 1) > width:
        least = max(shown, key=lambda place: columns[place].optional)
        if not columns[least].optional:
            break
        shown.remove(least)
    return shown


def _width(text):
    return max(map(cell_len, text.split("\n")))
