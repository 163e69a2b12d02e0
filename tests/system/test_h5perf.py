"""h5perf from the command line: its byte maps, its report, its sweeps, and what it says to wrong input."""

import json
import os
import re
import shutil
import subprocess

import numpy
import pytest

pytestmark = pytest.mark.long

# What a byte of Dataset_1, Dataset_2 and Dataset_3 of the kept files tells.
MAPS = ["-d", "3", "--contents", "rank,request,buffer", "-w"]
FILES = {"posix": "#pio_tmp_1.posix", "mpiio": "#pio_tmp_1.mpio", "phdf5": "#pio_tmp_1.h5"}


@pytest.fixture
def h5perf(run, tmp_path):
    """h5perf(args, ranks=1, env={}) in a folder of its own."""

    def run_it(args, ranks=1, env=None, folder=tmp_path, **more):
        surroundings = {key: value for key, value in os.environ.items()
                        if key not in ("HDF5_NOCLEANUP", "HDF5_MPI_INFO", "HDF5_PARAPREFIX", "USER", "LOGIN")}
        return run("h5perf", args, ranks=ranks, cwd=folder, env={**surroundings, **(env or {})}, **more)

    return run_it


def model(p, e, b, x, interleaved=False, square=False):
    """Owner, request and place in the transfer buffer of each element of a dataset, written down from the guide's
    words and figures alone."""
    if not square:
        i = numpy.arange(p * e)
        if not interleaved:
            return i // e, i % e // x, i % x
        mine = i // (b * p) * b + i % b  # place among the bytes of the owner
        return i // b % p, mine // x, mine % x
    side = p * e
    row, column = numpy.mgrid[0:side, 0:side]
    if not interleaved:
        return row // e, row % e // b * (side // x) + column // x, row % b * x + column % x
    return column // b % p, row // x * (side // (b * p)) + column // (b * p), row % x * b + column % b


def chunks_in_a_row(array, b):
    """What lies in the file where chunks of b x b follow one another."""
    blocks = array.shape[0] // b
    return array.reshape(blocks, b, blocks, b).swapaxes(1, 2).reshape(-1)


def stored(values):
    return (1 + values % 255).astype(numpy.uint8)


def raw(path, dataset, size):
    data = numpy.fromfile(path, dtype=numpy.uint8)
    assert data.size == 3 * size, "three datasets and nothing else"
    return data[dataset * size:(dataset + 1) * size]


