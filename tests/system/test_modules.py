"""What src/CMakeLists.txt names equals what is included, and follows the order of src/README.md.

CMake writes what each folder names to the file SLABMARK_MODULES.
"""

import os
import pathlib
import re

from conftest import needs_pnetcdf

checkout = pathlib.Path(__file__).resolve().parents[2]


def read_modules():
    named = {}
    for line in pathlib.Path(os.environ["SLABMARK_MODULES"]).read_text().splitlines():
        folder, modules = line.split(":")
        named.setdefault(folder, []).extend(modules.split())  # several programs may be in a folder
    return named


def included(folder, named, top=checkout):
    """The modules of which files of `folder` include a header, but for folders in it that name modules of their own."""
    found = {}
    inner = [top / other for other in named if other.startswith(folder + "/")]
    for file in sorted((top / folder).rglob("*")):
        if file.suffix not in {".cpp", ".hpp", ".h", ".cu"} or any(file.is_relative_to(other) for other in inner):
            continue
        for header in re.findall(r'^#include "(.+)"', file.read_text(), re.MULTILINE):
            places = [file.parent / header, top / "src" / header]
            if folder.startswith("tests/"):
                places.insert(1, top / "tests" / header)  # as the compiler looks for it there
            place = next((place for place in places if place.exists()), None)
            module = str(place.parent.relative_to(top / "src")) if place and place.is_relative_to(top / "src") else "."
            while module != "." and f"src/{module}" not in named:
                module = os.path.dirname(module) or "."
            if module != "." and folder != f"src/{module}" and module.split("/")[0] != "programs":
                found.setdefault(module, file.relative_to(top))
    return found


def mismatches(named, top=checkout):
    """A sentence for each module that a folder includes unnamed, and for each that it names and never includes."""
    for folder, modules in named.items():
        found = included(folder, named, top)
        given = set(modules)
        if folder.startswith("tests/"):  # it is linked with its module and what that names
            given.update(named[f"src/{modules[0]}"])
            modules = modules[1:]
        for module in sorted(found.keys() - given):
            yield f"{found[module]} includes {module}, which {folder} does not name"
        for module in sorted(set(modules) - found.keys()):
            yield f"{folder} names {module} and never includes it"


@needs_pnetcdf
def test_each_folder_names_the_modules_that_it_includes_and_no_others():
    assert list(mismatches(read_modules())) == []


def test_a_module_included_unnamed_and_one_named_in_vain_are_found(tmp_path):
    for name, text in {"core/base/error.hpp": "", "bench/map/map.hpp": "", "programs/a/program.cpp": '#include "core/base/error.hpp"\n'}.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    named = {"src/core/base": [], "src/bench/map": [], "src/programs/a": ["bench/map"]}
    assert list(mismatches(named, tmp_path)) == ["src/programs/a/program.cpp includes core/base, which src/programs/a does not name",
                                             "src/programs/a names bench/map and never includes it"]


def test_each_module_is_in_the_list_of_the_readme_below_what_it_names():
    rows = re.findall(r"^\| `([\w/]+)` \|", (checkout / "src/README.md").read_text(), re.MULTILINE)
    assert {row.split("/")[0] for row in rows} == {folder.name for folder in (checkout / "src").iterdir() if folder.is_dir()}

    def row(module):
        while module not in rows and "/" in module:
            module = os.path.dirname(module)
        return rows.index(module)

    for folder, modules in read_modules().items():
        own = folder.removeprefix("src/")
        for module in modules if folder != own else []:
            assert row(module) <= row(own), f"{own} names {module}, which is below it"
