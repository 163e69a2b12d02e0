"""Of the tests of capture: what programs say they asked for, and what was recorded of it, in the same words.

capture_hdf5.c, capture_mpiio.c and capture_posix.c say it; "FILE.asked.RANK" has a line for each call, or the standard output."""

import itertools
import json
import os
import pathlib
import re

import pytest

BIN = pathlib.Path(os.environ["SLABMARK_BIN"])
LIBRARIES = [BIN.parent / "lib" / f"libslabcapture_{level}.so" for level in ("mpiio", "posix")]
# What is preloaded with the sanitizers wants theirs before it: LD_PRELOAD="$(gcc -print-file-name=libasan.so):...". The programs of
# these tests and their scripts run so, by hand. As tests they would fail by leaks of others: of Python, ROMIO, PnetCDF's
# ncmpi_buffer_attach.
sanitized = bool(os.environ.get("SLABMARK_SANITIZERS"))
preloads = pytest.mark.skipif(sanitized, reason="the sanitizers must be the first library of a program")


def environment(pattern, below="under_vol=0;under_info={}", **more):
    beside = filter(None, [os.environ.get("LD_PRELOAD")])
    preloaded = {} if sanitized else {"LD_PRELOAD": ":".join([*beside, *map(str, LIBRARIES)])}  # the sanitizers must come first
    return {"SLABMARK_CAPTURE": str(pattern), "HDF5_PLUGIN_PATH": str(BIN.parent / "plugins"),
            "HDF5_VOL_CONNECTOR": f"slabcapture {below}", **preloaded, **more}


def tampered(**how):
    """An environment in which programs meet what tests/system/tampered.c does."""
    preloaded = [str(BIN.parent / "lib/libtampered.so"), *filter(None, [os.environ.get("LD_PRELOAD")])]
    return os.environ | {"LD_PRELOAD": ":".join(preloaded)} | how


def product(lengths):
    result = 1
    for length in lengths:
        result *= length
    return result


def coordinates(box):
    """Of the elements of one box, in the order of the array."""
    start, count, stride, block = box
    along = [[first + i * step + j for i in range(n) for j in range(size)]
             for first, n, step, size in zip(start, count, stride, block)]
    return itertools.product(*along)


def elements(selection, extent):
    """Numbers in the order of an array of that extent."""
    if selection == "all":
        return list(range(product(extent)))
    if selection == "nothing":
        return []
    ones = [[1] * len(extent)] * len(selection["starts"])
    boxes = zip(selection["starts"], selection["counts"], selection.get("strides", ones), selection.get("blocks", ones))
    found = []
    for box in boxes:
        for point in coordinates(box):
            number = 0
            for at, length in zip(point, extent):
                number = number * length + at
            found.append(number)
    return found


def runs(text):
    """"3-5 7-7" as [3, 4, 5, 7]."""
    return [n for word in text.split() for n in range(int(word.split("-")[0]), int(word.split("-")[1]) + 1)]


def asked_of_hdf5(path, rank):
    asked = []
    for line in pathlib.Path(f"{path}.asked.{rank}").read_text().splitlines():
        if not (found := re.match(r"(H5\w+)(?: (/group \d/set \d))?(?: (collective|independent))?(.*)", line)):
            continue
        call, name, how, rest = found.groups()
        if call == "H5Dset_extent":
            asked.append((call, name, [int(word) for word in rest.split()]))
        elif call == "H5Fflush":
            asked.append((call,))
        else:
            in_file, in_memory = rest.split("/")
            asked.append((call, name, how, runs(in_file), runs(in_memory)))
    return asked


def recorded_of_hdf5(events, extents):
    """In the words of asked_of_hdf5; `extents` by dataset, from the header."""
    found = []
    extents = dict(extents)
    for event in events:
        if event["call"] == "H5Dset_extent":
            extents[event["dataset"]] = event["arguments"]
            found.append((event["call"], event["dataset"], event["arguments"]))
        elif event["call"] == "H5Fflush":
            found.append((event["call"],))
        elif "selection" in event:
            in_file = elements(event["selection"], extents[event["dataset"]])
            memory = event.get("memory")
            in_memory = elements(memory, memory["extent"]) if memory else list(range(len(in_file)))
            how = "collective" if "collective" in event["flags"] else "independent"
            found.append((event["call"], event["dataset"], how, in_file, in_memory))
    return found


def extents_in(run, pattern):
    header = json.loads(run("slabmark pattern", ["show", pattern]).stdout)
    return {one["name"]: one["extent"] for one in reversed(header["definitions"]) if one["kind"] == "dataset"}


def asked_of_mpi_io(path, rank):
    lines = pathlib.Path(f"{path}.asked.{rank}").read_text().splitlines()
    return [(line.split(" ")[0], *(runs(part) for part in line.partition(" ")[2].split("/"))) for line in lines]


def recorded_of_mpi_io(events):
    """In the words of asked_of_mpi_io, and the bytes that went by a shared pointer."""
    recorded, shared = [], []
    for event in events:
        assert event.get("uncaptured", "MPI_File_delete") == "MPI_File_delete"
        if "selection" not in event:
            continue
        in_file = elements(event["selection"], [1 << 40])
        if re.search("shared|ordered", event["call"]):
            shared += in_file
        else:
            memory = elements(event["memory"], [1 << 40]) if "memory" in event else list(range(len(in_file)))
            recorded.append((event["call"], in_file, memory))
    return recorded, shared


def recorded_of_posix(events):
    """In the words of the lines that capture_posix prints."""
    return [[event["call"], pathlib.Path(event["file"]).name, str(event["selection"]["starts"][0][0]),
             str(event["selection"]["counts"][0][0])] for event in events if "selection" in event]


def structure(path):
    """What a file holds but for its elements: of those, which were written (not the fill value)."""
    h5py = pytest.importorskip("h5py")
    found = {}

    def visit(name, item):
        attributes = sorted((key, value.shape, str(value.dtype)) for key, value in item.attrs.items())
        if not isinstance(item, h5py.Dataset):
            found[name] = attributes
            return
        creation = item.id.get_create_plist()
        filters = [creation.get_filter(i)[0] for i in range(creation.get_nfilters())]
        written = (item[...] != item.fillvalue).tolist()
        found[name] = (item.shape, item.maxshape, str(item.dtype), item.chunks, filters, attributes, written)

    with h5py.File(path) as file:
        visit("/", file)
        file.visititems(visit)
    return found


def bench(run, pattern, methods, *options, folder=None, **launch):
    """What slabmark bench prints of a captured pattern; the files are made beside it, or in `folder`."""
    done = run("slabmark bench", ["captured", "--pattern", pattern, "--method", ",".join(methods), "--trials", "1", "--no-bound",
                                  "-o", folder or pattern.parent, *options], **launch)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "HDF5-DIAG" not in done.stderr, "the pattern file is closed before HDF5 ends"
    return done.stdout


def verified(printed):
    """The methods in whose rows of the table stands that every byte was right."""
    return re.findall(r"^(\S+) .* yes$", printed, re.M)


def play(run, tmp_path, level, ranks, *options):
    """The files that as-captured leaves."""
    folder = tmp_path / "played"
    folder.mkdir()
    printed = bench(run, tmp_path / "0.pattern", ["as-captured"], "--keep", *options, folder=folder, ranks=ranks, launch=True)
    assert "--no-verify" in options or verified(printed) == [f"as-captured-{level}"], printed
    return list(folder.iterdir())
