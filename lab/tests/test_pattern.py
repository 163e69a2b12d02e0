"""slabmark.pattern and slabmark describe: what is read back is what was said, and what cannot be meant is one sentence."""

import json
import os
import pathlib
import re
import resource
import sys

import h5py
import netCDF4
import numpy
import pytest
from conftest import LAB
from slabmark import decomposition, pattern
from slabmark.errors import InputError
from slabmark.pattern import coding, darshan_log, describe

EXAMPLES = LAB.parent / "examples/patterns"


def test_columns_of_numbers_come_back_whatever_they_are():
    for seed in range(40):
        generator = numpy.random.default_rng(seed)
        values = generator.integers(-(2 ** (seed * 1.5)), 2 ** (seed * 1.5) + 1, generator.integers(0, 30))
        for column in (values, numpy.sort(values), numpy.repeat(values, 5), numpy.full(7, -3)):
            coded = coding.Numbers(coding.column(column) + coding.unsigned([2**64 - 1]))
            assert coded.take_column(len(column)).tolist() == column.tolist()
            assert coded.take() == 2**64 - 1 and not coded.left


def test_a_column_is_coded_the_shortest_way():
    sizes = [len(coding.column(values)) for values in ([7] * 1000, [1, 2, 3], [1] * 500 + [2] * 500)]
    assert sizes == [2, 4, 7]


@pytest.mark.parametrize("data", [b"\x80", b"\x02", b"\x01\x02", b"\x02\x09\x02", b"\x05", b"\x80" * 11 + b"\x01"])
def test_numbers_that_end_too_early_are_an_error(data):
    with pytest.raises(ValueError):
        coding.Numbers(data).take_column(3)


def owned(part, shape):
    """Offsets of a part's elements, in the order of memory."""
    found = [numpy.zeros(0, int)]
    for start, count in zip(part.starts, part.counts):
        grid = numpy.indices(count).reshape(len(count), -1) + start[:, None]
        found.append(numpy.ravel_multi_index(grid, shape))
    return numpy.concatenate(found)


