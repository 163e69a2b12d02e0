"""slabmark advise --chunks: shapes, what readers touch, and the whole with real programs in small."""

import os
import re

import pytest
from slabmark import pattern as patterns
from slabmark.advise import chunks
from slabmark.advise.chunks import Layout
from slabmark.commands import advise

LAUNCHER = os.environ.get("SLABMARK_MPIEXEC", "mpiexec") + " -n {ranks} {command}"


def test_shapes_fit_the_dataset_and_none_comes_twice():
    found = chunks.layouts((200, 72, 866), ["none", "shuffle, deflate 1"])
    assert len(found) == len(set(found)) and Layout((1, 72, 866), "none") in found and Layout((1, 1, 866), "none") in found
    for layout in found:
        assert all(1 <= length <= most for length, most in zip(layout.chunk, (200, 72, 866)))
    assert {16, 128} <= {layout.chunk[0] for layout in found}
    assert {layout.chunk[0] for layout in chunks.layouts((1, 5), ["none"])} == {1}


def test_chunks_of_several_times_are_written_by_hdf5_itself_and_others_by_plan():
    several, one = Layout((16, 4, 866), "none"), Layout((1, 4, 866), "shuffle, deflate 1")
    assert several.method == "hdf5-union" and several.write_settings == {"hdf5.chunk": "4x866", "hdf5.time_chunk": "16"}
    assert one.method == "hdf5-rearranged"
    assert one.write_settings == {"hdf5.chunk": "4x866", "hdf5.shuffle": "on", "hdf5.deflate": "1"}


@pytest.mark.parametrize("shape, chunk, many", [
    ("series", (1, 72, 866), 48), ("series", (16, 4, 866), 3), ("level", (1, 1, 866), 1), ("level", (16, 4, 400), 3),
    ("field", (1, 1, 866), 72), ("field", (16, 10, 400), 24),
])
def test_a_reader_touches_the_chunks_of_its_shape(shape, chunk, many):
    corners = chunks.touched(shape, (48, 72, 866), chunk)
    assert len(set(corners)) == len(corners) == many
    assert all(at % step == 0 for corner in corners for at, step in zip(corner, chunk))


@pytest.mark.parametrize("text", ["", "write", "write=x", "write=-1,level=2", "read=1", "write=0", "write=nan", "level=inf"])
def test_a_mix_that_is_none_is_refused(text):
    with pytest.raises(ValueError):
        advise._mix(text)


@pytest.mark.long
def test_layouts_are_measured_and_the_mix_decides(run, text_map, tmp_path):
    pattern = f"decomp --map {text_map(3)} --rounds 3 --type float32 --content smooth"
    done = run("slabmark", ["advise", "--chunks", pattern, "-n", "2", "--launch", LAUNCHER,
                            "--time-limit", "4", "-d", tmp_path, "--mix", "write=1,level=3", "--json", tmp_path / "r.jsonl"])
    assert done.returncode == 0, done.stderr
    assert re.search(r"1 x 72 x 218 +none +\S+ KiB", done.stdout) and "level: s, bytes, chunks" in done.stdout
    assert "series: s" not in done.stdout
    assert "For 1 write, 3 level: chunks of" in done.stdout and "H5Pset_chunk(creation, 3, chunk);" in done.stdout
    assert '"read_shape":"level"' in (tmp_path / "r.jsonl").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.dat", "r.jsonl"]


@pytest.mark.long
def test_a_pattern_without_time_has_no_series(run, small_map, tmp_path):
    done = run("slabmark", ["advise", "--chunks", small_map, "-n", "1", "--launch", LAUNCHER, "-d", tmp_path])
    assert done.returncode == 2 and "--rounds" in done.stderr


@pytest.mark.long
def test_a_captured_program_s_variables_may_be_in_groups(run, tmp_path):
    made = patterns.Pattern()
    made.variable("step/one", patterns.blocks((6, 4), (1, 1)))
    made.step()
    made.save(str(tmp_path / "run.pattern"))
    words = ["advise", "--chunks", str(tmp_path / "run.pattern"), "-n", "1", "--launch", LAUNCHER, "--time-limit", "1", "-d", tmp_path]
    done = run("slabmark", words)
    assert done.returncode == 0 and "of 'step/one'" in done.stdout, done.stderr
