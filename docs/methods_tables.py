#!/usr/bin/env python3
"""The tables of methods.md, from what the programs say:

    slabmark-bench methods --json | docs/methods_tables.py

writes them anew between their marks; tests/system/test_methods.py compares them.
"""

import json
import pathlib
import sys

PAGE = pathlib.Path(__file__).with_name("methods.md")
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


def with_tables(page, methods):
    """The page with the tables between their marks."""
    for name, table in (("methods", methods_table), ("options", options_table)):
        before, rest = page.split(MARK.format(name))
        page = before + MARK.format(name) + table(methods) + END + rest.split(END, 1)[1]
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(), json.load(sys.stdin)["methods"]))
