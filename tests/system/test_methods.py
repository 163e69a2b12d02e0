"""`slabmark bench methods`, and the documentation that is made from it."""

import json
import pathlib
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def said(run):
    return json.loads(run("slabmark bench", ["methods", "--json", "-"]).stdout)


@pytest.fixture(scope="module")
def methods(said):
    return said["methods"]


def test_each_method_has_a_kind_a_format_and_options_with_what_they_take(methods):
    for method in methods:
        assert method["kind"] in ("general", "slices", "yardstick", "as-captured"), method
        assert method["format"] and method["summary"], method
        for option in method["options"]:
            assert option["help"] and option["takes"], option
    kinds = {method["name"]: method["kind"] for method in methods}
    assert kinds["posix"] == "general" and kinds["append-one"] == "slices" and kinds["floor"] == "yardstick"


def test_the_list_for_people_has_the_same_methods_and_options(run, methods):
    text = run("slabmark bench", ["methods"]).stdout
    one_line = " ".join(text.split())  # long lines are wrapped
    for method in methods:
        assert f"\n{method['name']} " in "\n" + text
        for option in method["options"]:
            assert f"--set {option['name']}={option['default']}: {option['help']} ({option['takes']})" in one_line


def test_the_tables_of_the_documentation_and_the_terms_of_the_lab_are_those_of_the_programs(said):
    if "v200" not in json.dumps(said):
        pytest.skip("the page is of a build with HDF5 2, which knows one format version more")
    sys.path.insert(0, str(DOCS))
    try:
        import methods_tables
    finally:
        sys.path.remove(str(DOCS))
    for file, text in methods_tables.written(said).items():
        assert file.read_text() == text, f"{file}: run: slabmark bench methods --json - | docs/methods_tables.py"
