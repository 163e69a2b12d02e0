"""Pages and help texts keep the rules of setup/vale: sentences of at most 30 words that begin with their subject, one term for
one thing, one spelling."""

import shutil
import subprocess

import api_pages
import messages
import prose
import pytest
from conftest import TOP

# Facts for developers and logs of studies may be terse.
LISTED = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=TOP, capture_output=True, text=True)
PAGES = [TOP / line for line in LISTED.stdout.splitlines() if not line.startswith(("docs/dev/", "studies/"))] or [TOP / "README.md", *(TOP / "docs").rglob("*.md")]


@pytest.fixture(scope="module")
def rules():
    return prose.rules()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_a_page_keeps_the_rules(page, rules):
    found = [f"{page.relative_to(TOP)}:{number}: {message}" for number, message in prose.faults(page.read_text(encoding="utf-8"), rules)]
    assert not found, "\n".join(found)


SOURCES = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "src", "plugins", "lab/slabmark"], cwd=TOP,
                         capture_output=True, text=True).stdout.splitlines()
READERS = {".py": messages.of_python} | dict.fromkeys((".c", ".cpp", ".cu", ".h", ".hpp"), messages.of_c)


def test_messages_keep_the_rules(rules):
    found = []
    for name in SOURCES:
        path = TOP / name
        if path.is_file() and (read := READERS.get(path.suffix)):
            found += [f"{name}:{line}: {message}" for line, text in read(path.read_text(encoding="utf-8"))
                      for rule in rules for message in rule.faults("sentence", prose.without_markup(text))]
    assert not found, "\n".join(found)


def test_a_message_is_put_together_from_its_literals():
    assert messages.of_c('fail("{} has "  \n  "no end", a, "x"); // "a comment is none"') == [(1, "CODE has no end")]
    assert messages.of_python('"""A docstring is none."""\nraise Error(f"{a} has " f"no end in {b!r}")') == [(2, "CODE has no end in CODE")]
    assert messages.of_python("r'Open MPI v4\\.1'") == []


def test_comments_are_read_as_blocks():
    assert messages.comments_of_c('int a;  ///< one\n// two\n// lines\nf("// none"); /* three */') == [(1, "one"), (2, "two lines"), (4, "three")]
    assert messages.comments_of_scripts("#!/bin/sh\n# one\n# block\n\na=1 # none\n  # two\n") == [(2, "one block"), (6, "two")]


@pytest.mark.parametrize("name", api_pages.PAGES)
def test_the_comments_of_public_headers_keep_the_rules(name, rules):
    """Doxygen also fails where a public name lacks a comment."""
    if not shutil.which("doxygen"):
        pytest.skip("Doxygen is not installed here")
    assert list(prose.faults(api_pages.page(name), rules)) == []


def texts(command):
    """(place, text) of all that `--help` says of a command in sentences."""
    yield command.name, command.summary
    yield command.name, command.about
    for each in [*command.arguments, *command.options]:
        yield f"{command.name} {getattr(each, 'names', None) or each.name}", getattr(each, "text", None) or each.help


def test_help_keeps_the_rules(programs, rules):
    found = []
    for program in programs.values():
        for command in program.all():
            for place, text in texts(command):
                for block in (text or "").split("\n\n"):
                    found += [f"{place}: {message}" for rule in rules for message in rule.faults("sentence", prose.without_markup(" ".join(block.split())))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("text, rule", [
    ("What of a call goes to HDF5 is counted.", "FreeRelative"),
    ("It has the latter.", "MissingNoun"),
    ("It sends one message a window.", "Per"),
    ("It takes .95 of the time.", "LeadingZero"),
    ("The two are not to be told from each other.", "Terms"),
    ("The colour differs.", "Spelling"),
    ("word " * 31 + "end.", "SentenceLength"),
    ("| a | " + "word " * 26 + "|", "CellLength"),
])
def test_a_breach_of_each_rule_is_found(text, rule, rules):
    assert [message.rsplit("(", 1)[1][:-1] for _, message in prose.faults(text, rules)] == [rule]


@pytest.mark.parametrize("text", [
    "What is the page cache? `What of a call` is code.",
    "It takes 0.95 s: see [the latter](the.latter.md).".replace("the latter", "the page"),
    "    colour = code\n",
    "```\nWhat of a call goes to HDF5.\n```\n",
    "# What of a call goes to HDF5\n",
])
def test_code_headings_and_questions_are_free(text, rules):
    assert list(prose.faults(text, rules)) == []


@pytest.mark.long
def test_vale_finds_what_we_find():
    vale = shutil.which("vale")
    if not vale or subprocess.run([vale, "--version"], capture_output=True).returncode:
        pytest.skip("Vale is not installed here")
    done = subprocess.run([vale, "--no-global", "README.md", "docs"], cwd=TOP, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
