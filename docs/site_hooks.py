"""What `make docs` does beside what mkdocs.yml says: the navigation is that of README.md, each verb and program gets a page of
all its options, as it describes them itself, each programming interface gets a page (api_pages.py), and links to files that
the site leaves out become names of files.

SLABMARK_BIN names the folder of the programs.
"""

import html
import os
import pathlib
import posixpath
import re
import sys

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

DOCS = pathlib.Path(__file__).resolve().parent
REFERENCE = "Options of each command"
INTERFACES = "Programming interfaces"
sys.path[:0] = [str(DOCS.parent / "setup"), str(DOCS)]
import api_pages  # noqa: E402
import command_lines  # noqa: E402


def groups(text):
    """{heading: [page]} of the tables in README.md."""
    found = {}
    for line in text.splitlines():
        if line.startswith("## "):
            pages = found.setdefault(line[3:].strip(), [])
        elif row := re.match(r"\| \[[^]]*\]\(([\w/-]+\.md)\) \|", line):
            pages.append(row[1])
    return found


def described():
    """[Command] of each page: the verbs, and the programs with the options of their originals."""
    folder = os.environ.get("SLABMARK_BIN", DOCS.parent / "build/release/bin")
    programs = dict(command_lines.ask_all(str(folder)))
    command = programs.pop(command_lines.COMMAND)
    absent = [verb.name for verb in command.commands if not verb.usage] + sorted(set(command_lines.originals()) - set(programs))
    if absent:
        raise PluginError(f"'{folder}' lacks {', '.join(absent)}, of which the reference is made: run 'make docs'.")
    return [*command.commands, *programs.values()]


def place(command):
    return f"reference/options/{command.name.replace(' ', '-')}.md"


def interfaces():
    """{place: function that makes the page}"""
    pages = {f"reference/api/{name}.md": lambda name=name: api_pages.page(name) for name in api_pages.PAGES}
    return {**pages, "reference/api/python.md": lambda: api_pages.PYTHON}


def on_config(config):
    sections = [{heading: pages} for heading, pages in groups((DOCS / "README.md").read_text()).items()]
    config.nav = [{"Overview": "README.md"}, *sections, {INTERFACES: list(interfaces())}, {REFERENCE: [place(command) for command in described()]}]
    return config


def on_files(files, config):
    for command in described():
        files.append(File.generated(config, place(command), content=reference(command)))
    for target, make in interfaces().items():
        try:
            files.append(File.generated(config, target, content=make()))
        except api_pages.Failed as failed:
            raise PluginError(f"Doxygen cannot read the headers of {target}: {failed}") from failed
    return files


def on_page_markdown(markdown, page, config, files):
    def left_out(link):
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), link[2]))
        leads_out = not target.startswith("docs/") or target.startswith("docs/dev/")
        return f"{link[1]} (`{target}`)" if leads_out else link[0]

    return re.sub(r"\[([^]]*)\]\((\.?[\w./-]+)[^)]*\)", left_out, markdown)


def reference(page):
    """The page of a verb or program: what it is, its usage, its options, and the same of each of its subcommands."""
    lines = [f"# Options of {page.name}", ""]
    for command in page.all():
        if command is not page:
            lines += [f"## {command.name}", ""]
        lines += [html.escape(command.about or command.summary), "", f"    {command.usage}", ""]
        rows = [(f"`{each.name}`", "", each.help) for each in command.arguments]
        rows += [(", ".join(f"`{name}`" for name in each.names), each.value, each.text) for each in command.options]
        if rows:
            lines += ["| option | value | meaning |", "| --- | --- | --- |"]
            lines += [f"| {names} | {cell(value)} | {cell(text)} |" for names, value, text in rows]
            lines.append("")
    return "\n".join(lines)


def cell(text):
    """The column of Markdown's tables ends at a bar, also in code."""
    return html.escape(text).replace("|", "&#124;").replace("*", "&#42;").replace("_", "&#95;").replace("[", "&#91;")
