"""What `make docs` does beside what mkdocs.yml says: the navigation is that of README.md, each program gets a page of all its
options, made of what it says to --help, and links that lead out of this folder become names of files.

SLABMARK_BIN names the folder of the programs.
"""

import html
import os
import pathlib
import re
import sys

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

DOCS = pathlib.Path(__file__).resolve().parent
REFERENCE = "All options"
sys.path.insert(0, str(DOCS.parent / "setup"))
import command_lines  # noqa: E402


def groups(text):
    """{heading: [page]} of the tables in README.md."""
    found = {}
    for line in text.splitlines():
        if line.startswith("## "):
            pages = found.setdefault(line[3:].strip(), [])
        elif row := re.match(r"\| \[[^]]*\]\(([\w-]+\.md)\) \|", line):
            pages.append(row[1])
    return found


def described():
    folder = os.environ.get("SLABMARK_BIN", DOCS.parent / "build/release/bin")
    programs = command_lines.ask_all(str(folder))
    if absent := sorted(set(command_lines.names()) - set(programs)):
        raise PluginError(f"'{folder}' lacks {', '.join(absent)}, of which the reference is made: run 'make docs'.")
    return programs


def place(program):
    return f"reference/{program}.md"


def on_config(config):
    sections = [{heading: pages} for heading, pages in groups((DOCS / "README.md").read_text()).items()]
    config.nav = [{"Overview": "README.md"}, *sections, {REFERENCE: [place(program) for program in command_lines.names()]}]
    return config


def on_files(files, config):
    for program, command in described().items():
        files.append(File.generated(config, place(program), content=reference(command)))
    return files


def on_page_markdown(markdown, page, config, files):
    return re.sub(r"\[([^]]*)\]\(\.\./([^)#]*)[^)]*\)", r"\1 (`\2`)", markdown)


def reference(program):
    """The page of a program: what it is, its usage, its options, and the same of each of its subcommands."""
    lines = [f"# Options of {program.name}", "", "As it says to `--help`.", ""]
    for command in program.all():
        if command is not program:
            lines += [f"## {command.name}", ""]
        # The column of Markdown's tables ends at a bar, also in code.
        lines += [html.escape(command.summary or command.about), "", f"    {command.usage}", ""]
        entries = command.positionals + command.options
        if entries:
            lines += ["| option | takes | meaning |", "| --- | --- | --- |"]
            lines += [f"| {', '.join(f'`{name}`' for name in each.names)} | {cell(each.takes)} | {cell(each.text)} |" for each in entries]
            lines.append("")
    return "\n".join(lines)


def cell(text):
    return html.escape(text).replace("|", "&#124;").replace("*", "&#42;").replace("_", "&#95;").replace("[", "&#91;")
