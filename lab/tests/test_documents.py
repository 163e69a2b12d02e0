"""The JSON documents of the lab: their schemas are up to date and say what commands print."""

import json
import random
import re

import pytest
from conftest import LAB, noise, record, write_records
from slabmark import command_line, documents

SCHEMAS = LAB.parent / "docs" / "schemas"


def test_the_schemas_in_docs_are_those_of_the_code():
    there = {path.name: path.read_text() for path in SCHEMAS.iterdir()}
    assert there == documents.schemas(), "run docs/make-schemas"


def test_each_schema_is_named_in_the_documentation():
    named = re.findall(r"\(\.\./schemas/([\w-]+\.json)\)", (LAB.parent / "docs/reference/lab.md").read_text())
    assert sorted(named) == sorted(documents.schemas())


def test_names_of_files_that_are_not_utf_8_stay_and_are_ascii(tmp_path):
    made = documents.Hash(what="map", name="caf\udce9.nc", sha256="0")
    documents.put([made], tmp_path / "d.jsonl")
    documents.put([made], tmp_path / "d.jsonl")
    lines = (tmp_path / "d.jsonl").read_bytes().splitlines()
    assert len(lines) == 2 and json.loads(lines[0])["name"] == made.name


@pytest.fixture
def printed(tmp_path, capsys):
    """printed(*words): the documents that a command prints."""
    generator = random.Random(1)
    for name, scale in (("base", 1.0), ("new", 2.0)):
        launches = [record(noise(generator, 3, scale), started=f"2026-01-{day:02}T00:00:00.000Z") for day in range(1, 7)]
        write_records(tmp_path / f"{name}.jsonl", launches)

    def run(*words):
        status = command_line.main([word.replace("@", f"{tmp_path}/") for word in words])
        assert status in (0, 1)
        return capsys.readouterr().out

    def parsed(*words):
        return [json.loads(line) for line in run(*words).splitlines()]

    run("track", "add", "@s.db", "@base.jsonl")
    return parsed


@pytest.mark.parametrize(
    "schema, words",
    [
        ("comparison", "compare @base.jsonl @new.jsonl --json -"),
        ("track-report", "track report @s.db -o @t.html --json -"),
        ("track-query-cells", "track query @s.db cells --json -"),
        ("track-query-nights", "track query @s.db nights --json -"),
        ("track-query-trials", "track query @s.db trials --json -"),
    ],
)
def test_what_is_printed_is_as_its_schema_says(printed, schema, words):
    validator = pytest.importorskip("jsonschema", reason="jsonschema is not installed").Draft202012Validator
    found = printed(*words.split())
    assert found
    for document in found:
        validator(json.loads((SCHEMAS / f"{schema}.json").read_text())).validate(document)
