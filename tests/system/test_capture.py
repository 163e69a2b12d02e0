"""Capture: what programs are seen to ask of PnetCDF is what they asked, and can be played again.

`slabmark pattern show` says what a pattern file holds; elements of its boxes are counted here, one by one."""

import itertools
import json
import os
import pathlib
import re
import shutil
import struct

import h5py
import numpy
import pytest
from capturing import preloads
from conftest import needs_pnetcdf, words_of

built = pathlib.Path(os.environ["SLABMARK_BIN"]).parent
library = built / "lib/libslabcapture_pnetcdf.so"
MAGIC = b"SLABSPL1"

pytestmark = [pytest.mark.long, needs_pnetcdf, preloads]


@pytest.fixture(scope="session")
def record(run):
    """record(pattern, program, args, ranks): runs it so that it leaves a spool beside the pattern file to be."""

    def start(pattern, program, args, ranks, variables=(), **more):
        return run("/usr/bin/env", [f"LD_PRELOAD={library}", f"SLABMARK_CAPTURE={pattern}", *variables, *words_of(built / "bin", program), *args],
                   ranks=ranks, launch=True, **more)

    return start


@pytest.fixture(scope="session")
def capture(run, record):
    """capture(pattern, program, args, ranks): the same, and makes the pattern file."""

    def start(pattern, program, args, ranks):
        done = record(pattern, program, args, ranks)
        assert done.returncode == 0, done.stdout + done.stderr
        merged = run("slabmark pattern", ["merge", f"{pattern}.parts", "-o", pattern])
        assert merged.returncode == 0, merged.stderr
        return done

    return start


@pytest.fixture(scope="session")
def show(run):
    """show(pattern, rank) -> events; show(pattern) -> [header]"""

    def lines(pattern, rank=None):
        done = run("slabmark pattern", ["show", pattern, *([] if rank is None else ["--rank", rank])])
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return lines


def elements(selection):
    """Indices of the elements of a selection, in the order of memory."""
    if selection == "nothing":
        return []
    if selection == "all":
        return ["all"]
    found = []
    ones = itertools.repeat(itertools.repeat(1))
    for start, count, stride, block in zip(selection["starts"], selection["counts"], selection.get("strides", ones),
                                           selection.get("blocks", ones)):
        axes = [[s + i * t + j for i in range(c) for j in range(b)] for s, c, t, b in zip(start, count, stride, block)]
        found += itertools.product(*axes)
    return found


def moved(events, name, flag="writes"):
    """What calls moved of a dataset, in their order."""
    return [index for event in events if event.get("dataset") == name and flag in event["flags"]
            for index in elements(event["selection"])]