def check_files(folder, p, e, b, x, interleaved=False, square=False, chunked=False, emulation="hdf5"):
    """Compares all bytes of the three files with the model."""
    h5py = pytest.importorskip("h5py")
    case = dict(p=p, e=e, b=b, x=x, interleaved=interleaved, square=square, chunked=chunked, emulation=emulation)
    expected = [stored(values) for values in model(p, e, b, x, interleaved, square)]
    with h5py.File(folder / FILES["phdf5"]) as file:
        assert sorted(file) == ["Dataset_1", "Dataset_2", "Dataset_3"]
        for n, values in enumerate(expected):
            dataset = file[f"Dataset_{n + 1}"]
            assert dataset.dtype == numpy.uint8 and dataset.shape == values.shape
            assert dataset.chunks == ((b,) * values.ndim if chunked else None)
            assert (dataset[:] == values).all(), (case, n)
    in_order = [chunks_in_a_row(values, b) if square and chunked else values.reshape(-1) for values in expected]
    if square and chunked and not interleaved and emulation == "original":
        side = p * e
        row, column = numpy.mgrid[0:side, 0:side]
        in_order[2] = chunks_in_a_row(stored(column % x // b * b * b + row % b * b + column % b), b)
    for api in ("posix", "mpiio"):
        for n, values in enumerate(in_order):
            assert (raw(folder / FILES[api], n, values.size) == values).all(), (case, api, n)


def arguments(p, e, b, x, interleaved=False, square=False, chunked=False, collective=False):
    return ["-e", e, "-B", b, "-x", x, "-X", x, "-p", p, "-P", p, *["-I"] * interleaved, *["-g"] * square,
            *["-c"] * chunked, *["-C"] * collective]


FIGURES = {  # as drawn: processes, -e, -B, -x and -X, -I, -g, -c
    "2": (3, 8, 2, 4, False, False, False),
    "3": (3, 8, 2, 4, True, False, False),
    "5 and 6": (3, 4, 2, 12, False, True, False),
    "7 and 8": (3, 4, 2, 12, True, True, False),
    "10": (2, 8, 4, 4, False, True, False),
    "10 as its command is printed": (2, 4, 4, 4, False, True, False),
    "11": (2, 4, 4, 4, False, True, True),
}


@pytest.mark.parametrize("collective", [False, True])
def test_the_kept_files_are_the_figures_of_the_guide(h5perf, each, collective):
    def check(figure, folder):
        case = FIGURES[figure]
        done = h5perf([*arguments(*case, collective), *MAPS], ranks=case[0], folder=folder, env={"HDF5_NOCLEANUP": "1"})
        assert done.returncode == 0, done.stderr
        check_files(folder, *case)

    each(FIGURES, check)


@pytest.mark.fast
def test_the_figures_show_what_the_guide_prints(h5perf, tmp_path):
    """The model could be wrong as well, so some maps are here letter by letter."""
    h5perf([*arguments(3, 8, 2, 4, True), *MAPS], ranks=3, env={"HDF5_NOCLEANUP": "1"})
    owner = raw(tmp_path / FILES["posix"], 0, 24) - 1
    request = raw(tmp_path / FILES["posix"], 1, 24) - 1
    assert "".join(map(str, owner)) == "001122001122001122001122"
    assert "".join(map(str, request)) == "000000000000111111111111"
    owner, request, _ = model(2, 8, 4, 4, square=True)
    assert ["".join(map(str, row)) for row in owner] == ["0" * 16] * 8 + ["1" * 16] * 8
    assert ["".join(map(str, row)) for row in request] == (["0000111122223333"] * 4 + ["4444555566667777"] * 4) * 2
    owner, request, _ = model(2, 8, 4, 8, interleaved=True, square=True)
    assert "".join(map(str, chunks_in_a_row(owner, 4)[::16])) == "01" * 8
    assert "".join(map(str, chunks_in_a_row(request, 4)[::16])) == "0011" * 2 + "2233" * 2


def test_chunks_of_figure_11_follow_one_another_in_the_hdf5_file(h5perf, tmp_path):
    h5py = pytest.importorskip("h5py")
    assert h5perf([*arguments(*FIGURES["11"]), *MAPS], ranks=2, env={"HDF5_NOCLEANUP": "1"}).returncode == 0
    with h5py.File(tmp_path / FILES["phdf5"]) as file:
        chunks = [file["Dataset_1"].id.get_chunk_info(i) for i in range(4)]
    assert [chunk.chunk_offset for chunk in chunks] == [(0, 0), (0, 4), (4, 0), (4, 4)]
    assert numpy.diff([chunk.byte_offset for chunk in chunks]).tolist() == [16, 16, 16]


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


CALLS = {  # of rank 0: posix, and independent MPI-IO, which makes the same
    "2": 2, "3": 4, "5 and 6": 2, "7 and 8": 24, "10": 32, "11": 2,
}


def test_requests_become_as_many_calls_as_the_guide_says(h5perf, each):
    def check(figure, folder):
        case = FIGURES[figure]
        path = folder / "records.jsonl"
        done = h5perf([*arguments(*case), "-A", "posix,mpiio", "--json", path], ranks=case[0], folder=folder)
        assert done.returncode == 0, done.stderr
        calls = [record["effective"]["calls"] for record in records(path)]
        n = CALLS[figure]
        assert calls == [{"pwrite": n}, {"pread": n}, {"MPI_File_write_at": n}, {"MPI_File_read_at": n}]

    each(CALLS, check)


@pytest.mark.parametrize("emulation, calls", [("hdf5", 4 * 4 * 4), ("original", 4)])
def test_a_buffer_wider_than_a_chunk_is_cut_as_hdf5_cuts_it_unless_the_original_is_asked_for(h5perf, tmp_path, emulation,
                                                                                           calls):
    path = tmp_path / "records.jsonl"
    done = h5perf([*arguments(2, 8, 4, 8, square=True, chunked=True), "-A", "posix", "-w", "--json", path, "--emulation",
                   emulation], ranks=2)
    assert done.returncode == 0, done.stderr
    # 4 requests of 4 x 8 bytes: 2 chunks each, of 4 rows of 4 bytes.
    expected = 4 * 2 * 4 if emulation == "hdf5" else 4
    assert records(path)[0]["effective"]["calls"] == {"pwrite": expected}


@pytest.mark.fast
def test_collective_requests_are_collective_in_hdf5(h5perf, tmp_path):
    path = tmp_path / "records.jsonl"
    done = h5perf([*arguments(3, 8, 2, 4, True, collective=True), "-A", "phdf5,mpiio", "-w", "--json", path], ranks=3)
    assert done.returncode == 0, done.stderr
    mpiio, hdf5 = records(path)
    assert mpiio["effective"]["calls"] == {"MPI_File_write_at_all": 2}
    assert hdf5["effective"]["io_mode"] == {"contiguous collective": 2}


def test_collective_mpiio_sets_a_view_only_where_a_request_is_in_pieces(h5perf, each, tmp_path):
    def check(case, folder):
        path = folder / "records.jsonl"
        done = h5perf([*arguments(*case[:-1], collective=True), "-A", "mpiio", "--json", path], ranks=2, folder=folder)
        assert done.returncode == 0, done.stderr
        for record in records(path):
            assert ("post.set_view" in record["trials"][0]["spans"]) == case[-1]

    each([(2, 16, 4, 8, False, False, False, False), (2, 16, 4, 8, True, False, False, True),
          (2, 8, 4, 8, False, True, False, True)], check)


def test_example_3_appears_with_all_its_lines(h5perf, tmp_path):
    done = h5perf("-A phdf5 -B 2000 -e 8000 -p 3 -P 3 -x 4000 -X 4000 -i 3".split(), ranks=3)
    assert done.returncode == 0, done.stderr
    lines = [re.sub(r"\d+\.\d+ MB/s", "N MB/s", line) for line in done.stdout.splitlines()]
    lines = [re.sub(r"Object\(\d+\)", "Object(N)", re.sub(r"Throughput: +", "Throughput: ", line)) for line in lines]
    throughputs = [f"{16 * ' '}{which} Throughput: N MB/s" for which in ("Maximum", "Average", "Minimum")]
    expected = [
        "rank 0: ==== Parameters ====",
        "rank 0: IO API=phdf5",
        "rank 0: Number of files=1",
        "rank 0: Number of datasets=1",
        "rank 0: Number of iterations=3",
        "rank 0: Number of processes=3:3",
        "rank 0: Number of bytes per process per dataset=8000",
        "rank 0: Size of dataset(s)=24000:24000",
        "rank 0: File size=24000:24000",
        "rank 0: Transfer buffer size=4000:4000",
        "rank 0: Block size=2000",
        "rank 0: Block Pattern in Dataset=Contiguous",
        "rank 0: I/O Method for MPI and HDF5=Independent",
        "rank 0: Geometry=1D",
        "rank 0: VFL used for HDF5 I/O=MPI-I/O driver",
        "rank 0: Data storage method in HDF5=Contiguous",
        "rank 0: Env HDF5_PARAPREFIX=not set",
        "rank 0: Dumping MPI Info Object(N) (up to 1024 bytes per item):",
        "object is MPI_INFO_NULL",
        "rank 0: ==== End of Parameters ====",
        "",
        "Number of processors = 3",
        "Transfer Buffer Size: 4000 bytes, File size: 0.02 MBs",
        "      # of files: 1, # of datasets: 1, dataset size: 0.02 MBs",
        "        IO API = PHDF5 (w/MPI-I/O driver)",
        "            Write (3 iteration(s)):", *throughputs,
        "            Write Open-Close (3 iteration(s)):", *throughputs,
        "            Read (3 iteration(s)):", *throughputs,
        "            Read Open-Close (3 iteration(s)):", *throughputs,
    ]
    assert lines[0].startswith("HDF5 Library: Version ")
    rest = iter(lines)
    for line in expected:
        assert line in rest, f"'{line}' is missing, or not in its place"
    medians = re.findall(r"Median Throughput: +\d+\.\d\d MB/s \[\d+\.\d\d, \d+\.\d\d\] \(range\)", done.stdout)
    assert len(medians) == 4
    assert "Dataset Creation and Fill (3 iteration(s)):" in done.stdout
    assert list(tmp_path.iterdir()) == []


GUIDE = {
    "Figure 2": (3, "-B 2 -e 8 -p 3 -P 3 -x 4 -X 4"),
    "Figure 3": (3, "-B 2 -e 4 -p 3 -P 3 -x 4 -X 4 -I"),
    "Figure 5": (3, "-B 2 -e 4 -p 3 -P 3 -x 12 -X 12 -g"),
    "Figure 7": (3, "-B 2 -e 4 -p 3 -P 3 -x 12 -X 12 -g -I"),
    "Figure 10": (2, "-B 4 -e 4 -p 2 -P 2 -x 4 -X 4 -g"),
    "Figure 11": (2, "-B 4 -e 4 -p 2 -P 2 -x 4 -X 4 -g -c"),
}


def test_the_command_lines_of_the_guide_run_verified(h5perf, each):
    def check(figure, folder):
        ranks, line = GUIDE[figure]
        done = h5perf(line.split(), ranks=ranks, folder=folder)
        assert done.returncode == 0, done.stderr
        assert re.findall(r"IO API = (\w+)", done.stdout) == ["POSIX", "MPIO", "PHDF5"]
        assert done.stdout.count("Verified: ") == 3
        assert figure != "Figure 5" or "per process per dataset=48:48\n" in done.stdout  # as the original counts 2-D ones
        assert list(folder.iterdir()) == []

    each(GUIDE, check)


@pytest.mark.parametrize("shape", ["--interleaved", "--2d --chunked", "--2d --interleaved", "--2d --emulate-chunks"])
@pytest.mark.parametrize("direction", [[], ["--read"]])
def test_the_geometry_is_a_pattern_for_every_method(run, tmp_path, shape, direction, methods_that_keep_data):
    # Subfiling takes seconds for so many small requests where threads share cores.
    methods = [method for method in methods_that_keep_data if method != "hdf5-subfiling"]
    sizes = "--bytes 64 --block 8 --buffer 32 --datasets 2 --trials 1 --rounds-together 3".split()
    done = run("slabmark bench", ["transfer", *sizes, *shape.split(), *direction, "--method", ",".join(methods), "-d",
                                  tmp_path], ranks=2)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.split() and line.split()[0] in methods]
    assert len(rows) == len(methods) + 2 and all(row.endswith(" yes") for row in rows), done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_geometry_that_does_not_divide_is_refused_by_slabmark_bench(run, refused, tmp_path):
    done = run("slabmark bench", ["transfer", "--bytes", "10", "--block", "2", "--buffer", "4", "--method", "posix", "-d",
                                  tmp_path], ranks=2)
    assert "multiple" in refused(done, "slabmark bench")
    assert list(tmp_path.iterdir()) == []


def test_sweeps_come_in_the_order_of_the_guide(h5perf, tmp_path):
    path = tmp_path / "records.jsonl"
    done = h5perf(["--num-bytes=24K", "--block-size", "1K", "-x3K", "-X", "8K", "--num-iterations=2", "-F", "2", "-d2",
                   "-A", "PHDF5,posix", "--min-num-processes=1", "-P", "4", "-wI", "--json", path], ranks=4)
    assert done.returncode == 0, done.stderr
    headings = re.findall(r"^Number of processors = (\d+)$|^Transfer Buffer Size: (\d+)|IO API = (\w+)", done.stdout, re.M)
    per_buffer = [["3072", "POSIX", "PHDF5"], ["6144", "POSIX", "PHDF5"]]
    assert ["".join(h) for h in headings] == [h for p in "421" for h in [p, *per_buffer[0], *per_buffer[1]]]
    assert "Read" not in done.stdout
    first = records(path)[0]
    assert first["pattern"]["ranks"] == 4
    assert first["pattern"]["bytes"] == 2 * 2 * 4 * 24 * 1024, "files x datasets x processes x bytes"
    assert len(first["trials"]) == 2
    assert len(records(path)) == 3 * 2 * 2


def test_trials_adds_a_warm_up_that_is_not_counted(h5perf, tmp_path):
    path = tmp_path / "records.jsonl"
    done = h5perf(["-A", "posix", "-e", "4K", "--trials", "6", "--sync", "--json", path, "-x", "4K"])
    assert done.returncode == 0, done.stderr
    write, read = records(path)
    assert [trial["warm_up"] for trial in write["trials"]] == [True] + 6 * [False]
    assert write["sync"] and "sync" in write["trials"][-1]["phases"]
    assert (write["direction"], read["direction"], read["cache"]) == ("write", "read", "warm")
    assert "(95 % interval)" in done.stdout


def test_a_rate_follows_from_the_times_until_all_ranks_were_done(h5perf, tmp_path):
    path = tmp_path / "records.jsonl"
    done = h5perf(["-A", "posix", "-e", "1M", "-i", "3", "-w", "-x", "1M", "--json", path], ranks=2)
    seconds = []
    for trial in records(path)[0]["trials"]:
        phases = trial["phases"]
        assert all(phase["until_all"] >= phase["seconds"] for phase in phases.values())
        transfer = trial["transfer"] - phases["post"]["seconds"] + phases["post"]["until_all"]
        seconds.append(min(transfer, trial["open_to_close"]))
    shown = [float(rate) for rate in re.findall(r"(?:Maximum|Average|Minimum) Throughput: +(\d+\.\d+)", done.stdout)[:3]]
    expected = [2 / min(seconds), 2 / (sum(seconds) / 3), 2 / max(seconds)]
    assert shown == [pytest.approx(rate, abs=0.006) for rate in expected]


def test_figures_above_the_ceiling_are_named(h5perf):
    args = ["-A", "posix", "-e", "64K", "-w"]
    assert "Above what is possible here" not in h5perf([*args, "--ceiling", "1000000000"]).stdout
    done = h5perf([*args, "--ceiling", "0.001"])
    assert done.returncode == 0, done.stderr
    assert "Above what is possible here, 0.00 MB/s (--ceiling): Maximum Write, Average Write" in done.stdout


def test_debug_flags_are_taken_in_either_case(h5perf):
    done = h5perf(["-A", "posix", "-e", "4K", "-x", "4K", "-D", "3,R,t,V"])
    assert done.returncode == 0, done.stderr
    for text in ("data filename=./#pio_tmp_1.posix", "Raw Data Write", "Raw Data Read", "Write File Open",
                 "Read File Close", "Accumulated Time using 1 file(s)", "Times of the iterations", " s)"):
        assert text in done.stdout, text
    assert "Raw Data" not in h5perf(["-A", "posix", "-e", "4K", "-x", "4K"]).stdout


def test_debug_level_4_tells_phases_and_agreements(h5perf):
    done = h5perf(["-A", "posix", "-e", "4K", "-D", "4"], ranks=2)
    assert done.returncode == 0, done.stderr
    for word, first in (("Write", "create"), ("Read", "open")):
        assert re.search(rf"{word} timer details: .*{first} \d.*; outside the phases [\d.]+ s, of it agreements of all "
                         r"processes 0\.0\d+ s", done.stdout), done.stdout


def test_one_buffer_is_moved_by_all_requests_as_the_original_did(h5perf, tmp_path):
    path = tmp_path / "records.jsonl"
    done = h5perf(["-e", "64", "-B", "4", "-x", "16", "-X", "16", "-p", "2", "--one-buffer", "--json", path], ranks=2,
                  env={"HDF5_NOCLEANUP": "1"})
    assert done.returncode == 0, done.stderr
    assert "Verified" not in done.stdout and "Read (1" in done.stdout
    for record in records(path):
        assert record["pattern"]["settings"]["buffers"] == "one"
        assert record["memory"]["buffers"]["max"] == 16
        assert record["verified"]["state"] == "not asked"
    for name in (FILES["posix"], FILES["mpiio"]):
        requests = numpy.fromfile(tmp_path / name, dtype=numpy.uint8).reshape(2, 4, 16)  # ranks, requests, bytes
        assert (requests == requests[:, :1]).all() and (requests[0] != requests[1]).any()


def test_m_is_taken_with_a_note(h5perf):
    done = h5perf(["-A", "posix", "-e", "4K", "-m", "-w"])
    assert done.returncode == 0
    assert "h5perf: note: -m" in done.stderr


@pytest.mark.fast
def test_help_is_printed_once_with_status_0(h5perf):
    done = h5perf(["-h"], ranks=3)
    assert done.returncode == 0 and done.stdout.count("Usage") == 1
    for option in "aABcCdDeFgiImoPpTwxX":
        assert re.search(rf"^ +-{option},--", done.stdout, re.M), option


@pytest.mark.fast
def test_the_report_goes_where_o_says(h5perf, tmp_path):
    done = h5perf(["-A", "posix", "-e", "4K", "-o", "report.txt"])
    assert done.returncode == 0 and done.stdout == ""
    assert "Maximum Throughput" in (tmp_path / "report.txt").read_text()


def test_the_environment_says_where_files_go_and_whether_they_stay(h5perf, tmp_path):
    (tmp_path / "prefix").mkdir()
    (tmp_path / "here").mkdir()
    keep = {"HDF5_PARAPREFIX": str(tmp_path / "prefix"), "HDF5_NOCLEANUP": "", "USER": "someone"}
    args = ["-A", "posix,phdf5", "-e", "4K", "-F", "2", "-i", "2"]
    done = h5perf(args, ranks=2, env=keep, folder=tmp_path / "here")
    assert done.returncode == 0, done.stderr
    assert f"rank 0: Env HDF5_PARAPREFIX={tmp_path / 'prefix'}" in done.stdout
    names = sorted(f"#pio_tmp_{n}.{api}" for n in (1, 2) for api in ("posix", "h5"))
    folder = tmp_path / "prefix" / "someone"
    assert sorted(path.name for path in folder.iterdir()) == names
    assert list((tmp_path / "here").iterdir()) == []
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = h5perf(args, ranks=2, env=keep, folder=tmp_path / "here")
    assert done.returncode == 2 and "--overwrite" in done.stderr, "files that stand there are not touched"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert h5perf([*args, "--overwrite"], ranks=2, env={**keep}, folder=tmp_path / "here").returncode == 0


@pytest.mark.parametrize("more, status", [([], 0), (["-o", "nowhere/report"], 2)])
def test_the_folder_of_the_user_goes_again_if_nothing_stays_in_it(h5perf, tmp_path, more, status):
    done = h5perf(["-A", "posix", "-e", "4K", *more], env={"HDF5_PARAPREFIX": str(tmp_path), "LOGIN": "someone"})
    assert done.returncode == status, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_hints_of_the_environment_reach_the_libraries(h5perf, tmp_path):
    path = tmp_path / "records.jsonl"
    done = h5perf(["-A", "mpiio,phdf5", "-e", "4K", "-w", "--json", path],
                  env={"HDF5_MPI_INFO": " cb_nodes = 1 ;striping_factor=2;"})
    assert done.returncode == 0, done.stderr
    assert "cb_nodes=1" in done.stdout
    for record in records(path):
        assert record["settings"]["hints"] == {"cb_nodes": "1", "striping_factor": "2"}


def test_ranks_outside_a_round_wait_and_the_round_ends_for_all(h5perf):
    done = h5perf(["-A", "posix,phdf5", "-e", "4K", "-P", "2", "-p", "1", "-C"], ranks=4)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"Number of processors = (\d)", done.stdout) == ["2", "1"]


