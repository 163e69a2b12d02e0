"""Where a study puts what it measured, beside what it prints: `make results` names a file, and makes a record of its lines."""

import json
import os

# The case that is being measured. It goes before the names of all measurements.
case = ""


def add(name, values, unit):
    """`values`: one for each turn or trial, whose median and interval are stated."""
    path = os.environ.get("SLABMARK_STUDY_RECORDS")
    values = list(values)
    if path and values:
        whole = ": ".join(filter(None, (case, " ".join(name.split()))))
        with open(path, "a", encoding="utf-8") as out:
            out.write(json.dumps({"name": whole, "unit": unit, "values": values}) + "\n")
