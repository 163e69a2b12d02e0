"""Each verb, program and subcommand answers --help, and the overview says of each verb what the verb says of itself."""

import os
import pathlib
import re
from concurrent.futures import ThreadPoolExecutor

import command_lines
import pytest

pytestmark = pytest.mark.fast


def test_each_command_prints_its_usage_when_it_is_asked(run, programs):
    def wrong(command):
        program, *words = command.name.split()
        done = run(program, [*words, "--help"])
        is_good = done.returncode == 0 and done.stderr == "" and re.search(rf"^Usage: {re.escape(command.name)}\b", done.stdout, re.M)
        return None if is_good else (command.name, done.returncode, done.stdout[:200], done.stderr)

    commands = [command for program in programs.values() for command in program.all()]
    assert len(commands) > 40
    with ThreadPoolExecutor(4) as pool:
        assert not list(filter(None, pool.map(wrong, commands)))


def test_each_command_and_option_is_explained_and_none_is_named_twice(programs):
    for program in programs.values():
        for command in program.all():
            assert command.usage.startswith(command.name) and (command.about or command.summary), command.name
            assert all(each.help for each in [*command.options, *command.arguments] if "--help" not in getattr(each, "names", ())), command.name
            names = [name for option in command.options for name in option.names]
            assert len(names) == len(set(names)), command.name


def test_the_overview_and_the_lab_say_the_same_of_each_verb(programs):
    lab = pathlib.Path(os.environ["SLABMARK_BIN"]).parent / "libexec/slabmark/lab"
    own = {verb["name"]: verb["summary"] for verb in command_lines.describe(lab) if verb["name"] != "slabmark decomp"}
    overview = {verb.name: verb.summary for verb in programs["slabmark"].commands}
    assert own.items() <= overview.items()
