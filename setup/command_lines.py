"""Programs with their subcommands, options and arguments, as they describe themselves in --help.

Manual pages, completions, the reference of the documentation and the test of its command lines are made of this.
"""

import dataclasses
import functools
import os
import pathlib
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

HELP_COLUMN = 30  # of CLI11, the library that parses the command lines of the programs


@dataclasses.dataclass
class Option:
    names: list  # ["-o", "--output"], or the name of a positional
    takes: str  # "FILE"; empty if it takes no value
    text: str

    @property
    def words(self):
        """What the value is one of, if the help lists it: {a,b}, or "a, b or c"."""
        if braces := re.match(r"\{(.*)\}", self.takes):
            return braces[1].split(",")
        if re.fullmatch(r"[\w.-]+(, [\w.-]+)* or [\w.-]+", self.takes):
            return re.split(r", | or ", self.takes)
        return []


@dataclasses.dataclass
class Command:
    name: str  # "slabmark-decomp generate"
    about: str
    usage: str
    options: list = dataclasses.field(default_factory=list)
    positionals: list = dataclasses.field(default_factory=list)
    subcommands: list = dataclasses.field(default_factory=list)  # of Command
    summary: str = ""  # what the command above says of it

    def all(self):
        return [self, *(c for sub in self.subcommands for c in sub.all())]


def entries(lines):
    """(what, text) of lines such as "  -q,--quiet     No progress", with text that may begin or go on in further lines."""
    found = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if indent > 4 and found:
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
        elif "  " not in line[:HELP_COLUMN].strip() and line[HELP_COLUMN - 1 : HELP_COLUMN] == " ":
            found.append([line[:HELP_COLUMN].strip(), line[HELP_COLUMN:].strip()])
        else:  # argparse puts its text elsewhere, after two blanks
            what, _, text = line.strip().partition("  ")
            found.append([what, text.strip()])
    return found


def option(what, text):
    names, takes = [], ""
    while found := re.match(r"(--?[\w-]+)(.*)", what):
        names.append(found[1])
        what = found[2].strip()
        if what.startswith(","):  # -q,--quiet, or argparse's "-o FILE, --output FILE"
            what = what[1:].strip()
        elif ", -" in what:
            what = what.partition(", ")[2]
        else:
            break
    takes = re.sub(r"\s*(REQUIRED|Excludes:.*|Needs:.*)", "", what).strip()
    if "REQUIRED" in what:
        text += " (required)"
    return Option(names, takes, text)


def commands(lines):
    """Subcommands by name: lines indented by two, or by four under a name such as ACTION."""
    return {what: text for what, text in entries([re.sub("^    (?=\\S)", "  ", line) for line in lines]) if not what.isupper()}


def run(path, *words):
    environment = {**os.environ, "COLUMNS": "1000", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # Even one rank alone makes a folder there, which another one that ends may remove (setup/own-tmpdir).
    with tempfile.TemporaryDirectory() as environment["TMPDIR"]:
        done = subprocess.run([path, *words], capture_output=True, text=True, timeout=120, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"'{path} {' '.join(words)}' failed: {done.stderr.strip()}")
    return done.stdout


def ask(path):
    """A program as it describes itself."""
    if path.name == "slabmark":  # all at once: it is Python, which loads for a second each time
        parts = re.split(r"^# (slabmark.*)\n", run(path, "--help-all"), flags=re.M)[1:]
        said = dict(zip(parts[::2], parts[1::2]))
        return described(path.name, said.get)
    return described(path.name, lambda name: run(path, *name.split()[1:], "--help"))


def described(name, help_of, summary=""):
    """The command of this name, such as "slabmark-decomp generate", from what help_of(name) says; and those below it."""
    parts, part = {"": []}, ""
    for line in help_of(name).splitlines():
        if heading := re.fullmatch(r"([A-Za-z][\w -]*):", line):
            part = "options" if heading[1].startswith("with ") else heading[1].lower()  # "with --chunks": those that go with it
        elif usage := re.match(r"[Uu]sage: *(.*)", line):
            parts["usage"], part = [usage[1]], ""
        elif line.strip():
            parts.setdefault(part, []).append(line)
    command = Command(name, " ".join(map(str.strip, parts[""])), parts["usage"][0], summary=summary)
    command.options = [option(*entry) for entry in entries(parts.get("options", []))]
    below = {**commands(parts.get("subcommands", [])), **commands(parts.get("commands", []))}
    positional = parts.get("positionals", parts.get("positional arguments", []))
    if any(line.strip() == "ACTION" for line in positional):
        below.update(commands(positional))
    elif not below:
        command.positionals = [Option([what.split()[0]], "", text) for what, text in entries(positional)]
    command.subcommands = [described(f"{name} {word}", help_of, text) for word, text in below.items()]
    return command


def first_sentence(text):
    return re.split(r"(?<=[.?!])\s|:\s", text)[0].rstrip(".:")


def names():
    """Of all programs: each has a folder of its own, but for the lab's and those that are one verb."""
    folders = pathlib.Path(__file__).resolve().parents[1] / "src/programs"
    verbs = {verb: [f"slabmark-{verb}"] for verb in ("bench", "blob", "decomp", "pattern", "probe")}
    verbs["log"] = ["slablog-canonical", "slablog-info", "slablog-repair"]
    programs = [verbs.get(folder.name, [folder.name]) for folder in folders.iterdir() if folder.is_dir()]
    return ["slabmark", *sorted(sum(programs, []))]


@functools.cache
def ask_all(folder):
    """{name: Command} of all programs that are in a folder."""
    found = [path for name in names() if os.access(path := pathlib.Path(folder) / name, os.X_OK)]
    with ThreadPoolExecutor(2) as pool:
        return {command.name: command for command in pool.map(ask, found)}
