"""dwrite_eval from the command line: its report, its files, and what it says to wrong input."""

import json
import math
import re

import pytest
from conftest import LEVELS, WITHOUT_PNETCDF, long, needs_pnetcdf

pytestmark = pytest.mark.long

SLAB = "H5Dwrite per hyper-slab"
NAIVE = "H5S_SELECT_OR and single H5Dwrite"
LOG = "log-based VOL H5Dwrite_n"
TIMES = ["end to end I/O time using {}", "write request posting time using {}", "time calling H5Dwrite using {}"]


@pytest.fixture(scope="module")
def maps(tmp_path_factory, make_map):
    """A file with three maps of 218 columns and 16 recorded ranks; the third has levels. Without PnetCDF, that alone."""
    return make_map(tmp_path_factory.mktemp("maps"), ne=2, ranks=16, levels=LEVELS)


# Of four variables on its maps.
SHAPES = [(LEVELS, 218)] * 4 if WITHOUT_PNETCDF else [(218,), (218,), (LEVELS, 218), (218,)]
OTHER = "posix" if WITHOUT_PNETCDF else "pnetcdf-varn"  # a method without HDF5


def groups(report):
    """[(label, {"mean": "0.000123", ...}), ...] in the order of the report, which must have four lines a group."""
    found = re.findall(r"^(.+) \((mean|max|min|var)\): (\d+\.\d{6})$", report, re.M)
    assert [statistic for _, statistic, _ in found] == ["mean", "max", "min", "var"] * (len(found) // 4)
    starts = range(0, len(found), 4)
    for i in starts:
        assert len({label for label, _, _ in found[i:i + 4]}) == 1
    return [(found[i][0], {statistic: value for _, statistic, value in found[i:i + 4]}) for i in starts]


def labels(report):
    return [label for label, _ in groups(report)]


def labels_of(*methods):
    return ["total run time"] + [time.format(method) for method in methods for time in TIMES]


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), 4, long(16), long(20)])
def test_prints_the_sections_of_the_original_in_its_order(run, maps, tmp_path, ranks):
    done = run("dwrite_eval", ["-c", maps, "-o", tmp_path / "out_dir"], ranks=ranks)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:3] == ["Reading decom file ...", "Testing N H5Dwrite ...", "Testing single H5Dwrite ..."]
    assert lines[3].startswith("Testing H5Dwrite_n ...")
    assert labels(done.stdout) == labels_of(SLAB, NAIVE, LOG)
    for i, line in enumerate(lines):
        if line.endswith("(var): 0") or re.search(r"\(var\): \d", line):
            assert lines[i + 1] == "", "a blank line between groups"
    assert list((tmp_path / "out_dir").iterdir()) == [], "the files are removed"


def test_through_the_log_connector_all_ways_are_measured_and_their_files_are_logs(run, maps, tmp_path):
    h5py = pytest.importorskip("h5py")
    done = run("dwrite_eval", ["-c", maps, "-o", tmp_path, "--connector", "slablog", "--keep"], ranks=3)
    assert done.returncode == 0, done.stderr
    assert labels(done.stdout) == labels_of(SLAB, NAIVE, LOG)
    for name in ("ndwrite.h5", "dwrite.h5", "dwriten.h5"):
        with h5py.File(tmp_path / name) as file:
            assert "_slablog" in file and file["D_0"].is_virtual


@pytest.mark.parametrize("ranks", [1, 4])
def test_end_to_end_holds_posting_which_holds_the_calls(run, maps, tmp_path, ranks):
    done = run("dwrite_eval", ["-c", maps, "-n", "2", "-o", tmp_path], ranks=ranks)
    times = dict(groups(done.stdout))
    for method in (SLAB, NAIVE):
        total, posting, calls = (times[time.format(method)] for time in TIMES)
        for statistic in ("mean", "max", "min"):
            assert float(total[statistic]) >= float(posting[statistic]) >= float(calls[statistic])
        assert float(times["total run time"]["min"]) >= float(total["max"])
    if ranks == 1:
        assert all(group["var"] == "0.000000" for group in times.values()), "one rank does not vary"


