"""What the tests of the documentation share. ctest sets the variables that it sets for tests/system."""

import importlib.util
import os
import pathlib
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "setup"), str(TOP / "docs")]

_spec = importlib.util.spec_from_file_location("program_fixtures", TOP / "tests/system/conftest.py")
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)
run = _fixtures.run


@pytest.fixture(scope="session")
def programs():
    """{name: command_lines.Command} of the command slabmark and of all originals."""
    import command_lines

    found = command_lines.ask_all(os.environ["SLABMARK_BIN"])
    assert sorted(found) == sorted([command_lines.COMMAND, *command_lines.originals()])
    return found
