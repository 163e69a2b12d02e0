"""seism-core-slice, seism-core-check and seism-read: what they are for."""

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import long
from seism_core import GRIDS, SWITCHES, check, elements, gaussian, lines, slice_, value

pytestmark = pytest.mark.long


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), 4, long(8)])
def test_the_default_test_set_in_small_is_written_checked_and_read_back(run, slice_, check, tmp_path, ranks):
    done = slice_("# default test set\n" + lines(ranks, *SWITCHES), ranks)
    assert done.returncode == 0, done.stderr
    checked = check(ranks=ranks)
    assert checked.returncode == 0, checked.stderr
    assert f"Found totals of: {elements(ranks)} correct / 0 incorrect." in checked.stdout
    read = run("seism-read", ["seism-test.h5"], ranks=ranks, cwd=tmp_path)
    assert read.returncode == 0, read.stderr
    assert value(read.stdout, "Total bytes read") == str(4 * elements(ranks))
    assert value(read.stdout, "Verified") == f"yes, {elements(ranks)} elements"
    assert value(read.stdout, "Pages when reading began") in ("cold", "warm")
    assert [path.name for path in tmp_path.iterdir()] == ["seism-test.h5"]


def test_make_check_slice_writes_and_checks_the_default_test_set_as_it_is_written(tmp_path):
    if shutil.disk_usage(tmp_path).free < 2 << 30:
        pytest.skip("the default test set has 900 MiB, and there is no room for it")
    script = pathlib.Path(__file__).resolve().parents[2] / "demo/check-slice"
    done = subprocess.run([script], env={**os.environ, "SLABMARK_OUTPUT": str(tmp_path)}, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    assert value(done.stdout, "Total bytes written") == str(900 << 20)
    assert "Found totals of: 235929600 correct / 0 incorrect." in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fast
def test_echo_and_results_have_the_lines_of_the_original(slice_):
    out = slice_(lines(4, *SWITCHES, "n_nodes 3"), 4).stdout
    assert out.startswith("=" * 69 + "\nNumber of processes:            4\n")
    echo = {"Process layout": "1 x 2 x 2", "Per process grid": "18 x 8 x 8", "Chunk dimensions": "9 x 8 x 8",
            "n_nodes": "3", "Number of time steps": "5", "Pre-create": "1", "Collective metadata requested": "1",
            "Early allocation": "1", "H5D_FILL_TIME_NEVER set": "1", "Deflate": "0", "Subfile": "0", "ZFP": "0",
            "stripe size": "0", "stripe count": "0", "Output filename": "seism-test.h5"}
    for label, expected in echo.items():
        assert value(out, label) == expected
    for label in ("Pre-create/open", "Time in precreate_0()", "Time in H5Fopen()", "Time in H5Dopen()", "Write",
                  "Close file"):
        assert re.fullmatch(r"[\d.e-]+ s", value(out, label))
    for label in ("Write throughput", "Aggregate throughput"):
        assert re.fullmatch(r"[\d.e+]+ MB/s", value(out, label))
    assert value(out, "Total bytes written") == value(out, "Compressed size in bytes") == str(4 * elements(4))
    assert value(out, "MB") == "2^20 bytes"


def test_throughputs_follow_from_the_seconds_of_the_record(slice_, tmp_path):
    out = slice_(lines(4), 4, ["--json", "r.jsonl", "--trials", "3"]).stdout
    record = json.loads((tmp_path / "r.jsonl").read_text())
    mib = 4 * elements(4) / 2**20
    write = record["summary"]["transfer"]["seconds"]["median"]
    total = record["summary"]["open_to_close"]["seconds"]["median"]
    assert float(value(out, "Write throughput").split()[0]) == pytest.approx(mib / write, rel=1e-4)
    assert float(value(out, "Aggregate throughput").split()[0]) == pytest.approx(mib / total, rel=1e-4)
    assert value(out, "Trials").startswith("3; all times are medians")
    assert record["pattern"]["name"] == "checkpoint"
    assert len([trial for trial in record["trials"] if not trial["warm_up"]]) == 3


def test_collectivity_is_what_hdf5_did_not_what_was_asked(slice_):
    collective = slice_(lines(4, *SWITCHES), 4).stdout
    assert value(collective, "Collective I/O") == "1 (chunk collective)"
    assert value(collective, "Mdata ops actually collective") == "1"
    independent = slice_(lines(4), 4).stdout
    assert value(independent, "Collective I/O") == "0 (not collective; not asked for)"
    assert value(independent, "Mdata ops actually collective") == "0"
    forced = slice_(lines(4, *SWITCHES), 4, ["--set", "hdf5.collective=off"]).stdout
    assert value(forced, "Collective I/O").startswith("0 (not collective")


def test_flush_and_sync_are_timed_apart_if_asked_for(slice_):
    out = slice_(lines(), 1, ["--sync"]).stdout
    assert value(out, "Flush").endswith(" s") and value(out, "Sync").endswith(" s")


def test_the_file_is_the_originals_and_opens_in_h5py(slice_, tmp_path):
    h5py = pytest.importorskip("h5py")
    numpy = pytest.importorskip("numpy")
    assert slice_(lines(8, *SWITCHES), 8).returncode == 0
    with h5py.File(tmp_path / "seism-test.h5") as file:
        data = file["chunked"]
        assert data.shape == data.maxshape == (5, 36, 16, 16)
        assert data.chunks == (1, 9, 8, 8) and data.dtype == "<f4"
        blocks = data[4].reshape(2, 18, 2, 8, 2, 8).transpose(0, 2, 4, 1, 3, 5).reshape(8, -1)
        assert (blocks == numpy.arange(8)[:, None]).all()
        record = file.attrs["simulation_attributes"]
        assert record.dtype.itemsize == 184 and record.dtype.fields["use_function_argv"][1] == 144
        assert list(record["processor_dims"]) == [2, 2, 2] and list(record["domain_dims"]) == [18, 8, 8]
        assert record["simulation_time"] == 5 and record["precreate"] == 1 and record["name"] == b"my_attr"
        assert isinstance(file["seismCoreAttributes"], h5py.Datatype)
        assert list(file.attrs["chunk"]) == [9, 8, 8] and file.attrs["never_fill"] == 1
        assert file.attrs["filename"] == "seism-test.h5" and file.attrs["mpi_ranks"] == 8
        assert re.match(r"\d+\.\d+", file.attrs["hdf5_version"]) and file.attrs["seconds_write"] > 0


def test_without_never_fill_what_no_step_wrote_is_zero_and_allocation_is_early(slice_, tmp_path):
    h5py = pytest.importorskip("h5py")
    assert slice_(lines(4), 4).returncode == 0
    with h5py.File(tmp_path / "seism-test.h5") as file:
        plist = file["chunked"].id.get_create_plist()
        assert plist.get_fill_time() == h5py.h5d.FILL_TIME_IFSET
        assert plist.get_alloc_time() == h5py.h5d.ALLOC_TIME_EARLY
    assert slice_(lines(4, "never_fill"), 4).returncode == 0
    with h5py.File(tmp_path / "seism-test.h5") as file:
        assert file["chunked"].id.get_create_plist().get_fill_time() == h5py.h5d.FILL_TIME_NEVER


def test_deflate_compresses_and_checks(slice_, check):
    done = slice_(lines(4, "collective_write", "deflate 5"), 4)
    assert done.returncode == 0, done.stderr
    assert int(value(done.stdout, "Compressed size in bytes")) < 4 * elements(4) / 10
    assert value(done.stdout, "Early allocation") == "0"
    assert check(ranks=3).returncode == 0


def test_early_allocation_is_shown_where_it_is_in_effect(slice_):
    done = slice_(lines(1, "collective_write", "deflate 5", "early_allocation"))
    assert done.returncode == 0 and value(done.stdout, "Early allocation") == "1"


@pytest.mark.parametrize("readers", [1, 3, 7, 12])
def test_any_number_of_ranks_reads_and_checks(run, slice_, check, tmp_path, readers):
    assert slice_(lines(4, *gaussian(1, 5, 5, 5)), 4).returncode == 0
    assert f"{elements(4)} correct / 0 incorrect" in check(ranks=readers).stdout
    read = run("seism-read", ["seism-test.h5", "--ignore-subfile"], ranks=readers, cwd=tmp_path)
    assert read.returncode == 0 and value(read.stdout, "Total bytes read") == str(4 * elements(4)), read.stderr


@pytest.mark.parametrize("step", [0, 4])
def test_one_wrong_element_fails_the_check_and_the_reading(run, slice_, check, sentence, tmp_path, step):
    h5py = pytest.importorskip("h5py")
    assert slice_(lines(4, *gaussian(1, 5, 5, 5)), 4).returncode == 0
    with h5py.File(tmp_path / "seism-test.h5", "r+") as file:
        file["chunked"][step, 17, 9, 3] += 0.25
    checked = check(ranks=4)
    assert checked.returncode == 1
    assert f"{elements(4) - 1} correct / 1 incorrect" in checked.stdout
    assert f"(17, 9, 3) of record {step}" in sentence(checked, "seism-core-check")
    read = run("seism-read", ["seism-test.h5"], ranks=4, cwd=tmp_path)
    assert read.returncode == 1 and "throughput" not in read.stdout


def test_a_file_of_others_or_none_is_a_sentence(run, refused, each, tmp_path):
    h5py = pytest.importorskip("h5py")
    h5py.File(tmp_path / "other.h5", "w").close()
    (tmp_path / "text.h5").write_text("no HDF5")
    files = {"other.h5": "simulation_attributes", "text.h5": "no HDF5 file", "none.h5": "no file"}

    def check(case, _):
        (name, culprit), (program, ranks) = case
        done = run(program, [name], ranks=ranks, cwd=tmp_path)
        assert culprit in refused(done, program)

    each(itertools.product(files.items(), (("seism-core-check", 2), ("seism-read", 1))), check)


# ---- the same pattern through any method


# Contiguous MPI-IO, PnetCDF, and HDF5 chunked, contiguous, in subfiles, and as a log.
SIDE_BY_SIDE = "mpiio-collective,pnetcdf-varn,hdf5-slab,hdf5-contiguous,hdf5-subfiling,hdf5-log"


@pytest.mark.parametrize("ranks", GRIDS)
def test_slabmark_bench_shows_methods_side_by_side(run, tmp_path, ranks, methods_that_keep_data):
    methods = [method for method in SIDE_BY_SIDE.split(",") if method in methods_that_keep_data]
    done = run("slabmark bench", ["checkpoint", "--grid-of-ranks", ",".join(map(str, GRIDS[ranks])), "--chunk", "32,32,32",
                                  "--domain", "32,32,32", "--steps", "5", "--method", ",".join(methods), "--trials", "1",
                                  "-o", tmp_path], ranks=ranks)
    assert done.returncode == 0, done.stderr
    for method in methods:
        assert re.search(rf"^{method} .*yes$", done.stdout, re.M), (method, done.stdout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("args", [[], ["--read"]])
def test_slabmark_bench_runs_checkpoints_through_every_method(run, tmp_path, args, methods_that_keep_data):
    methods = methods_that_keep_data
    done = run("slabmark bench", ["checkpoint", "--grid-of-ranks", "2,2,2", "--chunk", "8,8,8", "--domain", "8,16,8",
                                  "--steps", "3", "--method", ",".join(methods), "--trials", "1", "-d", tmp_path, *args],
               ranks=8)
    assert done.returncode == 0, done.stderr
    for method in methods:
        assert re.search(rf"^{method} .*yes$", done.stdout, re.M), (method, done.stdout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("args, culprit", [
    (["--grid-of-ranks", "2,2,2", "--domain", "8,8,8"], "make both equal"),
    (["--grid-of-ranks", "2,2", "--domain", "8,8,8"], "--grid-of-ranks"),
    (["--grid-of-ranks", "2,2,1", "--domain", "8,0,8"], "--domain"),
    (["--grid-of-ranks", "2,2,1", "--domain", "8,8,8", "--chunk", "9,99,9"], "chunk"),
    (["--grid-of-ranks", "2,2,1", "--domain", "8,8,8", "--steps", "0"], "--steps"),
])
def test_slabmark_bench_refuses_checkpoints_that_do_not_fit(run, refused, tmp_path, args, culprit):
    done = run("slabmark bench", ["checkpoint", *args, "--method", "posix", "-d", tmp_path], ranks=4)
    assert culprit in refused(done, "slabmark bench")
