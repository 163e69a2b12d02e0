"""slabmark decomp show: the picture's owners are those of the map."""

import json

import numpy
import pytest
from slabmark import decomposition


def test_owners_and_requests_are_those_of_the_map(tmp_path):
    path = tmp_path / "m.dat"
    path.write_text("version 2001 npes 2 ndims 2 \n4 2 \n0 5\n1 2 0 5 6 \n1 3\n3 8 7 \n")
    owners, requests = decomposition.owners_of(path, [2, 4])
    assert owners.tolist() == [[0, 0, 1, -1], [0, 0, 1, 1]]
    assert requests == [2, 2]


def test_a_rank_without_elements_has_no_requests(tmp_path):
    path = tmp_path / "m.dat"
    path.write_text("version 2001 npes 2 ndims 1 \n3 \n0 0\n\n1 1\n2 \n")
    owners, requests = decomposition.owners_of(path, [3])
    assert owners.tolist() == [-1, 1, -1] and requests == [0, 1]


def test_large_maps_become_pictures_of_a_page():
    owners = numpy.arange(5000 * 3000).reshape(5000, 3000)
    picture = decomposition.picture_of(owners)
    assert picture.shape == (decomposition.HEIGHT, decomposition.WIDTH)
    assert picture[0, 0] == 0 and picture[-1, -1] == owners[-1, -1]
    assert decomposition.picture_of(numpy.arange(10)).size >= 10


@pytest.mark.long
@pytest.mark.parametrize("suffix, start", [(".svg", b"<svg"), (".png", b"\x89PNG")])
def test_a_picture_is_drawn_with_the_programs_own_counts(run, tmp_path, suffix, start):
    run(
        "slabmark decomp", ["generate", "f", "--ne", "4", "--ranks", "6", "--map-format", "dat", "-o", tmp_path / "f"]
    ).check_returncode()
    map_file = sorted(tmp_path.glob("*.dat"))[-1]
    done = run("slabmark", ["decomp", "show", map_file, "-o", tmp_path / f"picture{suffix}"])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"picture{suffix}").read_bytes().startswith(start)
    [entry] = json.loads(run("slabmark decomp", ["info", map_file, "--json", "-"]).stdout)["maps"]
    _, requests = decomposition.read_owners(map_file, 1, entry)
    assert (min(requests), max(requests)) == (entry["requests_per_rank"]["min"], entry["requests_per_rank"]["max"])


@pytest.mark.long
def test_a_missing_map_is_one_sentence(run, sentence, tmp_path):
    done = run("slabmark", ["decomp", "show", tmp_path / "absent.nc"])
    assert done.returncode == 2 and "absent.nc" in sentence(done, "slabmark")


@pytest.mark.long
def test_a_map_whose_name_begins_with_a_dash_is_drawn_and_names_of_no_file_are_one_sentence(run, sentence, small_map):
    folder = small_map.parent
    small_map.rename(folder / "-m.dat")
    done = run("slabmark", ["decomp", "show", "-o", "m.svg", "--", "-m.dat"], cwd=folder)
    assert done.returncode == 0 and (folder / "m.svg").exists(), done.stderr
    for words, culprit in (([""], "'.' is no regular file"), (["--out", "x.svg", "--", "-m.dat"], "--out")):
        done = run("slabmark", ["decomp", "show", *words], cwd=folder)
        assert done.returncode == 2 and culprit in sentence(done, "slabmark")