# Found before MPI starts, by all ranks afterwards, and by one rank. tests/programs has the other sentences.
WRONG = {
    "size abc": (["-e", "abc"], "abc", [1, 4]),
    "more processes than ranks": (["-P", "99"], "mpiexec -n 99", [4]),
    "report into nowhere": (["-o", "nowhere/report.txt"], "nowhere", [4]),
}


def test_wrong_usage_is_one_sentence_and_status_2_before_any_file(h5perf, refused, each):
    def check(case, folder):
        args, culprit, ranks = case
        done = h5perf(args, ranks=ranks, folder=folder)
        assert culprit in refused(done, "h5perf")
        assert done.stdout == ""
        assert list(folder.iterdir()) == []

    each([(args, culprit, n) for args, culprit, ranks in WRONG.values() for n in ranks], check)


def test_a_wrong_environment_is_one_sentence_and_status_2(h5perf, refused, tmp_path):
    done = h5perf(["-e", "4K"], ranks=4, env={"HDF5_MPI_INFO": "cb_nodes"})
    assert "cb_nodes" in refused(done, "h5perf")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_full_disk_is_status_1_without_a_figure(h5perf, tmp_path, file_size_limit, ranks):
    done = h5perf(["-A", "posix", "-e", "16M", "-p", ranks], ranks=ranks, preexec_fn=file_size_limit)
    assert done.returncode == 1
    assert "ulimit -f" in done.stderr
    assert "Throughput" not in done.stdout
    assert list(tmp_path.iterdir()) == []


