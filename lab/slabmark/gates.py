"""What the machines of others read: JUnit's XML for the pages of CI, OpenMetrics text for monitoring."""

import math
import os
import pathlib
from xml.etree import ElementTree

from slabmark import files
from slabmark.errors import InputError, printable

# What stands in the beginning of these files.
JUNIT = b'<testsuites name="slabmark'
OPENMETRICS = b"# TYPE slabmark_"


def add_arguments(parser):
    parser.add_argument("--junit", metavar="FILE", help="also write the verdicts as JUnit XML")
    parser.add_argument("--openmetrics", metavar="FILE", help="also write them as OpenMetrics text")


def check(arguments, inputs, overwrite=None, others=()):
    """InputError unless what was asked for may be written, each to a file of its own; `others`: what else will be."""
    taken = {os.path.realpath(name) for name in others}
    for name, ours in ((arguments.junit, JUNIT), (arguments.openmetrics, OPENMETRICS)):
        if name is not None:
            files.check_output(name, inputs, overwrite, ours)
            if (place := os.path.realpath(name)) in taken:
                raise InputError(f"'{name}' is the name of two outputs; give each its own.")
            taken.add(place)


def write(arguments, tests, families):
    """LabError if that fails."""
    if arguments.junit is not None:
        files.write(pathlib.Path(arguments.junit), junit(*tests))
    if arguments.openmetrics is not None:
        files.write(pathlib.Path(arguments.openmetrics), openmetrics(families))


def junit(name, cases):
    """Bytes of XML, which has no way to write control characters, with a suite a workload. `cases`: [(workload, cell, seconds or None, verdict, words, outcome)], where
    the outcome is "passed", "failed" or "skipped"."""
    top = ElementTree.Element("testsuites", name=printable(f"slabmark {name}"), **_counts(cases))
    for workload in dict.fromkeys(case[0] for case in cases):
        own = [case for case in cases if case[0] == workload]
        suite = ElementTree.SubElement(top, "testsuite", name=printable(workload), **_counts(own))
        for _, cell, seconds, verdict, words, outcome in own:
            of_case = {
                "name": printable(cell),
                "classname": printable(f"slabmark.{name}.{workload}"),
                "time": f"{seconds or 0:.9f}",
            }
            case = ElementTree.SubElement(suite, "testcase", of_case)
            if outcome == "failed":
                ElementTree.SubElement(
                    case, "failure", message=printable(f"{verdict}: {words}"), type=printable(verdict)
                ).text = printable(words)
            elif outcome == "skipped":
                ElementTree.SubElement(case, "skipped", message=printable(f"{verdict}: {words}"))
            else:
                ElementTree.SubElement(case, "system-out").text = printable(f"{verdict}: {words}")
    ElementTree.indent(top)
    return ElementTree.tostring(top, encoding="utf-8", xml_declaration=True) + b"\n"


def _counts(cases):
    outcomes = [case[5] for case in cases]
    counts = {"tests": len(cases), "failures": outcomes.count("failed"), "errors": 0, "skipped": outcomes.count("skipped")}
    return {name: str(count) for name, count in counts.items()} | {"time": f"{sum(case[2] or 0 for case in cases):.9f}"}


def openmetrics(families):
    """Bytes of the text format 1.0. `families`: [(name, type, unit or None, help, [(labels, value)])]; the value of a
    "stateset" is its state among the states that `labels` has under the family's name."""
    lines = []
    for name, kind, unit, help_text, samples in families:
        lines.append(f"# TYPE {name} {kind}")
        if unit:
            lines.append(f"# UNIT {name} {unit}")
        lines.append(f"# HELP {name} {_escaped(help_text)}")
        for labels, value in samples:
            if value is not None:
                inside = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
                lines.append(f"{name}{{{inside}}} {_number(value)}")
    return "\n".join([*lines, "# EOF", ""]).encode("utf-8", "backslashreplace")


def states(name, labels, chosen, known):
    """The samples of a stateset: 1 for the state that holds."""
    return [(labels | {name: state}, int(state == chosen)) for state in known]


def _escaped(text):
    return printable(text).replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value):
    return "NaN" if math.isnan(value) else {math.inf: "+Inf", -math.inf: "-Inf"}.get(value) or repr(value)
