"""slabmark advise --pio: what SCORPIO's rearrangers make of a map, as SCORPIO itself did.

scorpio.json was made once: maps as made below went through PIOc_Init_Intracomm and PIOc_InitDecomp of the library that it
names, and of the descriptors that came out were taken the elements of each I/O task (llen), the number of regions (maxregions), who sends
how many (scount), and the fill values of each (holegridsize).
"""

import json
import math
import pathlib

import numpy
import pytest
from conftest import needs_pnetcdf
from slabmark.advise import pio, pio_command

RECORDED = json.loads((pathlib.Path(__file__).parent / "scorpio.json").read_text())


def owners(dims, ranks, kind, holes, seed):
    generator, elements = numpy.random.default_rng((5, seed)), math.prod(dims)
    if kind == "scattered":
        found = generator.integers(0, ranks, elements)
    elif kind == "blocks":
        found = numpy.minimum(numpy.arange(elements) * ranks // elements, ranks - 1)
    elif kind == "columns":
        found = numpy.tile(generator.integers(0, ranks, dims[-1]), elements // dims[-1])
    elif kind == "rows":
        found = numpy.repeat(generator.integers(0, ranks, elements // dims[-1]), dims[-1])
    else:
        found = numpy.arange(elements) // max(1, elements // (ranks * 7)) % ranks
    found = found.astype(int)
    if holes:
        found[generator.random(elements) < holes] = -1
    return found


def made_of(dims, ranks, own):
    rows = [numpy.flatnonzero(own == rank) for rank in range(ranks)]
    lengths = [len(row) for row in rows]
    return pio.Map("m", tuple(dims), ranks, numpy.concatenate(rows), numpy.repeat(numpy.arange(ranks), lengths))


@pytest.mark.parametrize("name", list(pio.REARRANGERS))
def test_each_rearranger_does_with_maps_of_all_kinds_what_the_library_does(name):
    checked = 0
    for row in (dict(zip(RECORDED["columns"], row)) for row in RECORDED["rows"]):
        if row["rearranger"] != name:
            continue
        made = made_of(row["dims"], row["ranks"], owners(*(row[key] for key in ("dims", "ranks", "kind", "holes", "seed"))))
        place = pio.placement(row["tasks"], row["ranks"], row["root"])
        found = pio.COMPUTED[name](made, place, 8)
        length, calls = found.length, found.calls
        if row["fills"]:  # which the library counts apart
            missing = pio._missing(made, row["tasks"])
            assert [len(part) for part in missing] == row["fills"], row
            length, calls = length - row["fills"], calls - max(pio.regions(part, made.dims) for part in missing)
        assert length.tolist() == row["length"] and calls == row["calls"], row
        if row["messages"] is not None:
            assert (found.messages, found.moved) == (row["messages"], row["moved"]), row
        checked += 1
    assert checked >= 80


def test_the_two_stages_of_contig_are_as_worked_out_by_hand():
    """12 elements of 4 ranks, dealt like cards; the I/O tasks are ranks 0 and 2. Rank 1 sends its 3 to rank 0, rank 3 to rank 2.
    Task 0 then holds 0 1 4 5 8 9 and owns 0 to 5, so it sends 8 and 9; task 2 holds 2 3 6 7 10 11 and sends 2 and 3."""
    made = made_of((12,), 4, numpy.arange(12) % 4)
    found = pio.contig(made, pio.placement(2, 4), 8)
    assert (found.messages, found.moved, found.received.tolist()) == (4, 3 + 3 + 2 + 2, [2, 2])
    assert found.length.tolist() == [6, 6] and found.calls == 1 and found.idle == 0


def test_small_arrays_leave_tasks_of_box_idle_and_too_small_ones_have_no_contig():
    made = made_of((300,), 8, numpy.arange(300) % 8)
    found = pio.box(made, pio.placement(8, 8), 8)  # 2400 bytes: two blocks of 1024
    assert found.idle == 6 and found.length.tolist() == [150, 150, 0, 0, 0, 0, 0, 0]
    assert "fewer than I/O tasks" in pio.possible("contig", made_of((3,), 8, numpy.arange(3)), 8)


def test_a_region_grows_over_rows_and_may_end_inside_one():
    # Rows of 10: 2 to 4, below it 2 to 5, below that 2 to 4: one box of 3 columns, and what is left over, in order.
    offsets = numpy.array([2, 3, 4, 12, 13, 14, 15, 22, 23, 24])
    assert pio.regions(offsets, (4, 10)) == 3  # 2-4 and 12-14; then 15, of whose row there is no more below; then 22-24
    assert pio.regions(numpy.arange(40), (4, 10)) == 1 and pio.regions(numpy.arange(40), (40,)) == 1
    assert pio.regions(numpy.array([], dtype=int), (4, 10)) == 0


def test_the_drop_in_sends_nothing_on_one_node_and_a_message_a_window_between_two():
    made = made_of((1 << 20,), 4, numpy.arange(1 << 20) % 4)  # 8 MiB, everybody has something everywhere
    alone = pio.drop_in(made, 1, 2, 8, 1)
    assert alone.messages == 0 and alone.writes == 8 and alone.memory == 2 << 20
    two = pio.drop_in(made, 2, 2, 8, 1)  # aggregators are ranks 0 and 2; two ranks of the other node send to each
    assert two.messages == 2 * 8 * 2 and two.received == 16 and two.moved == alone.moved == 3 * (1 << 18)
    assert pio.drop_in(made, 2, 2, 8, 3).writes == 24


def test_the_recommendation_has_no_idle_tasks_and_writes_large_pieces():
    made = made_of((64, 4096), 8, numpy.tile(numpy.arange(4096) % 8, 64))  # 2 MiB
    rows = pio_command.outcomes(made, [1, 2, 4, 8], 0, 8)
    chosen = pio_command.recommended(rows, 8, 1)
    assert (chosen.rearranger, chosen.placement.tasks, chosen.calls) == ("contig", 2, 1), "1 MiB each; fewer messages than BOX"
    assert pio_command.recommended(rows, 8, 4).placement.tasks == 8, "8 MiB in a write"
    assert pio_command.recommended(rows, 8, 1, tasks=4).placement.tasks == 4


@pytest.mark.long
def test_the_command_prints_a_table_of_all_and_lines_to_paste(run, tmp_path):
    run(
        "slabmark decomp", ["generate", "f", "--ne", "2", "--ranks", "4", "--map-format", "dat", "-o", tmp_path / "f"]
    ).check_returncode()
    [path] = tmp_path.glob("*D3.dat")
    done = run("slabmark", ["advise", "--pio", path, "--ranks-per-node", "2"])
    assert done.returncode == 0, done.stderr
    for word in (
        "BOX",
        "SUBSET",
        "CONTIG",
        "drop-in",
        "./xmlchange PIO_REARRANGER=",
        "PIO_NUMTASKS=2,PIO_STRIDE=2,PIO_ROOT=0",
        "&pio_inparm",
    ):
        assert word in done.stdout, done.stdout


@pytest.mark.long
def test_a_map_that_no_library_can_write_is_refused(run, sentence, tmp_path):
    (tmp_path / "a.dat").write_text("version 2001 npes 3 ndims 1\n8\n0 3\n1 2 3\n1 2\n4 5\n2 2\n6 2\n")
    done = run("slabmark", ["advise", "--pio", tmp_path / "a.dat"])
    assert done.returncode == 2 and not done.stdout
    assert "The first is element 1 (counted from 0), of rank 0 and rank 2" in sentence(done, "slabmark")


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments, culprit",
    [
        (["--pio"], "MAP-OR-PATTERN"),
        (["--pio", "MAP", "--io-tasks", "99"], "more I/O tasks than the map has ranks (4)"),
        (["--pio", "MAP", "--map-index", "7"], "there is no map 7"),
        (["--pio", "MAP", "--root", "100"], "no rank of the map, which has 4"),
        (["MAP"], "--launch"),
    ],
)
def test_wrong_usage_is_one_sentence(run, sentence, small_map, arguments, culprit):
    done = run("slabmark", ["advise", *(str(small_map) if word == "MAP" else word for word in arguments)])
    assert done.returncode == 2 and culprit in sentence(done, "slabmark")


@pytest.mark.long
@needs_pnetcdf
def test_real_maps_are_looked_at(run, real_data):
    done = run("slabmark", ["advise", "--pio", real_data / "map_f_case_16p.nc"])
    assert done.returncode == 0 and done.stdout.count("drop-in  ") == 3 and "by D3, the largest map" in done.stdout, done.stdout
