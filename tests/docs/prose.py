"""Reads the prose of pages, and applies the rules of setup/vale to it, as Vale does.

Vale is one program of many, and few machines have it. The rules are plain regular expressions, so the tests apply them
without it; `make lint` runs Vale itself where it is installed.
"""

import pathlib
import re

import yaml

RULES = pathlib.Path(__file__).resolve().parents[2] / "setup/vale/Slabmark"
CODE = "CODE"  # stands for a span of code, which has no grammar


def without_markup(text):
    text = re.sub(r"(`+)(?:(?!\1).)+\1", CODE, text)
    text = re.sub(r"!\[[^]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"<!--.*?-->|</?[a-z][^>]*>", "", re.sub(r"\*\*|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)", "", text))


def blocks(text):
    """(number of the first line, kind, text) of each paragraph, item of a list, heading and table cell; kind as Vale's scopes."""
    fenced, before, open_block = False, "", None
    for number, line in enumerate([*text.splitlines(), ""], 1):
        stripped = line.strip()
        starts_item = re.match(r"\s*(?:[*+-]|\d+\.) +", line)
        is_code = fenced or stripped.startswith("```") or (line.startswith("    ") and not starts_item and (not before or open_block is None))
        if stripped.startswith("```"):
            fenced = not fenced
        ends = not stripped or is_code or starts_item or stripped.startswith(("#", "|", "<!--"))
        if open_block and ends:
            yield open_block[0], "sentence", without_markup(" ".join(open_block[1]))
            open_block = None
        if stripped and not is_code:
            if stripped.startswith("#"):
                yield number, "heading", without_markup(stripped.lstrip("# "))
            elif stripped.startswith("|"):
                row = re.sub(r"`[^`]*`", CODE, stripped.strip("|"))
                if not re.fullmatch(r"[\s|:-]*", row):
                    yield from ((number, "table.cell", without_markup(cell.strip())) for cell in row.split("|") if cell.strip())
            elif not stripped.startswith("<!--"):
                open_block = open_block or (number, [])
                open_block[1].append(line[starts_item.end() :] if starts_item else stripped)
        before = stripped


def sentences(text):
    parts = re.split(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)[)\"”]?\s+(?=[\"“(]?[A-Z0-9])", text)
    return [part.strip() for part in parts if part.strip()]


class Rule:
    def __init__(self, path):
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
        self.name, self.message, self.kind = path.stem, said["message"], said["extends"]
        self.scope, self.most = said.get("scope", "text"), said.get("max")
        flags = re.I if said.get("ignorecase") else 0
        if self.kind == "occurrence":
            self.patterns = {re.compile(said["token"]): None}
        elif self.kind == "substitution":
            self.patterns = {re.compile(pattern, flags): better for pattern, better in said["swap"].items()}
        else:
            around = "{}" if said.get("nonword") else r"\b(?:{})\b"
            self.patterns = {re.compile(around.format(token), flags): None for token in said["tokens"]}

    def faults(self, kind, text):
        """A message for each breach in a block of this kind."""
        if self.scope not in ("text", kind):
            return
        for part in sentences(text) if self.scope != "text" else [text]:
            for pattern, better in self.patterns.items():
                found = [match[0] for match in pattern.finditer(part)]
                if self.kind == "occurrence":
                    found = [len(found)] if len(found) > self.most else []
                for one in found:
                    words = (better, one) if better else (one,)
                    yield f"{self.message % words if '%s' in self.message else self.message} {part!r} ({self.name})"


def rules():
    return [Rule(path) for path in sorted(RULES.glob("*.yml"))]


def faults(text, given):
    """(number of the line, message) of each breach of the rules in a page."""
    for number, kind, block in blocks(text):
        for rule in given:
            yield from ((number, message) for message in rule.faults(kind, block))
