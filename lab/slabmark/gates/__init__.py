"""Files that other people's tools read: JUnit XML for the pages of CI, OpenMetrics text for monitoring."""

import os
import pathlib
from typing import Any, NamedTuple

from slabmark import files
from slabmark.errors import InputError

# The beginning of these files.
JUNIT = b'<testsuites name="slabmark'
OPENMETRICS = b"# TYPE slabmark_"


class Case(NamedTuple):
    """A test in JUnit's terms. Its suite is the workload."""

    workload: str
    cell: str
    seconds: float | None
    verdict: str
    words: str
    outcome: str  # "passed", "failed" or "skipped"


class Gauge(NamedTuple):
    """A family of OpenMetrics. Samples are (labels, value); those without a value are left out."""

    name: str
    help: str
    samples: list[tuple[dict[str, str], float | None]]
    unit: str = ""


class States(NamedTuple):
    """A family of OpenMetrics of the type "stateset". Samples are (labels, the state that holds)."""

    name: str
    help: str
    samples: list[tuple[dict[str, str], str]]
    known: tuple[str, ...]


def check(arguments: Any, inputs, overwrite=None, others=()):
    """InputError unless what was asked for may be written, each to a file of its own; `others`: what else will be."""
    taken = {os.path.realpath(name) for name in others}
    for name, ours in ((arguments.junit, JUNIT), (arguments.openmetrics, OPENMETRICS)):
        if name is not None:
            files.check_output(name, inputs, overwrite, ours)
            if (place := os.path.realpath(name)) in taken:
                raise InputError(f"'{name}' is the name of two outputs; give each its own.")
            taken.add(place)


def write(arguments: Any, name: str, cases: list[Case], families: list[Gauge | States]):
    """`name`: of the command. The libraries are loaded only for the files that were asked for. LabError if writing fails."""
    if arguments.junit is not None:
        from slabmark.gates import junit

        files.write(pathlib.Path(arguments.junit), junit.xml(name, cases))
    if arguments.openmetrics is not None:
        from slabmark.gates import openmetrics

        files.write(pathlib.Path(arguments.openmetrics), openmetrics.text(families))
