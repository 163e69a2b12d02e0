"""What results are called, their units and what they mean, as the programs say it: docs/methods_tables.py writes terms.json."""

import json
import pathlib

TERMS = json.loads(pathlib.Path(__file__).with_name("terms.json").read_text(encoding="utf-8"))
PHASES = {phase["name"]: phase["description"] for phase in TERMS["phases"]}  # in the order in which they happen


def hint(group, name):
    """What a report says of a result."""
    return next(term["hint"] for term in TERMS[group] if term["name"] == name)