@pytest.fixture(scope="module")
def scattered(make_dat, tmp_path_factory):
    """A map of 6 x 20, and the rows and columns that each of 4 ranks owns."""
    order = numpy.random.default_rng(5).permutation(120)
    owned = [sorted(map(int, order[rank::4][:28])) for rank in range(4)]
    path = tmp_path_factory.mktemp("maps") / "a.dat"
    make_dat(path, [20, 6], [[offset + 1 for offset in offsets] for offsets in owned])
    return path, [[(offset // 20, offset % 20) for offset in offsets] for offsets in owned]


@pytest.mark.parametrize("method", ["pnetcdf-varn", "pnetcdf-vara", "pnetcdf-vard", "blocking"])
def test_what_the_bench_writes_is_captured_element_by_element(capture, show, tmp_path, scattered, method):
    path, owned = scattered
    more = ["--set", "pnetcdf.blocking=on"] if method == "blocking" else []
    name = "pnetcdf-varn" if method == "blocking" else method
    variables = ("var0000", "var0001")  # which one call of pnetcdf-vard goes over
    pattern = tmp_path / "run.pattern"
    done = capture(pattern, "slabmark bench", ["decomp", "--map", path, "--method", name, *more, "--steps", "3", "--variables",
                                               str(len(variables)), "--trials", "1", "--no-bound", "-d", tmp_path], 4)
    if refused := re.search("not run: (PnetCDF 1.15.*)", done.stdout):
        pytest.skip(refused[1])
    assert "yes" in done.stdout
    for rank in range(4):
        written = [event for event in show(pattern, rank) if event["opening"] == 0]
        assert written[0]["call"] == "ncmpi_create" and written[-1]["call"] == "ncmpi_close"
        for variable in variables:
            expected = [(time, *index) for time in range(3) for index in owned[rank]]
            assert moved(written, variable) == expected


@pytest.mark.fast
def test_variables_are_what_they_were_defined_as(capture, show, tmp_path):
    capture(tmp_path / "run.pattern", "captured_steps", [tmp_path / "a.nc", 2, "one"], 2)
    [header] = show(tmp_path / "run.pattern")
    datasets = {entry["name"]: entry for entry in header["definitions"] if entry["kind"] == "dataset"}
    assert datasets["T"] == {"kind": "dataset", "name": "T", "type": "float64", "extent": [0, 3, 80],
                             "maximum": [None, 3, 80], "dimensions": ["time", "row", "column"],
                             "attributes": [{"name": "units", "type": "char", "count": 1}]}
    assert datasets["count"]["type"] == "int16"
    assert [entry["state"] for entry in header["ranks"]] == ["finished", "finished"]
    assert header["files"] == [{"kind": "file", "level": "pnetcdf", "path": str(tmp_path / "a.nc"), "mode": 32, "ranks": 2,
                                "format": "CDF-5", "hints": {}}]


def test_what_names_no_variable_is_left_to_pnetcdf_whatever_the_number(capture, show, tmp_path):
    pattern = tmp_path / "run.pattern"
    done = capture(pattern, "pnetcdf_cases", ["unknown", tmp_path / "a.nc"], 2)
    assert sorted(done.stdout.split("\n")[:-1]) == sorted(4 * ["rank 0: NC_ENOTVAR", "rank 1: NC_ENOTVAR"] + ["rank 0: NC_NOERR", "rank 1: NC_NOERR"])
    for rank in range(2):
        events = show(pattern, rank)
        assert moved(events, "v") == [(rank,)]
        assert not [event for event in events if "uncaptured" in event]


def test_a_step_that_is_repeated_takes_less_than_a_byte_a_hyperslab(capture, tmp_path):
    sizes = {}
    for steps in (1, 2, 12):
        pattern = tmp_path / f"{steps}.pattern"
        capture(pattern, "captured_steps", [tmp_path / "a.nc", steps, "one"], 1)
        with h5py.File(pattern) as file:
            sizes[steps] = file["events"].size + file["lists"].size
    hyperslabs = 2 * 40
    assert sizes[1] < 10 * hyperslabs
    # The second step has no definitions before it, so that it is another block; those after it are the second again.
    assert sizes[12] - sizes[2] < 10 * hyperslabs


PLAY = ["captured", "--method", "as-captured", "--trials", "1", "--no-bound"]


def header_of(path, header_bytes):
    """What describes a file of PnetCDF's: kind, records, dimensions, variables, where they begin."""
    return path.stat().st_size, path.read_bytes()[:header_bytes]


@pytest.mark.parametrize("seed, ranks, mode", [(1, 1, "collective"), (4, 2, "collective"), (8, 2, "independent")])
def test_random_calls_of_pnetcdf_made_again_leave_the_same_file(run, capture, tmp_path, monkeypatch, seed, ranks, mode):
    """Of a program that closes its file and opens it again, adds variables, reads, and drops requests. Its ranks share elements."""
    monkeypatch.setenv("OMPI_MCA_io", "^ompio")
    pattern, folder = tmp_path / "run.pattern", tmp_path / "played"
    folder.mkdir()
    log = tmp_path / "log"
    capture(pattern, "pnetcdf_random", [seed, 60, tmp_path / "a.nc", log, *([] if mode == "independent" else [mode])], ranks)
    text = pathlib.Path(f"{log}.0").read_text()
    assert "operation 18" in text and "operation 19" in text, f"seed {seed} defines and opens nothing"
    done = run("slabmark bench", [*PLAY, "--pattern", pattern, "--keep", "-d", folder], ranks=ranks, launch=True)
    assert done.returncode == 0, done.stderr
    assert "yes" in done.stdout, done.stdout
    [played] = folder.iterdir()
    header_bytes = int(text.partition("header ")[2].split()[0])
    assert header_of(played, header_bytes) == header_of(tmp_path / "a.nc", header_bytes), f"seed {seed}"


def test_files_that_differ_are_made_again_each_as_it_was(run, capture, tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    pattern, folder = tmp_path / "run.pattern", tmp_path / "played"
    folder.mkdir()
    capture(pattern, "captured_steps", [tmp_path / "h", 3, "history"], 2)
    done = run("slabmark bench", [*PLAY, "--pattern", pattern, "--keep", "-d", folder], ranks=2)
    assert done.returncode == 0 and "yes" in done.stdout, done.stdout + done.stderr

    def shape(path):
        with netcdf.Dataset(path) as file:
            return {name: (variable.dimensions, variable.shape, str(variable.dtype),
                           [(key, len(variable.getncattr(key))) for key in variable.ncattrs()])
                    for name, variable in file.variables.items()}, path.stat().st_size

    own = sorted(map(shape, (tmp_path / name for name in ("h.sums", "h0", "h1", "h2"))), key=str)
    assert sorted(map(shape, folder.iterdir()), key=str) == own
    again = run("slabmark bench", [*PLAY, "--pattern", pattern, "-d", folder], ranks=2)
    assert again.returncode == 2 and "exists" in again.stderr, again.stderr
    for path in folder.iterdir():
        path.unlink()
    run("slabmark bench", [*PLAY, "--pattern", pattern, "-d", folder], ranks=2).check_returncode()
    assert not list(folder.iterdir()), "files of the trial are left"


@pytest.mark.parametrize("way, ranks", [("one", 2), ("files", 2), ("history", 2), ("one", 3), ("files", 1)])
def test_what_was_captured_goes_through_every_kind_of_method_on_any_number_of_ranks(run, capture, tmp_path, way, ranks):
    pattern = tmp_path / "run.pattern"
    capture(pattern, "captured_steps", [tmp_path / "a.nc", 3, way], 2)
    methods = "pnetcdf-varn,pnetcdf-rearranged,hdf5-slab,mpiio-rearranged,as-captured"
    done = run("slabmark bench", ["captured", "--pattern", pattern, "--method", methods, "--trials", "1", "--json",
                                  tmp_path / "r.jsonl", "-d", tmp_path, "--no-bound"], ranks=ranks)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    for entry in records:
        if entry["method"] == "as-captured-pnetcdf" and ranks != 2:
            assert "as many ranks as were recorded, 2" in entry["unsupported"], entry
            continue
        assert entry["trials"] and entry["verified"]["elements"] and not entry["verified"]["mismatch"], entry
        steps = 1 if way == "files" else 3  # of a file
        more = 3 * 40 * 2 * 4 + 3 * (2 * 4 + 3 * 4) if way == "history" else 0  # area; sum and more of each step
        assert entry["pattern"]["bytes"] == 2 * 40 * 3 * (8 + 2) * steps + more


def test_a_program_that_is_killed_leaves_what_was_seen_until_then(run, record, show, tmp_path):
    pattern = tmp_path / "run.pattern"
    assert record(pattern, "captured_steps", [tmp_path / "a.nc", 5, "kill"], 2).returncode != 0
    merged = run("slabmark pattern", ["merge", f"{pattern}.parts", "-o", pattern])
    assert merged.returncode == 0, merged.stderr
    assert "ended early, on ranks 0, 1" in merged.stdout
    for rank in range(2):
        events = show(pattern, rank)
        assert events.pop() == {"ended": "early"}
        written = moved(events, "T")
        assert len(written) > 4 * 40 * 3  # all until it thought, and what it went on with
        assert written == [(step, row, i * 2 + rank) for step in range(5) for i in range(40) for row in range(3)][: len(written)]


def test_a_spool_without_space_is_told_once_and_the_program_goes_on(run, record, tmp_path):
    pattern = tmp_path / "run.pattern"
    assert record(pattern, "captured_steps", [tmp_path / "a.nc", 3, "one"], 1).returncode == 0
    [spool] = pathlib.Path(f"{pattern}.parts").iterdir()
    spool.unlink()
    spool.symlink_to("/dev/full")
    done = record(pattern, "captured_steps", [tmp_path / "b.nc", 3, "one"], 2)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("slabmark capture: ")]
    assert len(told) == 2 and all("No space left" in line for line in told), done.stderr
    run("captured_steps", [tmp_path / "c.nc", 3, "one"], ranks=2).check_returncode()
    assert (tmp_path / "b.nc").read_bytes() == (tmp_path / "c.nc").read_bytes()


def varint(number):
    """As docs/reference/pattern-file.md codes it."""
    coded = []
    while number >= 128:
        coded.append(number % 128 + 128)
        number //= 128
    return [*coded, number]


def thoughtful(path, seconds, files):
    """One rank that writes a record of ten numbers after each think time; `files`: each to a file of its own."""
    calls = [{"kind": "call", "name": name, "effect": name} for name in ("write", "step")]
    dataset = {"kind": "dataset", "name": "x", "type": "float64", "extent": [0, 10], "maximum": [None, 10]}
    header = {"files": [{"level": "described", "path": f"out{i}"} for i in range(len(seconds) if files else 1)],
              "ranks": [{"state": "finished"}], "hosts": [], "definitions": [dataset, *calls]}
    body = [0, 0, 1, 1, 1, 0, 0, 2, 0, 2, 1, 10, 0, 0, 2, 0, 0, 2, 0, 0, 0, 0, 0]
    events = []
    for step, think in enumerate(seconds):
        opening, record = (step, 0) if files else (0, step)
        parameters = [1, 2 * opening, 0, 2 * record, 0]
        events += [1, *varint(round(think * 1e6)), 0, len(body), *body, 4, *parameters]
    events.append(4)
    with h5py.File(path, "w") as file:
        file.attrs["slabmark_pattern"] = 1
        file.attrs["origin"] = "described"
        file["header"] = numpy.frombuffer(json.dumps(header).encode(), "u1")
        for name, values, kind in (("events", events, "u1"), ("lists", [], "u1"), ("files", range(len(header["files"])), "u4"),
                                   ("definitions", range(3), "u4")):
            file[name] = numpy.array(values, kind)
            file[f"{name}_begin"] = numpy.array([0, len(values)], "u8")


@pytest.mark.parametrize("files", [False, True])
@pytest.mark.parametrize("think, factor", [("none", None), ("keep", 1), ("2.5", 2.5)])
def test_think_times_are_left_out_kept_or_scaled(run, tmp_path, think, factor, files):
    seconds, told = [0.3, 0.7, 1.1], tmp_path / "sleeps"
    thoughtful(tmp_path / "run.pattern", seconds, files)
    done = run("/usr/bin/env", [f"LD_PRELOAD={built / 'lib/libtold_sleeps.so'}", f"SLEEPS={told}", built / "bin/slabmark", "bench",
                                "captured", "--pattern", tmp_path / "run.pattern", "--method", "posix", "--think", think,
                                "--trials", "2" if files else "1", "--no-bound", "-d", tmp_path])
    assert done.returncode == 0 and "yes" in done.stdout, done.stdout + done.stderr
    slept = [float(line) for line in told.read_text().split()] if told.exists() else []
    slept = [length for length in slept if length > 0.1]  # the others are MPI's
    if factor is None:
        assert not slept
        return
    assert slept == pytest.approx([factor * length for length in seconds])


@pytest.fixture(scope="module")
def good(capture, tmp_path_factory):
    pattern = tmp_path_factory.mktemp("good") / "run.pattern"
    capture(pattern, "captured_steps", [pattern.parent / "a.nc", 2, "one"], 2)
    return pattern


def change_events(path, change):
    with h5py.File(path, "r+") as file:
        events = file["events"][()]
        change(events)
        del file["events"]
        file["events"] = events


# One that cannot be opened and one that is refused while it is read; tests/capture/read has all others.
DAMAGED = {
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-3000]), "no pattern file, or a damaged or truncated one"),
    "cut number": (lambda path: change_events(path, lambda events: events.__setitem__(slice(None), 255)), "damaged"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_what_is_no_sound_pattern_file_is_refused_in_one_sentence(run, refused, good, tmp_path, case):
    path = tmp_path / "x.pattern"
    shutil.copy(good, path)
    damage, words = DAMAGED[case]
    damage(path)
    done = run("slabmark bench", ["captured", "--pattern", path, "--method", "null", "--no-bound", "-d", tmp_path], ranks=2)
    assert words in refused(done, "slabmark bench")


def test_numbers_of_another_byte_order_are_read_as_they_are(show, good, tmp_path):
    """HDF5 converts its own; those within the coded events have one order everywhere."""
    path = tmp_path / "big.pattern"
    shutil.copy(good, path)
    with h5py.File(path, "r+") as file:
        for name in ("events_begin", "lists_begin", "files_begin", "files", "definitions_begin", "definitions"):
            values = file[name][()]
            del file[name]
            file.create_dataset(name, data=values, dtype=values.dtype.newbyteorder(">"))
        file.attrs.create("slabmark_pattern", 1, dtype=">u4")
    assert show(path) == show(good)
    for rank in range(2):
        assert show(path, rank) == show(good, rank) != []


def test_a_header_with_other_things_than_the_format_has_is_refused_in_one_sentence(run, refused, good, tmp_path):
    path = tmp_path / "x.pattern"
    shutil.copy(good, path)
    with h5py.File(path, "r+") as file:
        header = json.loads(file["header"][()].tobytes())
        next(entry for entry in header["definitions"] if entry["kind"] == "dataset").pop("extent")
        del file["header"]
        file["header"] = numpy.frombuffer(json.dumps(header).encode(), "u1")
    assert "has no 'extent'" in refused(run("slabmark pattern", ["show", path]), "slabmark pattern")


def frames(spool):
    """(process, whole frame) of a file of a spool."""
    data = spool.read_bytes()
    at = 0
    while at < len(data):
        magic, process, _, _, length, _ = struct.unpack_from("<8sQQIIQ", data, at)
        assert magic == MAGIC
        yield process, data[at : at + 40 + length]
        at += 40 + length


def test_ranks_that_are_missing_are_named(run, record, refused, tmp_path):
    pattern = tmp_path / "run.pattern"
    record(pattern, "captured_steps", [tmp_path / "a.nc", 2, "one"], 3).check_returncode()
    [spool] = pathlib.Path(f"{pattern}.parts").iterdir()
    found = list(frames(spool))
    gone = found[0][0]
    spool.write_bytes(b"".join(frame for process, frame in found if process != gone))
    words = ["merge", f"{pattern}.parts", "-o", pattern]
    sentence = refused(run("slabmark pattern", words), "slabmark pattern")
    assert "1 of 3 ranks left nothing" in sentence and "--allow-missing" in sentence
    assert not pattern.exists()
    done = run("slabmark pattern", [*words, "--allow-missing"])
    assert done.returncode == 0 and "taken to have done nothing" in done.stdout


def test_of_several_launches_the_one_that_is_asked_for_becomes_the_pattern(run, record, refused, show, tmp_path):
    pattern = tmp_path / "run.pattern"
    for name, ranks in (("first", 2), ("second", 3)):
        as_of_slurm = ["SLURM_JOB_ID=7", f"SLURM_STEP_ID={name}"]  # MPICH's own launcher gives a launch no name
        record(pattern, "captured_steps", [tmp_path / f"{name}.nc", 2, "one"], ranks, as_of_slurm).check_returncode()
    merge = ["merge", f"{pattern}.parts", "-o", pattern]
    all_of_them = ", ".join(f"{i} is 'captured_steps' on {ranks} ranks" for i, ranks in ((1, 2), (2, 3)))
    sentence = refused(run("slabmark pattern", merge), "slabmark pattern")
    assert f"of 2 runs: {all_of_them}; say which by" in sentence
    done = run("slabmark pattern", [*merge, "--run", 2, "--overwrite"])
    assert done.returncode == 0 and all_of_them in done.stdout, done.stdout + done.stderr
    [header] = show(pattern)
    assert len(header["ranks"]) == 3 and [file["path"] for file in header["files"]] == [str(tmp_path / "second.nc")]


@pytest.mark.fast
def test_an_anonymous_pattern_has_no_names_and_is_played_the_same(run, record, show, tmp_path):
    pattern = tmp_path / "run.pattern"
    record(pattern, "captured_steps", [tmp_path / "secret.nc", 2, "one"], 2).check_returncode()
    run("slabmark pattern", ["merge", f"{pattern}.parts", "-o", pattern, "--anonymous"]).check_returncode()
    text = json.dumps(show(pattern))
    for name in ("secret", "captured_steps", "units", "column", '"T"', os.uname().nodename):
        assert name not in text
    done = run("slabmark bench", ["captured", "--pattern", pattern, "--method", "as-captured,pnetcdf-varn", "--trials", "1",
                                  "--no-bound", "-d", tmp_path], ranks=2)
    assert done.returncode == 0 and done.stdout.count("yes") == 2, done.stdout + done.stderr