@pytest.mark.parametrize("ranks", [1, 5, 20])
def test_every_element_is_verified_also_on_more_ranks_than_recorded(run, maps, tmp_path, ranks):
    done = run("dwrite_eval", ["-c", maps, "-n", "3", "--independent", "--methods", "hdf5-slab", "-o", tmp_path],
               ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert f"verified: {sum(map(math.prod, SHAPES[:3]))} elements in 1 file," in done.stdout


def test_no_verify_leaves_the_line_out(run, maps, tmp_path):
    done = run("dwrite_eval", ["-c", maps, "--no-verify", "-o", tmp_path], ranks=2)
    assert done.returncode == 0 and "verified" not in done.stdout


def test_subfiles_get_the_threads_that_their_driver_wants(run, subfiling, maps, tmp_path):
    done = run("dwrite_eval", ["-c", maps, "-n", "1", "--methods", "hdf5-subfiling", "-o", tmp_path], ranks=2)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("Testing"), done.stdout


def test_keep_leaves_the_files_of_the_original_on_true_extents(run, maps, tmp_path):
    h5py = pytest.importorskip("h5py")
    netcdf = pytest.importorskip("netCDF4")
    numpy = pytest.importorskip("numpy")
    done = run("dwrite_eval", ["-c", maps, "-n", "4", "--keep", "--independent", "-o", tmp_path,
                               "--methods", f"hdf5-slab,hdf5-union-naive,hdf5-union,{OTHER}"], ranks=8)
    assert done.returncode == 0, done.stderr
    names = ["dwrite.h5", "hdf5-union.h5", "ndwrite.h5", "posix.raw" if WITHOUT_PNETCDF else "pnetcdf-varn.nc"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    if WITHOUT_PNETCDF:  # one array after another
        arrays = numpy.fromfile(tmp_path / names[3], "i4").reshape(-1, LEVELS, 218)
    else:
        with netcdf.Dataset(tmp_path / names[3]) as other:
            arrays = [other[f"D_{i}"][:].filled() for i in range(4)]
    assert [data.shape for data in arrays] == SHAPES
    expected = {f"D_{i}": data for i, data in enumerate(arrays)}
    for name in names[:3]:
        with h5py.File(tmp_path / name) as file:
            assert sorted(file) == sorted(expected)
            for variable, data in expected.items():
                assert file[variable].dtype == "<i4"
                assert file[variable].shape == data.shape
                assert (file[variable][:] == data).all(), (name, variable)


def test_of_several_trials_the_median_one_is_shown_and_named(run, maps, tmp_path):
    path = tmp_path / "records.jsonl"
    done = run("dwrite_eval", ["-c", maps, "--methods", f"hdf5-slab,{OTHER}", "--trials", "4", "--json", path,
                               "-o", tmp_path / "out"], ranks=4)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["method"] for record in records] == ["hdf5-slab", OTHER]
    shown = dict(groups(done.stdout))
    for record, label in zip(records, [SLAB, OTHER]):
        trials = [trial for trial in record["trials"] if not trial["warm_up"]]
        assert len(trials) == 4
        median = sorted(trials, key=lambda trial: trial["open_to_close"])[1]
        assert f"shown for {label}: trial {trials.index(median) + 1} of 4" in done.stdout
        expected = [median["open_to_close_ranks"], median["transfer_ranks"]]
        if record["method"] == "hdf5-slab":
            expected.append(median["spans"]["post.H5Dwrite"])
        for time, summary in zip(TIMES, expected):
            values = {"mean": "mean", "max": "max", "min": "min", "var": "variance"}
            assert shown[time.format(label)] == {ours: f"{summary[theirs]:.6f}" for ours, theirs in values.items()}
    assert TIMES[2].format(OTHER) not in shown, "it does not call H5Dwrite"


def test_records_say_what_was_asked_for_and_what_hdf5_did(run, maps, tmp_path):
    path = tmp_path / "records.jsonl"
    for mode in ("--collective", "--independent"):
        done = run("dwrite_eval", ["-c", maps, "--methods", "hdf5-slab", mode, "--json", path, "-o", tmp_path], ranks=2)
        assert done.returncode == 0, done.stderr
    collective, independent = (json.loads(line) for line in path.read_text().splitlines())
    assert collective["settings"]["options"]["hdf5.collective"] == "on"
    assert "contiguous collective" in collective["effective"]["io_mode"]
    assert independent["settings"]["options"]["hdf5.collective"] == "off"
    assert "contiguous collective" not in independent["effective"]["io_mode"]


def test_verbose_adds_phases_and_the_words_of_hdf5_but_changes_no_line(run, maps, tmp_path):
    args = ["-c", maps, "--methods", "hdf5-slab", "-o", tmp_path]
    plain = run("dwrite_eval", args, ranks=2).stdout
    verbose = run("dwrite_eval", [*args, "-v"], ranks=2).stdout
    assert labels(verbose) == labels(plain)
    for start in ("phases using", "calls of rank 0 using", "actual I/O mode using", "cause of no collective I/O using"):
        assert f"{start} {SLAB}" in verbose and start not in plain


@pytest.mark.fast
def test_help_is_printed_once_with_status_0(run):
    done = run("dwrite_eval", ["-h"], ranks=4)
    assert done.returncode == 0
    assert done.stdout.count("Usage") == 1
    for option in ("-h", "-v", "-n", "-c", "-o", "--methods", "--connector"):
        assert option in done.stdout


@pytest.mark.parametrize("ranks", [1, 4])
def test_wrong_usage_is_one_sentence_and_status_2(run, refused, maps, tmp_path, ranks):
    """tests/programs has the sentences of other mistakes."""
    done = run("dwrite_eval", ["-c", maps, "-o", tmp_path / "out", "-n", "x"], ranks=ranks)
    assert "-n" in refused(done, "dwrite_eval")
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["truncated.nc", "overlap.dat"])
def test_a_file_that_is_no_decomposition_is_named_and_leaves_no_directory(run, refused, maps, tmp_path, name):
    content = {"truncated.nc": maps.read_bytes()[:maps.stat().st_size // 2],
               "overlap.dat": b"version 2001 npes 2 ndims 1 \n6 \n0 3\n1 2 3 \n1 4\n3 4 5 6 \n\n"}
    (tmp_path / name).write_bytes(content[name])
    done = run("dwrite_eval", ["-c", tmp_path / name, "-n", "3", "-o", tmp_path / "a" / "b"], ranks=16)
    assert name in refused(done, "dwrite_eval")
    assert groups(done.stdout) == []
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("ranks", [1, 4])
def test_an_output_directory_that_is_a_file_stays_one(run, refused, maps, tmp_path, ranks):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    done = run("dwrite_eval", ["-c", maps, "-o", precious], ranks=ranks)
    assert "precious" in refused(done, "dwrite_eval")
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_file_that_exists_is_replaced_only_if_asked(run, refused, maps, tmp_path, ranks):
    precious = tmp_path / "ndwrite.h5"
    precious.write_text("precious")
    args = ["-c", maps, "--methods", "hdf5-slab", "-o", tmp_path]
    done = run("dwrite_eval", args, ranks=ranks)
    assert "--overwrite" in refused(done, "dwrite_eval")
    assert precious.read_text() == "precious"
    assert run("dwrite_eval", [*args, "--overwrite"], ranks=ranks).returncode == 0


@pytest.mark.fast
def test_the_current_directory_is_the_default(run, maps, tmp_path):
    done = run("dwrite_eval", ["-c", maps, "--methods", "hdf5-slab", "--keep"], ranks=2, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["ndwrite.h5"]


@pytest.mark.parametrize("ranks", [1, 4, 16])
def test_a_file_size_limit_ends_the_run_with_a_reason_and_no_figure(run, make_dat, tmp_path, file_size_limit, ranks):
    part = 50_000
    blocks = [range(rank * part + 1, (rank + 1) * part + 1) for rank in range(4)]
    path = make_dat(tmp_path / "large.dat", [4 * part], blocks)
    done = run("dwrite_eval", ["-c", path, "-n", "30", "-o", tmp_path / "out"], ranks=ranks, launch=True,
               preexec_fn=file_size_limit)
    assert done.returncode == 1, (done.stdout, done.stderr)
    # OMPIO reports success for such a write; then it is the contents that tell.
    assert "dwrite_eval: error: " in done.stderr or "on host" in done.stderr
    assert groups(done.stdout) == []
    assert [path.name for path in tmp_path.iterdir()] == ["large.dat"], "neither a partial file nor the directory"


# One H5Dwrite a hyperslab would take minutes here when collective, and the naive union on the ocean's map, too.
REAL = {
    "f_case_866x72_16p.nc": ("hdf5-slab,hdf5-union-naive,hdf5-union", [(866,), (866,), (72, 866)]),
    "g_case_cmpaso_16p.nc": ("hdf5-slab,hdf5-union", None),
    "piodecomp16tasks16io02dims_ioid_548.dat": ("hdf5-slab,hdf5-union-naive,hdf5-union", [(72, 866)]),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs_pnetcdf if name.endswith(".nc") else ()) for name in REAL])
def test_real_decompositions_are_written_alike_by_every_method(run, real_data, tmp_path, name):
    h5py = pytest.importorskip("h5py")
    methods, shapes = REAL[name]
    done = run("dwrite_eval", ["-c", real_data / name, "-n", "6", "--independent", "--keep", "--methods", methods,
                               "-o", tmp_path], ranks=16, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(groups(done.stdout)) == 1 + 3 * len(methods.split(","))
    assert "verified: " in done.stdout
    with h5py.File(tmp_path / "hdf5-union.h5") as union, h5py.File(tmp_path / "ndwrite.h5") as slabs:
        assert sorted(union) == sorted(slabs) == [f"D_{i}" for i in range(6)]
        for i in range(6):
            assert (union[f"D_{i}"][:] == slabs[f"D_{i}"][:]).all()
            if shapes:
                assert union[f"D_{i}"].shape == shapes[i % len(shapes)]


@needs_pnetcdf
def test_the_command_of_the_original_runs_on_a_real_decomposition(run, real_data, tmp_path):
    done = run("dwrite_eval", ["-c", real_data / "f_case_866x72_16p.nc", "-o", "out_dir"], ranks=16, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert labels(done.stdout) == labels_of(SLAB, NAIVE, LOG)
