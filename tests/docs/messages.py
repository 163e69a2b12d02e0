"""Reads what sources say to their users (string literals) and to their readers (comments), as blocks of prose."""

import ast
import re

# A comment, a raw string, a string or a character of C and C++.
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?P<raw>.*?)\)\1"|"(?P<string>(?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
# What takes the place of a value: {} of fmt, %s of printf.
PLACE = re.compile(r"'?\{[^{}]*\}'?|%[-0-9.*]*l*[a-z]+(?= |\b)")
FEWEST_WORDS = 3


def sentences_of(literal):
    """The paragraphs of a literal that may be prose; regular expressions, lines of tables and lists of words are not."""
    for block in literal.split("\n"):
        text = " ".join(PLACE.sub("CODE", block).split())
        is_prose = len(text.split()) >= FEWEST_WORDS and "  " not in block.strip() and not re.search(r"\\[.dswb(]", text)
        if is_prose and (len(text.split()) < 30 or re.search(r"[.,:;]", text)):
            yield text


def of_c(text):
    """(line, text) of each string literal, those that follow each other put together."""
    found, end = [], 0
    for match in TOKENS.finditer(text):
        if match["string"] is None and match["raw"] is None:
            continue
        literal = match["raw"] if match["raw"] is not None else re.sub(r"\\(.)", lambda code: {"n": "\n", "t": " "}.get(code[1], code[1]), match["string"])
        if found and not text[end : match.start()].strip():
            found[-1] = found[-1][0], found[-1][1] + literal
        else:
            found.append((text.count("\n", 0, match.start()) + 1, literal))
        end = match.end()
    return [(line, block) for line, literal in found for block in sentences_of(literal)]


def of_python(text):
    """(line, text) of each string that is not a docstring."""
    tree = ast.parse(text)
    passed_over = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    found = []

    def visit(node):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "CODE" for part in node.values]
            found.append((node.lineno, "".join(parts)))
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    visit(part.value)
            return
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed_over:
            found.append((node.lineno, node.value))
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return [(line, block) for line, literal in found for block in sentences_of(literal)]


def comments_of_c(text):
    """(line, text) of each comment; lines of // that follow each other are one."""
    found, last = [], 0
    for match in TOKENS.finditer(text):
        if not match[0].startswith(("//", "/*")):
            continue
        line = text.count("\n", 0, match.start()) + 1
        alone = not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        body = match[0].lstrip("/").lstrip("<!") if match[0].startswith("//") else re.sub(r"^\s*\*+<?", "", match[0][2:-2], flags=re.M)
        if found and alone and last == line - 1 and match[0].startswith("//"):
            found[-1] = found[-1][0], f"{found[-1][1]} {body.strip()}"
        else:
            found.append((line, body.strip()))
        last = line if match[0].startswith("//") and alone else 0
    return [(line, " ".join(block.split())) for line, block in found]


def comments_of_scripts(text):
    """The same for languages whose comments begin with #."""
    found, is_open = [], False
    for line, content in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*#(?!!) ?(.*)", content)
        if match and is_open:
            found[-1] = found[-1][0], f"{found[-1][1]} {match[1]}"
        elif match:
            found.append((line, match[1]))
        is_open = bool(match)
    return [(line, " ".join(block.split())) for line, block in found]
