"""Finds the measured numbers that a Markdown page states: values with an interval, values with a unit of time, of rate or with
"times", and, on pages of results, all numbers in cells of tables."""

import re

NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
INTERVAL = rf"{NUMBER}(?: (?:s|ms|%))? \[{NUMBER}(?:, | to | \.\. ){NUMBER}\]"
UNITS = r"(?:s|ms|µs|us|ns|minutes|min|MiB/s|GiB/s|MB/s|GB/s|times)"
WITH_UNIT = re.compile(rf"(?<![\w.\-/]){INTERVAL}(?: {UNITS}\b)?|(?<![\w.,\-/])(?:{NUMBER} (?:to|and) )?{NUMBER} {UNITS}(?![\w/])")
CELL = re.compile(rf"(?<![\w.,\-/])(?:{INTERVAL}|{NUMBER})(?![\w\-/]|\.\d)")


def sections(page):
    """(heading, number of its first line, lines) of each part of a page; code stands for itself and is left out."""
    heading, first, lines, fenced = "", 1, [], False
    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        if not fenced and re.match(r"#{1,6} ", line):
            yield heading, first, lines
            heading, first, lines = line.lstrip("# "), number, []
        lines.append("" if fenced or line.startswith("    ") else line)
    yield heading, first, lines


def plain(line):
    """Without code and targets of links, whose numbers are names."""
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", lambda code: " " * len(code[0]), line))


def numbers_of(lines, *, results_page):
    found = []
    for at, line in enumerate(lines):
        line = plain(line)
        if line.startswith("|") and results_page:
            below = lines[at + 1] if at + 1 < len(lines) else ""
            if not re.match(r"\|[-:| ]+\|$", below) and not re.match(r"\|[-:| ]+\|$", line):
                for cell in line.strip().strip("|").split("|")[1:]:
                    found += [hit[0] for hit in CELL.finditer(cell)]
        else:
            found += [" ".join(hit[0].split()) for hit in WITH_UNIT.finditer(line)]
    return found
