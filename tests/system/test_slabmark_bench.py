"""slabmark bench from the command line."""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time

import pytest
from capturing import preloads, tampered
from conftest import LEVELS, OWN_TMPDIR, WITHOUT_PNETCDF, long, needs_pnetcdf

pytestmark = pytest.mark.long

# Of map_file.
MAPS, ELEMENTS = (1, LEVELS * 218) if WITHOUT_PNETCDF else (3, 218 + 218 + LEVELS * 218)


@pytest.fixture(scope="module")
def map_file(tmp_path_factory, make_map):
    return make_map(tmp_path_factory.mktemp("maps"), ne=2, ranks=16, levels=LEVELS)


def bench(run, map_file, tmp_path, *args, ranks=4, **more):
    return run("slabmark bench", ["decomp", "--map", map_file, "-d", tmp_path, *args], ranks=ranks, **more)


@pytest.mark.parametrize("ranks", [1, 4])
def test_every_method_writes_the_pattern_verified_beside_the_limit(run, map_file, tmp_path, ranks, methods_that_keep_data):
    methods = methods_that_keep_data
    assert {"posix", "mpiio-independent", "mpiio-collective", "hdf5-slab"} <= set(methods)
    done = bench(run, map_file, tmp_path, "--method", ",".join(methods), "--trials", "1", ranks=ranks)
    assert done.returncode == 0, done.stderr
    for method in methods:
        row = re.search(rf"^{method} .*$", done.stdout, re.M).group(0)
        assert row.endswith("yes"), row
        assert re.search(r" [\d.e-]+ yes$", row), row
    assert re.search("^posix .* bound yes$", done.stdout, re.M) and re.search("^mpiio-independent .* bound yes$", done.stdout, re.M)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ranks", [1, 4])
