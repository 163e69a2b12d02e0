"""The level of each test in Python: `make test` runs those that are `fast`, `make test-all` also those that are `long`.

The nearest mark decides, `@pytest.mark.fast` or `@pytest.mark.long`: of the parameters, of the test, of its file (`pytestmark`).
A test without one is fast."""

LEVELS = ("fast", "long")


def pytest_addoption(parser):
    parser.addoption("--level", choices=LEVELS, help="only tests of this level")


def pytest_configure(config):
    for level in LEVELS:
        config.addinivalue_line("markers", f"{level}: a test of this level (conftest.py)")


def level_of(item):
    marks = (mark.name for node in reversed(item.listchain()) for mark in reversed(node.own_markers))
    return next((name for name in marks if name in LEVELS), "fast")


def pytest_collection_modifyitems(config, items):
    if level := config.getoption("level"):
        config.hook.pytest_deselected(items=[item for item in items if level_of(item) != level])
        items[:] = [item for item in items if level_of(item) == level]
