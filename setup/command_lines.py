"""Programs with their subcommands, options and arguments, as they describe themselves by --describe-options.

Manual pages, completions, the reference of the documentation and the tests of command lines are made of this.
"""

import dataclasses
import functools
import json
import os
import pathlib
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

COMMAND = "slabmark"


@dataclasses.dataclass
class Option:
    names: list  # ["-o", "--output"]
    value: str = ""  # "FILE"; empty if it takes none
    choices: list = dataclasses.field(default_factory=list)
    default: str = ""
    required: bool = False
    repeated: bool = False
    group: str = ""
    help: str = ""

    @property
    def text(self):
        marks = [f"default {self.default}"] * bool(self.default) + ["required"] * self.required
        return self.help + (f" ({', '.join(marks)})" if marks else "")


@dataclasses.dataclass
class Argument:
    name: str
    required: bool = True
    repeated: bool = False
    help: str = ""


@dataclasses.dataclass
class Command:
    name: str  # "slabmark decomp generate"
    about: str = ""
    summary: str = ""  # what the command above says of it
    usage: str = ""  # empty if it is known by its summary alone
    arguments: list = dataclasses.field(default_factory=list)
    options: list = dataclasses.field(default_factory=list)
    commands: list = dataclasses.field(default_factory=list)

    @property
    def word(self):
        return self.name.rpartition(" ")[2]

    def all(self):
        return [self, *(c for below in self.commands for c in below.all())]


def from_json(described):
    """The Command that a program printed."""
    given = {field.name: described[field.name] for field in dataclasses.fields(Command) if field.name in described}
    given["arguments"] = [Argument(**each) for each in given.get("arguments", [])]
    given["options"] = [Option(**each) for each in given.get("options", [])]
    given["commands"] = [from_json(each) for each in given.get("commands", [])]
    return Command(**given)


def describe(*command):
    done = subprocess.run([*command, "--describe-options"], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"'{' '.join(map(str, command))} --describe-options' failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def first_sentence(text):
    return re.split(r"(?<=[.?!])\s|:\s", text)[0].rstrip(".:")


def originals():
    """Names of the programs with the options of their originals: each has a folder of its own, beside those of the verbs."""
    folders = pathlib.Path(__file__).resolve().parents[1] / "src/programs"
    return sorted(folder.name for folder in folders.iterdir() if folder.is_dir() and folder.name not in {COMMAND, *compiled_verbs()})


def compiled_verbs():
    """Names of the verbs that are executables."""
    folders = pathlib.Path(__file__).resolve().parents[1] / "src/programs"
    lists = (folders / "CMakeLists.txt").read_text()
    return re.findall(r"^slabmark_program\((\w+) VERB\b", lists, re.M)


@functools.cache
def ask_all(folder):
    """{name: Command} of the command slabmark, with all of its verbs below it, and of the originals that are in a folder."""
    folder = pathlib.Path(folder)
    found = [name for name in originals() if os.access(folder / name, os.X_OK)]
    with ThreadPoolExecutor(2) as pool:
        programs = [from_json(each) for each in pool.map(lambda name: describe(folder / name), found)]
    return {program.name: program for program in [whole_command(folder), *programs]}


def whole_command(folder):
    """The command slabmark, with each verb as the executable or the lab describes it."""
    command = from_json(describe(folder / COMMAND))
    verbs = folder.resolve().parent / "libexec" / COMMAND
    described = {}
    for each in [from_json(describe(verbs / name)) for name in compiled_verbs() if (verbs / name).exists()]:
        described[each.name] = each
    for each in map(from_json, describe(verbs / "lab") if (verbs / "lab").exists() else []):
        if each.name in described:  # decomp, of which the lab has `show`
            described[each.name].commands += each.commands
        else:
            described[each.name] = each
    command.commands = [dataclasses.replace(described.get(each.name, each), summary=each.summary) for each in command.commands]
    return command