def layout_of(generator):
    """(a random layout, the rank that owns each element, flat)."""
    kind = generator.choice(["blocks", "boxes", "owners", "offsets", "counts"])
    shape = tuple(generator.integers(2, 9, generator.integers(1, 4)).tolist())
    if kind in ("blocks", "boxes"):
        processes = [int(generator.integers(1, min(length, 3) + 1)) for length in shape]
        made = pattern.blocks(shape, processes, halo=int(generator.integers(0, 3)))
        if kind == "boxes":
            parts = [made.part(rank) for rank in range(made.ranks)]
            made = pattern.boxes(
                shape, numpy.concatenate([p.starts for p in parts]), numpy.concatenate([p.counts for p in parts])
            )
        rows = [numpy.array_split(numpy.arange(length), n) for length, n in zip(shape, processes)]
        axes = [numpy.repeat(numpy.arange(n), [len(row) for row in split]) for n, split in zip(processes, rows)]
        return made, numpy.ravel_multi_index(numpy.meshgrid(*axes, indexing="ij"), processes).ravel()
    ranks = int(generator.integers(1, 6))
    owner = generator.integers(-1, ranks, numpy.prod(shape))
    owner[0] = ranks - 1
    if kind == "owners":
        return pattern.owners(owner.reshape(shape)), owner
    if kind == "offsets":
        lists = [generator.permutation(numpy.flatnonzero(owner == rank)) for rank in range(ranks)]
        return pattern.offsets(shape, [numpy.insert(each, len(each) // 2, -1) for each in lists]), owner
    owner = numpy.sort(owner[owner >= 0])
    return pattern.counts(numpy.bincount(owner, minlength=ranks)), owner


@pytest.mark.parametrize("seed", range(16))
def test_layouts_of_all_kinds_are_read_back_element_by_element(tmp_path, seed):
    generator = numpy.random.default_rng((1, seed))
    made, expected = pattern.Pattern(), {}
    for number in range(3):
        layout, owner = layout_of(generator)
        levels, fastest = int(generator.integers(1, 4)), bool(generator.integers(0, 2))
        made.variable(f"v{number}", layout.levels(levels, fastest), "int32", time=bool(number % 2))
        every = owner.reshape(-1, 1) if fastest else owner.reshape(1, -1)
        expected[f"v{number}"] = numpy.broadcast_to(every, (len(owner), levels) if fastest else (levels, len(owner))).ravel()
    for _ in range(3):
        made.step(think=0.25)
    made.save(tmp_path / "a.pattern")
    with pattern.PatternFile(tmp_path / "a.pattern") as file:
        assert file.ranks == made.ranks and file.origin == "described" and not file.ended_early and not file.uncaptured()
        for rank in range(file.ranks):
            seen = {}
            for event in file.events(rank):
                if not event.writes:
                    continue
                name, shape = event.dataset["name"], event.dataset.get("maximum") or event.dataset["extent"]
                times = seen.setdefault(name, [])
                boxes, first = event.boxes, 0
                if event.dataset["extent"][0] == 0:  # time
                    first = int(boxes.starts[0, 0]) if len(boxes.starts) else len(times)
                    assert (boxes.counts[:, :1] == 1).all() and (boxes.starts[:, :1] == first).all()
                    boxes, shape = pattern.Boxes(boxes.starts[:, 1:], boxes.counts[:, 1:]), shape[1:]
                assert first == len(times)
                times.append(owned(boxes, shape) if len(boxes.starts) else [])
                if event.memory:
                    assert event.memory.counts.tolist() == event.boxes.counts[:, -len(event.memory.extent) :].tolist()
                    inside = event.memory.starts + event.memory.counts <= numpy.array(event.memory.extent)
                    assert inside.all() and (event.memory.starts >= 0).all()
            assert sum(event.think for event in file.events(rank)) == 0.75
            for name, owner in expected.items():
                assert len(seen[name]) == (3 if name == "v1" else 1)
                for elements in seen[name]:
                    assert sorted(elements) == numpy.flatnonzero(owner == rank).tolist()


def test_elements_keep_the_order_that_they_have_in_memory(tmp_path):
    made = pattern.Pattern()
    made.variable("v", pattern.offsets([2, 5], [[7, 1, 2, 3, -1, 0], [9, 8, 4, 5, 6]]), time=False)
    made.step()
    made.save(tmp_path / "a.pattern")
    with pattern.PatternFile(tmp_path / "a.pattern") as file:
        found = [owned(event.boxes, (2, 5)).tolist() for rank in range(2) for event in file.events(rank) if event.writes]
    assert found == [[7, 1, 2, 3, 0], [9, 8, 4, 5, 6]]


def test_a_step_that_repeats_and_variables_that_lie_alike_cost_next_to_nothing(tmp_path):
    owner = numpy.random.default_rng(3).integers(0, 2, 20_000)

    def bytes_of(variables, steps):
        made, cells = pattern.Pattern(), pattern.owners(owner)
        for number in range(variables):
            made.variable(f"v{number}", cells)
        for _ in range(steps):
            made.step()
        made.save(tmp_path / "a.pattern", overwrite=True)
        with h5py.File(tmp_path / "a.pattern") as file:
            return len(file["events"]) + len(file["lists"])

    one = bytes_of(1, 1)
    assert one < 4 * numpy.count_nonzero(numpy.diff(owner)), "runs are coded, under 4 bytes each"
    assert bytes_of(30, 1) - one < 2 * 30 * 20, "of 30 variables the list is stored once"
    assert bytes_of(30, 1001) - bytes_of(30, 1) <= 2 * 1000 * 100, "a step of 30 variables is one number and a few differences"


def test_the_smallest_file_of_the_documentation_is_what_it_says(tmp_path, monkeypatch):
    text = (LAB.parent / "docs/reference/pattern-file.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", text, re.S)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    with pattern.PatternFile("run.pattern") as file:
        [event] = file.events(0)
    assert event.writes and event.dataset["name"] == "x" and event.boxes.counts.tolist() == [[10]]


def test_a_strided_box_is_its_elements_in_the_order_of_the_array():
    column = lambda *numbers: numpy.array([numbers])
    for start, count, stride, block in (
        ((1, 0), (2, 3), (4, 3), (2, 2)),
        ((0, 1), (3, 2), (1, 2), (1, 2)),
        ((2, 2), (1, 1), (5, 5), (2, 3)),
    ):
        whole = numpy.zeros((9, 9), bool)
        for i in range(count[0]):
            for j in range(count[1]):
                row, first = start[0] + i * stride[0], start[1] + j * stride[1]
                whole[row : row + block[0], first : first + block[1]] = True
        boxes = pattern.Boxes(column(*start), column(*count), column(*stride), column(*block)).plain()
        assert owned(boxes, (9, 9)).tolist() == numpy.flatnonzero(whole).tolist()


def saved(path):
    made = pattern.Pattern()
    made.variable("v", pattern.owners(numpy.arange(60) % 3))
    made.step()
    made.step()
    made.save(path)
    return path


def damaged(change):
    def make(path):
        with h5py.File(saved(path), "r+") as file:
            change(file)

    return make


def other_header(change):
    def rewrite(file):
        header = json.loads(file["header"][()].tobytes())
        change(header)
        del file["header"]
        file["header"] = numpy.frombuffer(json.dumps(header).encode(), "u1")

    return damaged(rewrite)


def with_no_parameters(file):
    """A block of one event, whose file is a parameter, and no parameters."""
    events = [1, 0, 0, 9, 0, 0, 0, 2, 4, 0, 0, 0, 0, 0, 0]
    for name, data in (("events", numpy.array(events, "u1")), ("events_begin", numpy.array([0, *[len(events)] * 3], "u8"))):
        del file[name]
        file[name] = data


def without(name):
    return damaged(lambda file: file.__delitem__(name))


def other_bytes(name, value):
    def change(file):
        data = file[name][()]
        del file[name]
        file[name] = numpy.full_like(data, value)

    return damaged(change)


@pytest.mark.parametrize(
    "make, culprit",
    [
        (lambda path: path.write_bytes(b""), "no pattern file"),
        (lambda path: path.write_text("hello"), "no pattern file"),
        (lambda path: path.write_bytes(saved(path).read_bytes()[:1000]), "no pattern file"),
        (lambda path: h5py.File(path, "w").close(), "slabmark_pattern"),
        (damaged(lambda file: file.attrs.__setitem__("slabmark_pattern", 9)), "version 9"),
        (without("header"), "damaged"),
        (without("lists"), "damaged"),
        (other_header(lambda header: header["ranks"].append(None)), "in the ranks of its header"),
        (other_header(lambda header: header["definitions"].append(["call"])), "in the definitions of its header"),
        (damaged(with_no_parameters), "events of rank 0 .* other parameters than it needs"),
        (other_bytes("header", 32), "damaged"),
        (other_bytes("events", 255), "events of rank 0"),
        (other_bytes("events", 7), "no token 7"),
        (other_bytes("lists", 200), "rank 0"),
        (other_bytes("events_begin", 2**40), "'events' of rank 0"),
        (other_bytes("definitions", 10**6), "rank 0"),
    ],
)
def test_what_is_no_sound_pattern_file_is_one_sentence(tmp_path, make, culprit):
    path = tmp_path / "a.pattern"
    make(path)
    with pytest.raises(InputError, match=culprit) as error:
        with pattern.PatternFile(path) as file:
            for rank in range(file.ranks):
                list(file.events(rank))
    assert str(path) in str(error.value) and str(error.value).endswith(".")


@pytest.mark.long
@pytest.mark.parametrize(
    "make, culprit",
    [
        (
            lambda: pattern.blocks([10], lengths=[[4, 5]]),
            "do not tile the grid: along dimension 0 they are 4, 5 points long, 9 in all",
        ),
        (lambda: pattern.blocks([4, 4], [2]), "1 numbers of processes for 2 dimensions"),
        (lambda: pattern.blocks([4], [5]), "without a block"),
        (lambda: pattern.blocks([4], [2], halo=-1), "halo cannot be -1"),
        (lambda: pattern.blocks([4], [0]), "1 or more, and 0"),
        (lambda: pattern.blocks([0], [1]), "1 or more, and 0"),
        (lambda: pattern.blocks([2**40, 2**40], [1, 1]), "too large"),
        (lambda: pattern.blocks([4, 4], [1, 1], halo=2**31), "too large"),
        (lambda: pattern.counts([2**40]).levels(2**40), "too large"),
        (lambda: pattern.boxes([4, 4], [[0, 0], [0, 2]], [[4, 3], [4, 2]]), "rank 0 .* and that of rank 1 .* share points"),
        (lambda: pattern.boxes([4, 4], [[0, 0], [0, 2]], [[4, 1], [4, 2]]), "12 of its 16 points"),
        (lambda: pattern.boxes([4, 4], [[0, 0]], [[4, 5]]), "box of rank 0"),
        (lambda: pattern.boxes([4, 4], [[0, 0]], [[4]]), "row for each rank and 2 columns"),
        (lambda: pattern.owners([0.5, 1.0]), "whole numbers"),
        (lambda: pattern.owners([-2, 1]), "holds -2"),
        (lambda: pattern.owners([-1, -1]), "names no rank"),
        (lambda: pattern.owners([]), "is empty"),
        (lambda: pattern.owners([0, 3], ranks=3), "holds rank 3"),
        (lambda: pattern.owners([0, 2**63 - 1]), f"on {2**63} ranks, and 16777216 are the most"),
        (lambda: pattern.owners([0, 1 << 24]), "16777217 ranks"),
        (lambda: pattern.owners(numpy.array([0, 2**64 - 2], "u8")), "less than 2.63, and 18446744073709551614"),
        (lambda: pattern.blocks([2**32, 2], [2_000_000_000, 2]), "on 4000000000 ranks"),
        (lambda: pattern.blocks([2**25], lengths=[numpy.ones(2**25, int)]), "on 33554432 ranks"),
        (lambda: pattern.offsets([4], [[0, 1], [2, 1]]), "Element 1 is owned by rank 0 and by rank 1"),
        (lambda: pattern.offsets([4], [[4]]), "Rank 0 has the offset 4"),
        (lambda: pattern.counts([0, 0]), "not 0 for all"),
        (lambda: pattern.owners([0, 1]).staggered([0]), "Only a grid of blocks"),
        (lambda: pattern.owners([0, 1]).levels(0), "number of levels"),
        (lambda: pattern.Pattern().variable("v", pattern.counts([1]), "float16"), "float16"),
        (lambda: pattern.Pattern().variable("v", pattern.counts([1]), chunk=[2]), "chunk"),
        (lambda: pattern.Pattern().variable("", pattern.counts([1])), "no name"),
        (lambda: pattern.Pattern().variable("v", pattern.blocks([1] * 32, [1] * 32)), "33 dimensions, time included; 32 are"),
        (lambda: pattern.Pattern().save("never"), "no step"),
    ],
)
def test_what_cannot_be_an_array_on_ranks_is_one_sentence(make, culprit):
    with pytest.raises(InputError, match=culprit) as error:
        make()
    assert str(error.value).endswith(".")


def test_a_file_that_is_no_pattern_is_not_written_over(tmp_path):
    path = tmp_path / "precious.pattern"
    path.write_text("precious")
    with pytest.raises(InputError, match="--overwrite"):
        saved(path)
    assert path.read_text() == "precious"


@pytest.mark.long
def test_a_full_disk_is_one_sentence_and_nothing_is_left(run, sentence, tmp_path):
    text = '[[particles]]\nname = "g"\nmean = 9\ndistribution = "poisson"\nranks = 3000\n[[variable]]\nname = "v"\non = "g"\n'
    (tmp_path / "d.toml").write_text(text)
    words = ["describe", tmp_path / "d.toml", "-o", tmp_path / "d.pattern"]
    for most in (512, 20 * 512):
        limit = lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        done = run("slabmark", words, preexec_fn=limit)
        assert done.returncode == 1 and "d.pattern' cannot be written: File too large." in sentence(done, "slabmark")
    assert [path.name for path in tmp_path.iterdir()] == ["d.toml"]


@pytest.mark.long
def test_nothing_is_written_over_what_it_is_made_from(tmp_path, small_map, run, sentence):
    saved(tmp_path / "in.pattern")
    make_mesh(tmp_path / "mesh.nc", "NETCDF3_CLASSIC")
    on_pattern = '[[map]]\nname = "g"\nfile = "in.pattern"\n'
    for text, name in (
        (on_pattern, "in.pattern"),
        ('[[mesh]]\nname = "g"\nowner = "mesh.nc"\nvariable = "owner"\n', "mesh.nc"),
        (f'[[map]]\nname = "g"\nfile = "{small_map.name}"\n', small_map.name),
    ):
        (tmp_path / "d.toml").write_text(text + VARIABLE)
        before = (tmp_path / name).read_bytes()
        done = run("slabmark", ["describe", tmp_path / "d.toml", "--overwrite", "-o", tmp_path / name])
        assert done.returncode == 2 and f"{name}' is one of the inputs" in sentence(done, "slabmark")
        assert (tmp_path / name).read_bytes() == before
    made = pattern.Pattern()
    made.variable("v", pattern.counts([1]))
    made.step()
    made.sources = [tmp_path / "in.pattern"]
    with pytest.raises(InputError, match="one of the inputs"):
        made.save(tmp_path / "in.pattern", overwrite=True)


@pytest.mark.long
def test_names_that_are_no_files_or_pipes_are_one_sentence_and_nobody_waits(run, sentence, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "d.toml").write_text(GRID + VARIABLE)
    for words, culprit in (
        (["d.toml", "-o", "pipe"], "'pipe' cannot be written: it is no regular file"),
        (["d.toml", "-o", "."], "'.' cannot be written"),
        (["d.toml", "-o", ""], "-o/--output is given without a value"),
        ([""], "'.' is no regular file"),
        (["."], "'.' is no regular file"),
    ):
        done = run("slabmark", ["describe", *words], cwd=tmp_path)
        assert done.returncode == 2 and culprit in sentence(done, "slabmark")


GRID = '[[grid]]\nname = "g"\nshape = [8, 6]\nprocesses = [2, 2]\ndimensions = ["y", "x"]\n'
VARIABLE = '[[variable]]\nname = "v"\non = "g"\n'


@pytest.mark.parametrize(
    "text, culprits",
    [
        ("[[variable", ["is not TOML"]),
        ("", ["[variable]"]),
        (GRID + VARIABLE + "stagered = ['x']\n", ["'stagered' is no key of [variable]", '"staggered"?']),
        (GRID + VARIABLE + "[patern]\nsteps = 1\n", ["'patern' is no key of a description", '"pattern"?']),
        (GRID + VARIABLE.replace('"g"', '"h"'), ["on 'h'", "Known are: g."]),
        (GRID + VARIABLE + 'staggered = ["z"]\n', ["staggered along 'z'"]),
        (GRID.replace("[2, 2]", "[2]") + VARIABLE, ["'g': There are 1 numbers of processes for 2 dimensions"]),
        (
            GRID.replace("processes = [2, 2]", "blocks = [[4, 4], [3, 4]]") + VARIABLE,
            ["do not tile", "3, 4 points long", "has 6"],
        ),
        (GRID.replace("processes = [2, 2]\n", "") + VARIABLE, ["lacks 'processes'"]),
        (GRID + VARIABLE + 'type = "float16"\n', ["'1.type' of [variable]", "'float32'"]),
        (GRID + VARIABLE + "chunk = [9, 1]\n", ["chunk [9, 1]", "8 x 6"]),
        (GRID + GRID + VARIABLE, ["called 'g'"]),
        (GRID + VARIABLE.replace('"v"', '""'), ["'1.name' of [variable]", "a name is empty"]),
        (GRID + VARIABLE + VARIABLE, ["two variables called 'v'"]),
        (GRID + VARIABLE + "number = 11\n[pattern]\nsteps = 1000000\n", ["11000000", "10000000 are the most"]),
        (GRID + VARIABLE + "[pattern]\nthink = nan\n", ["'think' of [pattern]: it should be less than or equal to 1000000."]),
        (GRID + VARIABLE + "[pattern]\nranks = 3\n", ["'g' is on 4 ranks", "ranks = 3"]),
        (GRID + VARIABLE + "[pattern]\nranks = 5\n", ["ranks = 5", "on 4"]),
        (GRID + VARIABLE + "[pattern]\nsteps = 0\n", ["'steps' of [pattern]"]),
        (GRID + VARIABLE + "[pattern]\nranks = 17000000\n", ["'ranks' of [pattern]: it should be less than or equal to 16777216"]),
        ('[[particles]]\nname = "g"\nmean = 5\nranks = 17000000\n' + VARIABLE, ["'1.ranks' of [particles]", "16777216"]),
        ('[[particles]]\nname = "g"\nmean = 5\n' + VARIABLE, ["lacks 'ranks'"]),
        ('[[particles]]\nname = "g"\nmean = 5\nranks = 2\ndeviation = 0.1\n' + VARIABLE, ["'equal' has no 'deviation'"]),
        ('[[mesh]]\nname = "g"\nowner = "absent.nc"\n' + VARIABLE, ["absent.nc", "No such file"]),
        ('[[mesh]]\nname = "g"\nowner = "mesh.nc"\nvariable = "ownr"\n' + VARIABLE, ["no variable 'ownr'", '"owner"?']),
        ('[[mesh]]\nname = "g"\nowner = "mesh.nc"\n' + VARIABLE, ["which of its variables"]),
        ('[[mesh]]\nname = "g"\nowner = "mesh.nc"\nvariable = "depth"\n' + VARIABLE, ["float64", "whole numbers"]),
        ('[[mesh]]\nname = "g"\nowner = "words.txt"\n' + VARIABLE, ["neither a NetCDF file nor a text of whole numbers"]),
        ('[[mesh]]\nname = "g"\nowner = "mesh.nc"\nvariable = "owner"\nranks = 2\n' + VARIABLE, ["holds rank 2", "2 ranks"]),
    ],
)
def test_a_description_that_cannot_be_meant_is_one_sentence_and_nothing_is_written(tmp_path, text, culprits):
    make_mesh(tmp_path / "mesh.nc", "NETCDF3_CLASSIC")
    (tmp_path / "words.txt").write_text("one two")
    (tmp_path / "d.toml").write_text(text)
    with pytest.raises((InputError, OSError)) as error:
        describe.read(tmp_path / "d.toml")
    assert all(culprit in str(error.value) for culprit in culprits), str(error.value)


def make_mesh(path, format):
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.createDimension("nCells", 6)
        file.createVariable("owner", "i4", ("nCells",))[:] = [0, 1, 2, 2, 1, 0]
        file.createVariable("depth", "f8", ("nCells",))[:] = 1.0


@pytest.mark.parametrize("format", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"])
def test_owners_are_read_from_netcdf_of_any_format_and_from_text(tmp_path, format):
    folder = tmp_path / os.fsdecode(b"n\xff")
    folder.mkdir()
    make_mesh(tmp_path / "mesh.nc", format)
    (tmp_path / "mesh.nc").rename(folder / "mesh.nc")
    assert describe.read_owners(folder / "mesh.nc", "owner").tolist() == [0, 1, 2, 2, 1, 0]
    (tmp_path / "mesh.part.3").write_text("0\n1\n2\n")
    assert describe.read_owners(tmp_path / "mesh.part.3").tolist() == [0, 1, 2]


def test_owners_may_count_from_1_and_levels_may_be_the_fastest_dimension(tmp_path):
    (tmp_path / "mesh.part").write_text("2 1 0 2")  # 0 is nobody
    mesh = '[[mesh]]\nname = "g"\nowner = "mesh.part"\nfirst = 1\ndimensions = ["cell"]\n'
    levels = "levels = 3\nlevels_fastest = true\nchunk = [2, 1]\n"
    (tmp_path / "d.toml").write_text(mesh + VARIABLE + levels + "[pattern]\nsteps = 2\n")
    [variable] = describe.read(tmp_path / "d.toml").variables
    assert variable.dimensions == ("cell", "levels_3")
    assert variable.definition()["chunk"] == [1, 2, 1]
    elements = [owned(variable.layout.part(rank), variable.layout.shape).tolist() for rank in range(2)]
    assert elements == [[3, 4, 5], [0, 1, 2, 9, 10, 11]]


def test_variables_may_lie_as_a_map_does_that_a_model_recorded(run, small_map):
    text = f'[[map]]\nname = "g"\nfile = "{small_map.name}"\n' + VARIABLE
    (small_map.parent / "d.toml").write_text(text)
    made = describe.read(small_map.parent / "d.toml")
    [layout] = [variable.layout for variable in made.variables]
    with open(small_map) as lines:
        next(lines)
        assert layout.shape == tuple(int(length) for length in next(lines).split()[::-1])
    rows = list(decomposition.rows_of(small_map))
    assert made.ranks == 4 and [owned(layout.part(rank), layout.shape).tolist() for rank in range(4)] == [
        row.tolist() for row in rows
    ]


def written(path):
    """What each step writes: [{name: elements of all ranks}] by file, and the ranks."""
    found = {}
    with pattern.PatternFile(path) as file:
        for rank in range(file.ranks):
            step = 0
            for event in file.events(rank):
                if event.call["effect"] == "step":
                    step += 1
                elif event.writes:
                    counts = found.setdefault((step, event.file["path"]), {})
                    counts[event.dataset["name"]] = counts.get(event.dataset["name"], 0) + int(
                        event.boxes.counts.prod(axis=1).sum()
                    )
        return found, file.ranks


@pytest.mark.long
def test_the_example_of_a_model_in_blocks_has_its_variables_and_staggered_ones_are_longer(run, tmp_path):
    done = run("slabmark", ["describe", EXAMPLES / "wrf.toml", "-o", tmp_path / "wrf.pattern"])
    assert done.returncode == 0, done.stderr
    steps, ranks = written(tmp_path / "wrf.pattern")
    assert ranks == 8 and list(steps) == [(step, "out") for step in range(4)]
    expected = {f"MASS_{i:02d}": 10 * 60 * 100 for i in range(30)}
    expected |= {"U": 10 * 60 * 101, "V": 10 * 61 * 100, "W": 11 * 60 * 100, "RAIN": 60 * 100}
    assert steps[0, "out"] == expected | {"XLAT": 60 * 100}
    assert steps[1, "out"] == steps[3, "out"] == expected


@pytest.mark.long
def test_maps_of_a_pattern_file_are_what_its_ranks_write(run, tmp_path):
    made = describe.read(EXAMPLES / "wrf.toml")
    scattered = pattern.owners(numpy.random.default_rng(8).integers(-1, 6, 300))
    made.variable("scattered", scattered.levels(4)), made.variable("alike", scattered.levels(4))
    made.step()
    made.save(tmp_path / "a.pattern")
    done = run("slabmark decomp", ["info", tmp_path / "a.pattern", "--json", "-"])
    assert done.returncode == 0, done.stderr
    described = json.loads(done.stdout)
    assert "D1 is MASS_00 and 29 more" in described["layout"]
    layouts = {variable.layout: None for variable in made.variables}
    shapes = [layout.shape for layout in layouts]
    found = {tuple(entry["dims"]): entry for entry in described["maps"]}
    assert set(found) == set(shapes) and len(described["maps"]) == len(set(shapes)), "alike variables are one map"
    run("slabmark decomp", ["convert", tmp_path / "a.pattern", "-o", tmp_path / "a", "--map-format", "dat"]).check_returncode()
    for layout in layouts:
        entry = found[layout.shape]
        rows = list(decomposition.rows_of(tmp_path / f"a_{entry['map']}.dat"))
        nothing = numpy.zeros(0, int)
        for rank, row in enumerate(rows):
            expected = owned(layout.part(rank), layout.shape) if rank < layout.ranks else nothing
            assert row.tolist() == sorted(expected.tolist())
        assert entry["elements_per_rank"]["max"] == max(map(len, rows)) and len(rows) == made.ranks
    done = run("slabmark", ["decomp", "show", tmp_path / "a.pattern", "-o", tmp_path / "a.svg", "--map-index", "1"])
    assert done.returncode == 0 and (tmp_path / "a.svg").read_bytes().startswith(b"<svg"), done.stderr


@pytest.mark.long
def test_the_example_of_an_ocean_is_the_same_from_a_text_and_from_an_array(run, tmp_path):
    (tmp_path / "ocean.toml").write_bytes((EXAMPLES / "ocean.toml").read_bytes())
    argv = sys.argv
    try:
        sys.argv = ["ocean.py", str(tmp_path)]
        exec((EXAMPLES / "ocean.py").read_text(), {"__name__": "__main__"})
    finally:
        sys.argv = argv
    done = run("slabmark", ["describe", tmp_path / "ocean.toml", "-o", tmp_path / "text.pattern"])
    assert done.returncode == 0, done.stderr
    steps, ranks = written(tmp_path / "text.pattern")
    cells = steps[0, "out_1"]["ssh"]
    assert ranks == 8 and steps[2, "out_3"] == {"temperature": 20 * cells, "salinity": 20 * cells, "ssh": cells}
    with h5py.File(tmp_path / "text.pattern") as text, h5py.File(tmp_path / "ocean.pattern") as array:
        assert text.keys() == array.keys()
        assert all((text[name][()] == array[name][()]).all() for name in text)


@pytest.mark.long
def test_the_example_of_particles_has_other_numbers_in_each_step_and_the_same_in_each_run(run, tmp_path):
    done = run("slabmark", ["describe", EXAMPLES / "particles.toml", "-o", tmp_path / "a.pattern"])
    assert done.returncode == 0, done.stderr
    describe.read(EXAMPLES / "particles.toml").save(tmp_path / "b.pattern")
    steps, ranks = written(tmp_path / "a.pattern")
    assert steps == written(tmp_path / "b.pattern")[0] and ranks == 8
    numbers = [counts[f"x_{step}"] for (step, _), counts in steps.items()]
    assert len(set(numbers)) == 4 and all(8 * 1000 < number < 8 * 9000 for number in numbers)
    assert all(counts[f"momentum_{step}"] == 3 * numbers[step] for (step, _), counts in steps.items())


@pytest.mark.parametrize("distribution", ["equal", "uniform", "normal", "lognormal", "poisson"])
def test_distributions_have_the_mean_and_deviation_that_were_asked_for(distribution):
    generator = numpy.random.default_rng(5)
    drawn = describe.draw(generator, distribution, 1000, 0.3, 100_000)
    expected = {"equal": 0, "poisson": 1000**0.5, "uniform": 300 / 3**0.5}.get(distribution, 300)
    assert drawn.dtype.kind == "i" and abs(drawn.mean() - 1000) < 5 and abs(drawn.std() - expected) < 5


@pytest.mark.long
def test_the_command_says_what_is_wrong_in_one_sentence(run, sentence, tmp_path):
    (tmp_path / "d.toml").write_text(GRID + VARIABLE + "nmber = 3\n")
    done = run("slabmark", ["describe", tmp_path / "d.toml", "-o", tmp_path / "d.pattern"])
    assert done.returncode == 2 and "'nmber'" in sentence(done, "slabmark") and not (tmp_path / "d.pattern").exists()


def test_overlapping_requests_of_a_log_are_left_out_once_and_counted():
    asked = darshan_log.Requests(*numpy.array([[0, 1, 0, 2], [0, 50, 40, 45], [40, 50, 20, 5]]))
    kept, lost = darshan_log.without_overlaps(asked)
    assert list(zip(kept.rank, kept.begin, kept.length)) == [(0, 0, 40), (1, 60, 40), (0, 40, 20)] and lost == 15
    layout = darshan_log.layout_of(kept, 4)
    assert layout.shape == (100,) and [layout.part(rank).elements for rank in range(4)] == [60, 40, 0, 0]


def test_what_ranks_did_in_a_file_by_turns_is_no_overlap():
    """Darshan has the last byte and the number of bytes of each, so all seem to be at the end."""
    rows = [(numpy.full(3, rank), 40 + 10 * numpy.arange(3), numpy.full(3, 10)) for rank in range(2)]
    made = darshan_log._without_rows_that_overlap(rows)
    assert made.rank.tolist() == [0, 1] * 3 and made.begin.tolist() == [10, 20, 30, 40, 50, 60]
    apart = [(numpy.full(1, rank), numpy.full(1, 30 * rank), numpy.full(1, 30)) for rank in range(2)]
    assert darshan_log._without_rows_that_overlap(apart).begin.tolist() == [0, 30]


def test_a_log_is_no_pattern_where_much_would_be_missing():
    darshan_log._check_share("a.darshan", "read", 96, [(4, "by STDIO")])
    with pytest.raises(InputError, match="would have 90 of 100 bytes read; it would lack 4 by STDIO, 6 of overlapping requests"):
        darshan_log._check_share("a.darshan", "read", 90, [(4, "by STDIO"), (6, "of overlapping requests")])


COUNTED = "shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158.darshan"


def log_of(name):
    darshan = pytest.importorskip("darshan", reason="the package 'darshan' is not here; it is in setup/requirements-tests.txt")
    return pathlib.Path(darshan.__file__).parent / "examples/example_logs" / name


@pytest.mark.long
@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("name, words", [("dxt.darshan", "tracing saw"), (COUNTED, "made up")])
def test_a_darshan_log_becomes_a_pattern_that_is_marked_as_a_guess(run, tmp_path, name, words, reads):
    done = run("slabmark", ["describe", log_of(name), *["--read"] * reads, "-o", tmp_path / "log.pattern"])
    assert done.returncode == 0 and words in done.stdout, done.stderr
    with pattern.PatternFile(tmp_path / "log.pattern") as file:
        assert file.origin == "imported" and words in file.guess and file.guess.endswith(".")
        moved = {}
        for rank in range(file.ranks):
            for event in file.events(rank):
                assert event.reads <= reads and event.writes <= (not reads)
                if event.writes or event.reads:
                    moved[event.file["path"]] = moved.get(event.file["path"], 0) + int(event.boxes.counts.sum())
    assert moved and min(moved.values()) > 0


@pytest.mark.long
def test_a_log_of_what_went_past_posix_says_how(run, sentence, tmp_path):
    done = run("slabmark", ["describe", log_of("noposix.darshan"), "-o", tmp_path / "log.pattern"])
    assert done.returncode == 2 and not (tmp_path / "log.pattern").exists()
    assert "it would lack 29562779 by STDIO" in sentence(done, "slabmark")


@pytest.mark.long
@pytest.mark.parametrize("length, reason", [(0, "log"), (600, "unable to read"), (6000, "unable to read")])
def test_a_darshan_log_that_is_cut_short_is_one_sentence_whatever_the_library_does(run, sentence, tmp_path, length, reason):
    """Of 600 bytes it crashes, and of 6000 it makes a log in which nothing was written."""
    (tmp_path / "a.darshan").write_bytes(log_of("dxt.darshan").read_bytes()[:length])
    done = run("slabmark", ["describe", tmp_path / "a.darshan", "-o", tmp_path / "a.pattern"])
    assert done.returncode == 2 and not (tmp_path / "a.pattern").exists()
    assert "cannot be read as a Darshan log" in sentence(done, "slabmark") and reason in done.stderr


def test_a_log_without_the_package_says_what_to_install(run, sentence, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "darshan", None)
    (tmp_path / "a.darshan").write_bytes(b"3.41\0")
    with pytest.raises(InputError, match="pip install darshan"):
        darshan_log.read(tmp_path / "a.darshan")
