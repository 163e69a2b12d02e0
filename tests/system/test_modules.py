"""What src/CMakeLists.txt names equals what is included, and follows the order of src/README.md.

CMake writes what each folder names to the file SLABMARK_ROOMS.
"""

import os
import pathlib
import re

from conftest import needs_pnetcdf

checkout = pathlib.Path(__file__).resolve().parents[2]


def read_rooms():
    lines = pathlib.Path(os.environ["SLABMARK_ROOMS"]).read_text().splitlines()
    return {folder: rooms.split() for folder, rooms in (line.split(":") for line in lines)}


def included(folder, named, top=checkout):
    """The rooms of which files of `folder` include a header, but for folders in it that name rooms of their own."""
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
            room = str(place.parent.relative_to(top / "src")) if place and place.is_relative_to(top / "src") else "."
            while room != "." and f"src/{room}" not in named:
                room = os.path.dirname(room) or "."
            if room != "." and folder != f"src/{room}" and not room.startswith("program/"):
                found.setdefault(room, file.relative_to(top))
    return found


def faults(named, top=checkout):
    """A sentence for each room that a folder includes unnamed, and for each that it names and never includes."""
    for folder, rooms in named.items():
        found = included(folder, named, top)
        given = set(rooms)
        if folder.startswith("tests/"):  # it is linked with its room and what that names
            given.update(named[f"src/{rooms[0]}"])
            rooms = rooms[1:]
        for room in sorted(found.keys() - given):
            yield f"{found[room]} includes {room}, which {folder} does not name"
        for room in sorted(set(rooms) - found.keys()):
            yield f"{folder} names {room} and never includes it"


@needs_pnetcdf
def test_each_folder_names_the_rooms_that_it_includes_and_no_others():
    assert list(faults(read_rooms())) == []


def test_a_room_included_unnamed_and_one_named_in_vain_are_found(tmp_path):
    for name, text in {"base/error.hpp": "", "map/map.hpp": "", "program/a/main.cpp": '#include "base/error.hpp"\n'}.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    named = {"src/base": [], "src/map": [], "src/program/a": ["map"]}
    assert list(faults(named, tmp_path)) == ["src/program/a/main.cpp includes base, which src/program/a does not name",
                                             "src/program/a names map and never includes it"]


def test_each_room_is_in_the_list_of_the_readme_below_what_it_names():
    rows = re.findall(r"^\| `([\w/]+)` \|", (checkout / "src/README.md").read_text(), re.MULTILINE)
    assert {row.split("/")[0] for row in rows} == {folder.name for folder in (checkout / "src").iterdir() if folder.is_dir()}

    def row(room):
        while room not in rows and "/" in room:
            room = os.path.dirname(room)
        return rows.index(room)

    for folder, rooms in read_rooms().items():
        own = folder.removeprefix("src/")
        for room in rooms if folder != own else []:
            assert row(room) < row(own) or room.split("/")[0] == own.split("/")[0], f"{own} names {room}, which is below it"
