"""Options of the verbs: one name, one kind of value and one default for each concept, as docs/options.toml lists them.

What is checked is how the commands describe themselves (--describe-options), those of compiled verbs and of the lab.
"""

import copy
import json
import os
import pathlib
import subprocess
import tomllib

import pytest
from conftest import TOP

VERBS = pathlib.Path(os.environ["SLABMARK_BIN"]).parent / "libexec/slabmark"
VARIES = "varies: "

pytestmark = pytest.mark.fast


def below(command):
    yield command
    for inner in command["commands"]:
        yield from below(inner)


@pytest.fixture(scope="module")
def commands():
    """[command] of all verbs, each with its own options."""
    found = []
    for verb in sorted(VERBS.iterdir()):
        said = subprocess.run([verb, "--describe-options"], capture_output=True, text=True, timeout=60)
        assert said.returncode == 0, f"{verb}: {said.stderr}"
        trees = json.loads(said.stdout)
        for tree in trees if isinstance(trees, list) else [trees]:
            found += below(tree)
    return found


@pytest.fixture(scope="module")
def table():
    return tomllib.loads((TOP / "docs/options.toml").read_text(encoding="utf-8"))


def long_name(option):
    return next((name for name in option["names"] if name.startswith("--")), option["names"][0])


def faults(commands, table):
    """A sentence for each option that is not as the table says."""
    concepts = {row["name"]: row for row in table["option"]}
    uses = {}
    for command in commands:
        for option in command["options"]:
            uses.setdefault(long_name(option), []).append((command["name"], option))
            yield from retired_names(command["name"], option, table["retired"])
    for name, places in sorted(uses.items()):
        if name in concepts:
            for command, option in places:
                yield from differences(command, option, concepts[name], table.get("exception", []))
        elif len(places) > 1:
            yield f"{name} is in {places[0][0]} and {places[1][0]}: describe it in docs/options.toml"
        elif near := [other for other in concepts if are_close(name, other) or name in concepts[other].get("not", [])]:
            yield f"{places[0][0]}: {name} is close to {near[0]}: use that name, or describe the concept in docs/options.toml"
    yield from (f"{name} of docs/options.toml is in no command" for name in sorted(concepts.keys() - uses.keys()))


def retired_names(command, option, retired):
    for row in retired:
        if row["old"] in option["names"] and (command + " ").startswith(row.get("in", "slabmark") + " "):
            yield f"{command}: {row['old']} is retired: use {row['new']}"


def differences(command, option, concept, exceptions):
    for exception in exceptions:
        if (exception["option"], exception["command"]) == (concept["name"], command):
            concept = concept | exception
    short = [name for name in option["names"] if not name.startswith("--")]
    if short != ([concept["short"]] if "short" in concept else []):
        yield f"{command}: {concept['name']} has the short names {short}, and in the table '{concept.get('short', '')}'"
    for member in ("value", "default"):
        wanted, found = concept.get(member, ""), option[member]
        if not wanted.startswith(VARIES) and found != wanted and not (member == "default" and option["required"]):
            yield f"{command}: {concept['name']} has the {member} '{found}', and in the table '{wanted}'"
    if not option["help"].lower().startswith(concept["meaning"].lower()):
        yield f"{command}: the help of {concept['name']} is '{option['help']}' and begins otherwise than '{concept['meaning']}'"


def are_close(one, other):
    """Whether two names differ by a letter or two, or by the order or the plural of their words."""
    words = [sorted(word.removesuffix("s") for word in name.strip("-").split("-")) for name in (one, other)]
    return words[0] == words[1] or distance(one, other) <= (1 if min(len(one), len(other)) < 10 else 2)


def distance(one, other):
    """Letters to insert, remove or replace."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def test_options_are_those_of_the_table(commands, table):
    assert len(commands) > 20
    found = list(faults(commands, table))
    assert not found, "\n".join(found)


def an_option(name, value="N", default="1", help="Time steps", required=False):
    return {"names": [name], "value": value, "default": default, "help": help, "required": required}


@pytest.mark.parametrize("option, culprit", [
    (an_option("--steps", default="2"), "has the default '2'"),
    (an_option("--steps", value="FILE"), "has the value 'FILE'"),
    (an_option("--steps", help="Rounds"), "begins otherwise than 'Time steps'"),
    (an_option("--rounds"), "--rounds is retired: use --steps"),
    (an_option("--step"), "--step is close to --steps"),
    (an_option("--limit-time"), "--limit-time is close to --time-limit"),
])
def test_an_option_that_clashes_with_the_table_is_found(option, culprit, commands, table):
    changed = copy.deepcopy(commands)
    changed[0]["options"].append(option)
    assert any(culprit in fault for fault in faults(changed, table))
