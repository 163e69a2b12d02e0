"""Each page has its place, each link leads somewhere, and the pages become a site."""

import importlib.util
import re
import subprocess
import unicodedata
from importlib.machinery import SourceFileLoader

import pytest
from conftest import TOP

DOCS = TOP / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.relative_to(DOCS).parts[0] != "dev")
NAMES = [page.relative_to(DOCS).as_posix() for page in PAGES]
# Those of the source, too: whoever reads them on the web follows their links.
ALL_PAGES = [TOP / line for line in subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=TOP,
                                                   capture_output=True, text=True).stdout.splitlines()] or PAGES


def without_code(text):
    """The text without blocks of code and spans of it, in which nothing is a link."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"(?:(?<=\n\n)|\A)(?:    .*\n|\n(?=    ))+", "", text)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page):
    """What # may name: each heading as the web writes it, in small letters, with hyphens, without punctuation."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for heading in re.findall(r"^#+ +(.+?) *#*$", text, flags=re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        kept = (c for c in plain.lower() if c in " -_" or unicodedata.category(c)[0] in "LN")
        yield "".join(kept).replace(" ", "-")


def broken(page):
    """The links of a page that lead to no file, or to no heading of a page."""
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        path, _, heading = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        place = page.parent / path if path else page
        if not place.exists() or (heading and heading not in anchors(place)):
            yield target


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_each_link_leads_to_a_file_and_a_heading(page):
    assert list(broken(page)) == []


def test_a_link_to_nowhere_is_found(tmp_path):
    page = tmp_path / "a.md"
    page.write_text("# One, two\n\n[good](#one-two) [bad](#three) [gone](b.md) `[code](c.md)`\n\n    [block](d.md)\n")
    assert list(broken(page)) == ["#three", "b.md"]


def test_each_page_stands_in_one_table_of_the_overview():
    """The site's navigation is made of these tables: a page that is added gets a line there."""
    rows = re.findall(r"^\| \[[^]]*\]\(([\w/-]+\.md)\) \|", (DOCS / "README.md").read_text(), flags=re.M)
    assert sorted(rows) == sorted(name for name in NAMES if name != "README.md")


@pytest.fixture(scope="module")
def site(programs, tmp_path_factory):
    """The site as `make docs` builds it, where a warning is an error."""
    for module in ("material", "mkdocs_redirects", "mkdocstrings_handlers.python"):
        pytest.importorskip(module, reason="setup/requirements-docs.txt is not installed")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    place = tmp_path_factory.mktemp("site")
    messages = []
    import logging

    class Collect(logging.Handler):
        def emit(self, record):
            messages.append(record.getMessage())

    handler = Collect(logging.WARNING)
    logging.getLogger("mkdocs").addHandler(handler)
    try:
        config = load_config(str(TOP / "mkdocs.yml"), site_dir=str(place), strict=True)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    except Abort:
        pytest.fail("\n".join(messages))
    finally:
        logging.getLogger("mkdocs").removeHandler(handler)
    return place


@pytest.mark.long
def test_the_site_has_all_pages_and_a_reference_of_each_program(site, programs):
    made = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert {name.replace(".md", ".html") for name in NAMES if name != "README.md"} <= made and "index.html" in made
    verbs = [verb.name.replace(" ", "-") for verb in programs["slabmark"].commands]
    assert {f"reference/options/{name}.html" for name in [*verbs, *programs.keys() - {"slabmark"}]} <= made
    assert "PatternFile" in (site / "reference/api/python.html").read_text()
    assert "slabmark_rearrange_hdf5.f90" in (site / "reference/api/fortran.html").read_text(), "also where Doxygen is not installed"
    assert "reference/lab.html" in (site / "lab.html").read_text(), "an old address leads to the page"
    assert "--tie-break" in (site / "reference/options/slabmark-decomp.html").read_text()
    assert "tutorials/first-hour.html" in (site / "index.html").read_text()


@pytest.mark.long
def test_the_site_loads_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|iframe|source)[^>]*\ssrc=\"?([^\s\">]+)|<link[^>]*\srel=\"?stylesheet[^>]*\shref=\"?([^\s\">]+)",
                            page.read_text(encoding="utf-8"))
        assert not [link for pair in loaded for link in pair if re.match(r"(https?:)?//", link)], page.name


@pytest.mark.long
def test_the_pictures_of_the_tutorial_are_those_that_are_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    pinned = re.search(r"^matplotlib==(\S+)", (TOP / "setup/requirements.txt").read_text(), re.M)[1]
    if matplotlib.__version__ != pinned:
        pytest.skip(f"the pictures are of matplotlib {pinned}, this is {matplotlib.__version__}")
    loader = SourceFileLoader("draw_write_path", str(DOCS / "draw-write-path"))
    draw = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(draw)
    for name in draw.PICTURES:
        assert (DOCS / f"pictures/{name}.svg").read_text() == draw.draw(name) + "\n", "run: setup/python docs/draw-write-path"
    assert {path.stem for path in (DOCS / "pictures").iterdir()} == set(draw.PICTURES)