def test_every_method_reads_what_another_rank_wrote(run, map_file, tmp_path, ranks, methods_that_keep_data):
    methods = methods_that_keep_data
    done = bench(run, map_file, tmp_path, "--read", "--method", ",".join(methods), "--trials", "1", ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Pages were (cold|warm)", done.stdout)
    assert done.stdout.count(" yes") == len(methods) + 2


@pytest.mark.parametrize("writers", [1, long(3), 4, long(16)])
def test_every_method_reads_in_blocks_what_other_ranks_wrote(run, map_file, tmp_path, methods_that_keep_data, writers):
    methods = methods_that_keep_data
    done = bench(run, map_file, tmp_path, "--written-by", writers, "--method", ",".join(methods), "--trials", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes") == len(methods) + 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fast
@pytest.mark.parametrize("settings", [[], ["hdf5.chunk=10x40"], ["hdf5.chunk=10x40", "hdf5.deflate=1", "hdf5.shuffle=on"]])
def test_the_connector_reads_scattered_elements_as_hdf5_does(run, map_file, tmp_path, settings):
    words = ["--map-index", MAPS, "--method", "hdf5-union", "--written-by", "3", "--trials", "2", "--no-bound", "--type", "float32"]
    for one in [*settings, "hdf5.connector=slablog"]:
        words += ["--set", one]
    environment = {**os.environ, "SLABLOG_LAYOUT": "canonical", "OMPI_MCA_io": "^ompio"}
    done = bench(run, map_file, tmp_path, *words, env=environment)
    assert done.returncode == 0, done.stderr
    assert re.search("^hdf5-union .* yes$", done.stdout, re.M)


@pytest.mark.fast
@pytest.mark.parametrize("writers", [2, 8])
def test_a_checkpoint_is_read_on_another_number_of_ranks(run, tmp_path, writers):
    grid = {2: "1,2,1", 8: "2,2,2"}[writers]
    done = run("slabmark bench", ["checkpoint", "--grid-of-ranks", grid, "--domain", "6,4,10", "--steps", "2", "--written-by", writers,
                                  "--method", "hdf5-rearranged,mpiio-rearranged", "--trials", "1", "-d", tmp_path], ranks=4)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes") == 2 + 2


@pytest.mark.fast
@pytest.mark.parametrize("args, words", [
    (["checkpoint", "--grid-of-ranks", "2,1,1", "--domain", "4,4,4", "--written-by", "3"], "make both equal"),
    (["slice", "--grid", "8,8,8", "--plane", "z=3", "--written-by", "2"], "--written-by"),
])
def test_a_wrong_number_of_writers_is_refused(run, tmp_path, args, words):
    done = run("slabmark bench", [*args, "--method", "mpiio-collective", "-d", tmp_path])
    assert done.returncode == 2 and words in done.stderr
    assert list(tmp_path.iterdir()) == []


@needs_pnetcdf
@pytest.mark.parametrize("ranks", [1, 4])
def test_calls_in_which_pnetcdf_1_15_0_hangs_are_a_row_of_the_table(run, map_file, tmp_path, ranks, as_pnetcdf_1_15):
    folder = tmp_path / "out"
    folder.mkdir()
    methods = ["--method", "pnetcdf-varn,pnetcdf-vara", "--set", "pnetcdf.blocking=on", "--trials", "1", "--steps", "2"]
    done = bench(run, map_file, folder, *methods, ranks=ranks, env=as_pnetcdf_1_15)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("not run: PnetCDF 1.15.0 hangs in blocking calls of record variables") == 2


def test_stops_at_six_trials_with_an_interval_and_appends_records(run, map_file, tmp_path):
    path = tmp_path / "records.jsonl"
    args = ["--method", "posix,mpiio-collective", "--min-trials", "6", "--max-trials", "6", "--json", path]
    assert bench(run, map_file, tmp_path, *args).returncode == 0
    done = bench(run, map_file, tmp_path, *args, "--chart")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(records) == 8, "two methods and two limits, twice"
    assert records[0]["pattern"]["bytes"] == 8 * ELEMENTS
    assert records[0]["stopping"]["reason"] == "fixed"
    assert records[0]["manifest"]["mpi_io"] in ("OMPIO", "ROMIO")
    assert records[0]["manifest"]["clocks"]["disagreement"] is None
    assert {b["method"] for b in records[0]["bounds"]} == {"posix", "mpiio-independent"}
    assert "95 % interval" in done.stdout and "█" in done.stdout


@preloads
@pytest.mark.parametrize("scale, both, against", [("2", {}, "its realtime clock"), ("20", {"CLOCK_BOTH": "1"}, "rank 0 on ")])
def test_a_clock_that_runs_at_another_speed_is_in_the_record(run, map_file, tmp_path, scale, both, against):
    """Two ranks whose clocks both agree with themselves can only be compared with each other."""
    done = bench(run, map_file, tmp_path, "--method", "posix", "--trials", "3", "--json", tmp_path / "r.jsonl", ranks=2,
                 env=tampered(CLOCK_RANK="1", CLOCK_SCALE=scale, **both))
    assert done.returncode == 0, done.stderr
    for line in (tmp_path / "r.jsonl").read_text().splitlines():
        found = json.loads(line)["manifest"]["clocks"]["disagreement"]
        assert found["rank"] == 1 and found["against"].startswith(against) and found["rate"] > 1.02


def test_time_records_are_written_and_read_back(run, map_file, tmp_path, methods_that_keep_data):
    methods = ",".join(methods_that_keep_data)
    done = bench(run, map_file, tmp_path, "--method", methods, "--steps", "3", "--map-index", min(2, MAPS), "--trials", "1",
                 "--type", "float32")
    assert done.returncode == 0, done.stderr


@pytest.mark.fast
def test_a_failing_rank_ends_all_with_its_sentence(run, map_file, tmp_path):
    done = bench(run, map_file, tmp_path, "--method", "null", "--trials", "1", "--set", "null.fail_phase=flush", "--set",
                 "null.fail_rank=2", timeout=60)
    assert done.returncode == 1
    assert "rank 2" in done.stderr and "null.fail_phase" in done.stderr
    assert "MiB/s" not in done.stdout


def test_a_rank_that_fails_while_its_peers_wait_for_it_does_not_leave_them_hanging(run, map_file, tmp_path):
    done = bench(run, map_file, tmp_path, "--method", "null", "--trials", "1", "--set", "null.fail_phase=post", "--set",
                 "null.fail_rank=1", "--set", "null.peers_wait=on", timeout=90)
    assert done.returncode != 0
    assert "null.fail_phase" in done.stderr
    assert "MiB/s" not in done.stdout


def test_a_phase_beyond_the_deadline_ends_the_job_with_its_name(run, map_file, tmp_path):
    done = bench(run, map_file, tmp_path, "--method", "null", "--trials", "1", "--set", "null.delay_flush=60",
                 "--deadline", "1", timeout=50)
    assert done.returncode != 0
    assert "flush has taken more than 1" in done.stderr


@pytest.fixture(scope="module")
def land_map(tmp_path_factory, run):
    path = tmp_path_factory.mktemp("maps") / "i.nc"
    run("slabmark decomp", ["generate", "i", "--nlat", "12", "--nlon", "24", "--ranks", "6", "-o", path]).check_returncode()
    return path


def e3sm(run, case, map_path, tmp_path, *args, ranks=4):
    return run("slabmark bench", ["e3sm", "--case", case, "--map", map_path, "-d", tmp_path, "--trials", "1", *args],
               ranks=ranks)


@pytest.fixture(scope="module")
def rearranged(methods_that_keep_data):
    return [m for m in methods_that_keep_data if m.endswith("-rearranged")]


@needs_pnetcdf
@pytest.mark.parametrize("ranks", [1, 4, 20])  # fewer and more than recorded
def test_a_whole_atmosphere_file_is_written_verified_and_read_back(run, map_file, tmp_path, ranks, rearranged):
    methods = ",".join([*rearranged, "blob"])
    written = e3sm(run, "f-h0", map_file, tmp_path, "--method", methods, ranks=ranks)
    assert written.returncode == 0, written.stderr
    assert written.stdout.count(" yes") == len(rearranged) + 1 + 2
    read = e3sm(run, "f-h1", map_file, tmp_path, "--method", methods, "--read", "--steps", "2", ranks=ranks)
    assert read.returncode == 0, read.stderr
    assert read.stdout.count(" yes") == len(rearranged) + 1 + 2


@needs_pnetcdf
def test_a_land_file_with_holes_and_records_is_written_by_rearranged_methods(run, land_map, tmp_path, rearranged):
    done = e3sm(run, "i-h0", land_map, tmp_path, "--method", ",".join(rearranged), "--steps", "2", "--type",
                "float32")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes") == len(rearranged) + 2


@pytest.mark.fast
@needs_pnetcdf
def test_other_libraries_read_in_the_canonical_files_what_pnetcdf_wrote(run, map_file, tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    h5py = pytest.importorskip("h5py")
    numpy = pytest.importorskip("numpy")
    done = e3sm(run, "f-h1", map_file, tmp_path, "--method", "pnetcdf-vara,pnetcdf-rearranged,hdf5-rearranged",
                "--steps", "3", "--keep", "--no-bound")
    assert done.returncode == 0, done.stderr
    with netcdf.Dataset(tmp_path / "slabmark-pnetcdf-vara.nc") as theirs, \
            netcdf.Dataset(tmp_path / "slabmark-pnetcdf-rearranged.nc") as ours, \
            h5py.File(tmp_path / "slabmark-hdf5-rearranged.h5") as hdf5:
        assert len(ours.variables) == 51 and list(ours.variables) == list(theirs.variables)
        assert ours.dimensions["time"].isunlimited() and len(ours.dimensions["time"]) == 3
        assert ours.__dict__ == theirs.__dict__ and hdf5.attrs["case"].decode() == "F h1"
        for name, variable in theirs.variables.items():
            variable.set_auto_mask(False)
            ours[name].set_auto_mask(False)
            assert ours[name].__dict__ == variable.__dict__
            for attribute in variable.ncattrs():
                assert hdf5[name].attrs[attribute].decode() == variable.getncattr(attribute)
            assert numpy.array_equal(ours[name][...], variable[...], equal_nan=variable.dtype.kind == "f"), name
            assert numpy.array_equal(hdf5[name][...], variable[...], equal_nan=variable.dtype.kind == "f"), name


@pytest.mark.fast
@needs_pnetcdf
@pytest.mark.parametrize("ranks", [long(1), 3])
def test_the_private_layout_becomes_the_same_canonical_file_on_any_number_of_ranks(run, map_file, tmp_path, ranks):
    done = e3sm(run, "f-h1", map_file, tmp_path, "--method", "blob,pnetcdf-rearranged", "--steps", "2", "--keep",
                "--no-bound")
    assert done.returncode == 0, done.stderr
    converted = run("slabmark blob", ["convert", tmp_path / "slabmark-blob.blob", "-o", tmp_path / "out.nc"], ranks=ranks)
    assert converted.returncode == 0, converted.stderr
    assert (tmp_path / "out.nc").read_bytes() == (tmp_path / "slabmark-pnetcdf-rearranged.nc").read_bytes()


@needs_pnetcdf
@pytest.mark.parametrize("ranks", [1, 3])
def test_a_file_that_is_no_blob_is_refused_and_what_stood_there_stays(run, refused, map_file, tmp_path, ranks):
    done = run("slabmark blob", ["convert", map_file, "-o", tmp_path / "out.nc"], ranks=ranks)
    assert "f.nc" in refused(done, "slabmark blob")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out.nc").write_text("precious")
    done = run("slabmark blob", ["convert", map_file, "-o", tmp_path / "out.nc"], ranks=ranks)
    assert "out.nc" in refused(done, "slabmark blob")
    assert (tmp_path / "out.nc").read_text() == "precious"


def test_a_case_whose_maps_the_file_lacks_is_refused_with_both_numbers(run, refused, map_file, tmp_path):
    done = e3sm(run, "g", map_file, tmp_path, "--method", "posix")
    message = refused(done, "slabmark bench")
    assert f"holds {MAPS} map" in message and "needs 6" in message


def test_a_disk_that_is_full_ends_a_rearranged_write_with_one_sentence(run, sentence, map_file, tmp_path, file_size_limit):
    pattern = ["decomp", "--variables", "999"] if WITHOUT_PNETCDF else ["e3sm", "--case", "f-h0"]
    done = run("slabmark bench", [*pattern, "--map", map_file, "-d", tmp_path, "--trials", "1", "--method",
                                  "mpiio-rearranged", "--no-bound"], ranks=4, preexec_fn=file_size_limit)
    assert done.returncode == 1, done.stdout
    assert "slabmark-mpiio-rearranged.raw" in sentence(done, "slabmark bench")
    assert list(tmp_path.iterdir()) == []


# Found before MPI starts, and by one rank afterwards. tests/programs has the other sentences.
@pytest.mark.parametrize("args, culprit, ranks", [(["--trials", "0"], "--trials", 1), (["--trials", "0"], "--trials", 4),
                                                  (["--json", "/"], "/", 4)])
def test_wrong_usage_is_one_sentence_and_status_2(run, refused, map_file, tmp_path, args, culprit, ranks):
    done = bench(run, map_file, tmp_path, "--method", "posix", *args, ranks=ranks)
    assert culprit in refused(done, "slabmark bench")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fast
def test_the_floor_has_a_figure_for_reading_too(run, map_file, tmp_path):
    done = bench(run, map_file, tmp_path, "--read", "--method", "floor", "--trials", "1", "--no-bound")
    assert done.returncode == 0, done.stderr
    assert "floor" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_benchmark_that_is_interrupted_leaves_neither_file_nor_journal(make_map, tmp_path, number):
    out = tmp_path / "out"
    out.mkdir()
    map_file = make_map(tmp_path, ne=4, ranks=4, map_index=1)
    launcher = shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec"))
    program = pathlib.Path(os.environ["SLABMARK_BIN"]) / "slabmark"
    command = [OWN_TMPDIR, *launcher, "-n", "2", program, "bench", "decomp", "--map", map_file, "--method", "hdf5-log",
               "--steps", "50000", "--no-verify", "--no-bound", "--trials", "1", "-d", out]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        while not list(out.glob("*.slablog-journal")) and process.poll() is None:
            time.sleep(0.02)
        assert process.poll() is None
        process.send_signal(number)
        process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()
    end = time.monotonic() + 20
    while list(out.iterdir()) and time.monotonic() < end:  # the ranks end after their launcher
        time.sleep(0.05)
    assert list(out.iterdir()) == []


def test_the_journal_of_a_file_that_is_not_to_be_overwritten_stays(write_log, run, make_map, tmp_path):
    map_file = make_map(tmp_path, ne=4, ranks=4)
    out = tmp_path / "out"
    out.mkdir()
    path = out / "slabmark-hdf5-log.h5"
    assert write_log(path, 2, "kill").returncode != 0
    before = {one.name: one.read_bytes() for one in out.iterdir()}
    assert set(before) == {path.name, path.name + ".slablog-journal"}
    done = run("slabmark bench", ["decomp", "--map", map_file, "--method", "hdf5-log", "--trials", "1", "-d", out])
    assert done.returncode == 2 and str(path) in done.stderr, done.stderr
    assert {one.name: one.read_bytes() for one in out.iterdir()} == before