FLIP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* Flips a bit of two bytes of requests of 4000 bytes at offset 0: in what is written, or in what is read. */
ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t at) {
  ssize_t (*next)(int, const void*, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  char copy[4000];
  if (!getenv("FLIP_WRITE") || bytes != sizeof copy || at != 0) return next(fd, data, bytes, at);
  memcpy(copy, data, bytes);
  copy[17] ^= 1, copy[18] ^= 1;
  return next(fd, copy, bytes, at);
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) { return pwrite64(fd, data, bytes, at); }
ssize_t pread64(int fd, void* data, size_t bytes, off64_t at) {
  ssize_t (*next)(int, void*, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
  ssize_t got = next(fd, data, bytes, at);
  if (getenv("FLIP_READ") && bytes == 4000 && at == 0) ((char*)data)[17] ^= 1, ((char*)data)[18] ^= 1;
  return got;
}
ssize_t pread(int fd, void* data, size_t bytes, off_t at) { return pread64(fd, data, bytes, at); }
"""


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("direction", ["write", "read"])
def test_a_flipped_bit_is_found_counted_and_ends_with_status_1(h5perf, sentence, tmp_path, direction, ranks):
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    library = tmp_path / "flip.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, "-xc", "-", "-ldl"], input=FLIP, text=True, check=True)
    args = "-A posix -e 8000 -B 2000 -x 4000 -X 4000".split() + ["-p", ranks]
    done = h5perf(args, ranks=ranks, env={"LD_PRELOAD": str(library), f"FLIP_{direction.upper()}": "1"})
    assert done.returncode == 1, done.stderr
    message = sentence(done, "h5perf")
    assert f"posix {direction}" in message and "(17)" in message and "first of 2 wrong" in message
    assert "Throughput" not in done.stdout
    library.unlink()
    assert list(tmp_path.iterdir()) == []


KILL = r"""
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
/* The process of rank 1 dies at its first request. */
ssize_t pwrite64(int fd, const void* data, size_t bytes, off_t at) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
  if (rank && !strcmp(rank, "1")) raise(SIGKILL);
  return bytes;
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) { return pwrite64(fd, data, bytes, at); }
"""


def test_a_killed_rank_ends_the_job_without_figures_or_files(h5perf, others_are_told, tmp_path):
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    library = tmp_path / "kill.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, "-xc", "-"], input=KILL, text=True, check=True)
    args = ["-A", "posix", "-e", "4K", "-p", "4"]
    done = h5perf(args, ranks=4, env={"LD_PRELOAD": str(library)})
    assert done.returncode not in (0, 2)
    assert "Throughput" not in done.stdout
    library.unlink()
    if not others_are_told:  # nobody was left to remove the file
        assert [path.name for path in tmp_path.iterdir()] == [FILES["posix"]]
        assert h5perf([*args, "--overwrite"], ranks=4).returncode == 0
    assert list(tmp_path.iterdir()) == []
