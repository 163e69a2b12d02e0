#!/usr/bin/env python3
"""The tables of methods, options and results, from what the programs say:

    slabmark bench methods --json | docs/methods_tables.py

writes them anew between their marks, and the terms of results for the lab; tests/system/test_methods.py compares them.
"""

import json
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parent
TERMS = DOCS.parent / "lab/slabmark/terms.json"
MARK, END = "<!-- {}: by methods_tables.py -->\n", "<!-- end -->\n"


def methods_table(methods):
    rows = [(f"`{m['name']}`", m["format"], m["kind"], m["summary"]) for m in methods]
    return _table(("method", "file", "kind", "what it does"), rows)


def options_table(methods):
    """Options that the rearranged methods of all libraries have are one row."""
    owners = {}
    rearranged = [{o["name"].split(".")[1] for o in m["options"]} for m in methods if m["name"].endswith("-rearranged")]
    shared = set.intersection(*rearranged) if rearranged else set()
    for method in methods:
        for option in method["options"]:
            name = option["name"]
            if method["name"].endswith("-rearranged") and name.split(".")[1] in shared:
                name = "*." + name.split(".")[1]
            key = (name, option["default"] or "none", option["takes"], option["help"])
            owners.setdefault(key, []).append(method["name"])
    rows = [
        (f"`{name}`", default, takes, _of(names, methods), help_text)
        for (name, default, takes, help_text), names in owners.items()
    ]
    return _table(("option", "default", "takes", "of", "meaning"), rows)


def _table(heads, rows):
    return "".join("| " + " | ".join(cells) + " |\n" for cells in (heads, ["---"] * len(heads), *rows))


def _of(names, methods):
    """Most of a library's methods by the exceptions, others one by one."""
    if names == [m["name"] for m in methods if m["name"].endswith("-rearranged")]:
        return "`*-rearranged`"
    library = names[0].split("-")[0]
    all_names = [m["name"] for m in methods if m["name"].split("-")[0] == library]
    others = [name for name in all_names if name not in names]
    if any(name not in all_names for name in names) or len(others) >= len(names) or len(all_names) == 1:
        return ", ".join(f"`{name}`" for name in names)
    return f"`{library}-*`" + (" but " + ", ".join(f"`{name}`" for name in others) if others else "")


def terms_table(terms):
    rows = [(f"`{term['name']}`", term["unit"], term["description"]) for term in terms]
    return _table(("member", "unit", "content"), rows)


def terms_file(groups):
    """JSON with one line for each term."""
    lines = {group: ",\n".join(json.dumps(term, ensure_ascii=False) for term in terms) for group, terms in groups.items()}
    return "{" + ",\n".join(f"{json.dumps(group)}: [\n{text}]" for group, text in lines.items()) + "}\n"


def written(said):
    """{file: its text} of all that is made of what the programs say."""
    tables = {"methods": methods_table(said["methods"]), "options": options_table(said["methods"])}
    tables |= {f"terms of {group}": terms_table(terms) for group, terms in said["terms"].items()}
    pages = {DOCS / name: (DOCS / name).read_text() for name in ("reference/methods.md", "explanation/measurement.md", "reference/records.md")}
    for name, table in tables.items():
        mark = MARK.format(name)
        page = next(page for page, text in pages.items() if mark in text)
        before, rest = pages[page].split(mark)
        pages[page] = before + mark + table + END + rest.split(END, 1)[1]
    return pages | {TERMS: terms_file(said["terms"])}


if __name__ == "__main__":
    for file, text in written(json.load(sys.stdin)).items():
        file.write_text(text)
