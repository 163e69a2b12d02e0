"""e3sm_io from the command line: its report, its files, and what it says to wrong input."""

import json
import re

import pytest
from conftest import needs_pnetcdf

pytestmark = [pytest.mark.long, needs_pnetcdf]


@pytest.fixture(scope="module")
def maps(tmp_path_factory, run):
    """A file with three maps and one in the seed's layout, of 866 columns and 16 recorded ranks."""
    folder = tmp_path_factory.mktemp("maps")
    many, single = folder / "f.nc", folder / "866x72_16p.nc"
    run("slabmark decomp", ["generate", "f", "--ne", "4", "--ranks", "16", "-o", many]).check_returncode()
    run("slabmark decomp", ["generate", "f", "--ne", "4", "--ranks", "16", "--map-format", "dat", "-o", folder / "f"]
        ).check_returncode()
    run("dat2nc", ["-q", folder / "f_D3.dat", "-o", single]).check_returncode()
    return {"many": many, "single": single, "dat": folder / "f_D3.dat"}


def blocks(report):
    """{"vard": {"Max Time of close": "0.0037 sec", ...}, ...}"""
    found = {}
    for part in report.split("---- benchmarking ")[1:]:
        name, *lines = part.splitlines()
        found[name.split()[0]] = dict(
            (side.strip() for side in line.split("=", 1)) for line in lines if "=" in line)
    return found


VARN_BLOCK = [
    r"",
    r"---- benchmarking varn API -----------------------",
    r"-----------------------------------------------------------",
    r"MAX heap memory allocated by PnetCDF internally is (\d+\.\d\d MiB|not available \(it was built without tracing\))",
    r"Total number of variables          = 10",
    r"Total write amount                 = 4\.76 MiB = 0\.00 GiB",
    r"Max number of requests             = \d+",
    r"Max Time of open \+ metadata define = \d+\.\d{4} sec",
    r"Max Time of I/O preparing          = \d+\.\d{4} sec",
    r"Max Time of ncmpi_iput_varn        = \d+\.\d{4} sec",
    r"Max Time of ncmpi_wait_all         = \d+\.\d{4} sec",
    r"Max Time of close                  = \d+\.\d{4} sec",
    r"Max Time of TOTAL                  = \d+\.\d{4} sec",
    r"I/O bandwidth                      = \d+\.\d{4} MiB/sec",
]


@pytest.fixture
def methods(has_vard):
    """Those that the PnetCDF that is here has."""
    return ["vard", "varn", "vara"] if has_vard else ["varn", "vara"]


@pytest.mark.parametrize("ranks", [1, 4, 8])
def test_prints_the_three_blocks_of_the_original_line_by_line(run, maps, tmp_path, ranks):
    done = run("e3sm_io", ["-q", maps["single"], "-n", "10", "-o", tmp_path], ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert list(blocks(done.stdout)) == ["vard", "varn", "vara"]
    lines = done.stdout.splitlines()
    start = lines.index(VARN_BLOCK[1]) - 1
    for pattern, line in zip(VARN_BLOCK, lines[start:]):
        assert re.fullmatch(pattern, line), (pattern, line)
    assert list(tmp_path.iterdir()) == [], "the files are removed, as the original does"


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_pnetcdf_without_vard_has_the_other_two_blocks(run, maps, tmp_path, ranks, as_pnetcdf_1_15):
    folder = tmp_path / "out"
    folder.mkdir()
    done = run("e3sm_io", ["-q", maps["single"], "-n", "10", "-o", folder], ranks=ranks, env=as_pnetcdf_1_15)
    assert done.returncode == 0, done.stderr
    assert list(blocks(done.stdout)) == ["vard", "varn", "vara"]
    assert done.stdout.count("not run: PnetCDF 1.15.0 has no vard calls any more\n") == 1
    assert done.stdout.count("I/O bandwidth") == 2


def test_float_halves_the_amount(run, maps, tmp_path):
    done = run("e3sm_io", ["-q", maps["single"], "-n", "10", "--float", "-o", tmp_path], ranks=2)
    assert blocks(done.stdout)["varn"]["Total write amount"] == "2.38 MiB = 0.00 GiB"


@pytest.mark.fast
def test_a_text_map_gives_the_same_amount_as_its_conversion(run, maps, tmp_path):
    done = run("e3sm_io", ["-q", maps["dat"], "-o", tmp_path], ranks=4)
    assert blocks(done.stdout)["varn"]["Total write amount"] == "0.48 MiB = 0.00 GiB"


@pytest.mark.parametrize("ranks", [1, 4, 20])
def test_every_element_is_verified_also_on_more_ranks_than_recorded(run, maps, tmp_path, ranks, methods):
    done = run("e3sm_io", ["-q", maps["many"], "-n", "3", "-o", tmp_path], ranks=ranks)
    assert done.returncode == 0, done.stderr
    for method in methods:
        assert blocks(done.stdout)[method]["Verified"] == f"yes, {866 + 866 + 72 * 866} elements"


def test_without_quiet_the_hints_in_effect_are_shown(run, maps, tmp_path):
    done = run("e3sm_io", [maps["single"], "-o", tmp_path, "--hint", "cb_buffer_size=1048576"], ranks=2)
    assert re.search(r"^MPI File Info: nkeys = \d+$", done.stdout, re.M)
    assert re.search(r"^MPI File Info: \[ ?\d+\] key = +\w+, value = ", done.stdout, re.M)


def test_says_which_mpi_io_is_in_effect_and_warns_of_the_slow_one(run, maps, tmp_path):
    done = run("e3sm_io", ["-q", maps["single"], "-o", tmp_path], ranks=2)
    implementation = re.search(r"^MPI-IO implementation +=\s(.*)$", done.stdout, re.M).group(1)
    assert implementation in ("OMPIO", "ROMIO")
    assert ("warning" in done.stderr and "romio" in done.stderr) == (implementation == "OMPIO")


@pytest.mark.fast
def test_keep_leaves_files_that_other_readers_open(run, maps, tmp_path, methods):
    netcdf = pytest.importorskip("netCDF4")
    done = run("e3sm_io", ["-q", maps["single"], "-n", "2", "-o", tmp_path / "out.nc", "--keep"], ranks=4)
    assert done.returncode == 0, done.stderr
    names = sorted(f"out_{method}.nc" for method in methods)
    assert sorted(p.name for p in tmp_path.iterdir()) == names
    contents = set()
    for name in names:
        with netcdf.Dataset(tmp_path / name) as file:
            assert file.data_model == "NETCDF3_64BIT_DATA"
            assert file["var0001"].dimensions == ("dim_len_0", "dim_len_1")
            assert file["var0001"].shape == (866, 72), "the seed's layout keeps its dimensions as stored"
            contents.add(file["var0001"][:].tobytes())
    assert len(contents) == 1, "three methods, one content"


def test_records_hold_every_phase_of_every_trial_and_phases_add_up(run, maps, tmp_path, methods):
    path = tmp_path / "records.jsonl"
    done = run("e3sm_io", ["-q", maps["single"], "--trials", "6", "--json", path, "-o", tmp_path], ranks=4)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [r["method"] for r in records] == ["pnetcdf-vard", "pnetcdf-varn", "pnetcdf-vara"]
    for record in records:
        if record["method"].removeprefix("pnetcdf-") not in methods:
            assert record["trials"] == []
            continue
        assert len(record["trials"]) == 7 and record["trials"][0]["warm_up"]
        assert {"map_open", "map_read", "map_sort"} <= set(record["setup"])
        for trial in record["trials"]:
            assert {"create", "define", "prepare", "post", "close"} <= set(trial["phases"])
            parts = sum(phase["seconds"] for phase in trial["phases"].values())
            assert trial["open_to_close"] >= parts * 0.999
    assert "95 % interval" in done.stdout


def test_records_never_go_into_a_file_that_the_run_writes(run, refused, maps, tmp_path):
    words = ["-q", maps["single"], "--keep", "--overwrite", "-o", tmp_path / "a.nc", "--json", tmp_path / "a_vara.nc"]
    assert "is the record file of --json" in refused(run("e3sm_io", words, ranks=2), "e3sm_io")
    assert not list(tmp_path.glob("a*.nc"))


def test_methods_of_other_libraries_print_a_block_too(run, maps, tmp_path):
    done = run("e3sm_io", ["-q", maps["many"], "--methods", "mpiio-collective,hdf5-slab", "--verify", "-o", tmp_path],
               ranks=2)
    assert done.returncode == 0, done.stderr
    assert list(blocks(done.stdout)) == ["mpiio-collective", "hdf5-slab"]


def test_subfiles_get_the_threads_that_their_driver_wants(run, subfiling, maps, tmp_path):
    done = run("e3sm_io", ["-q", maps["many"], "--map", "1", "-n", "1", "--methods", "hdf5-subfiling", "--verify", "-o", tmp_path], ranks=2)
    assert done.returncode == 0, done.stderr
    assert list(blocks(done.stdout)) == ["hdf5-subfiling"]


# Found before MPI starts, and by all ranks afterwards. tests/programs has the other sentences.
@pytest.mark.parametrize("args, culprit, ranks", [(["-n", "x"], "-n", 1), (["-n", "x"], "-n", 4), (["--map", "4"], "no map 4", 4)])
def test_wrong_usage_is_one_sentence_and_status_2(run, refused, maps, tmp_path, args, culprit, ranks):
    done = run("e3sm_io", ["-q", *args, "-o", tmp_path, maps["many"]], ranks=ranks)
    assert culprit in refused(done, "e3sm_io")
    assert "benchmarking" not in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ranks", [1, 4])
def test_an_output_file_that_exists_stays_as_it_is(run, refused, maps, tmp_path, ranks):
    precious = tmp_path / "out_varn.nc"
    precious.write_text("precious")
    done = run("e3sm_io", ["-q", maps["single"], "-o", tmp_path / "out.nc"], ranks=ranks)
    assert "--overwrite" in refused(done, "e3sm_io")
    assert precious.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["out_varn.nc"]
    assert run("e3sm_io", ["-q", maps["single"], "-o", tmp_path / "out.nc", "--overwrite"], ranks=ranks).returncode == 0


def dat(rows, header="version 2001 npes 2 ndims 1 \n6 \n"):
    lines = "".join(f"{rank} {len(entries)}\n{' '.join(map(str, entries))} \n" for rank, entries in rows)
    return (header + lines + "\n").encode()


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [1, 4])
def test_a_map_that_is_cut_is_one_sentence_that_names_it_and_status_2(run, refused, maps, tmp_path, ranks):
    good = maps["single"].read_bytes()
    (tmp_path / "bad.map").write_bytes(good[:len(good) - len(good) // 4])
    done = run("e3sm_io", ["-q", tmp_path / "bad.map", "-o", tmp_path], ranks=ranks)
    assert "bad.map" in refused(done, "e3sm_io")
    assert "benchmarking" not in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["bad.map"]


GOOD_MAPS = {
    "a rank of zeros only": dat([(0, [0, 0, 0]), (1, [1, 2, 3, 4, 5, 6])]),
    "a line of 2 MB": dat([(0, range(1, 280_001)), (1, [280_001])], "version 2001 npes 2 ndims 1 \n280001 \n"),
}


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("case", GOOD_MAPS)
def test_unusual_but_legal_maps_work(run, tmp_path, case, ranks):
    (tmp_path / "good.dat").write_bytes(GOOD_MAPS[case])
    done = run("e3sm_io", ["-q", tmp_path / "good.dat", "-o", tmp_path], ranks=ranks)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_file_size_limit_ends_the_run_with_a_reason_and_no_figure(run, maps, tmp_path, file_size_limit, ranks):
    done = run("e3sm_io", ["-q", maps["single"], "-n", "30", "-o", tmp_path], ranks=ranks, preexec_fn=file_size_limit)
    assert done.returncode == 1, (done.stdout, done.stderr)
    # OMPIO reports success for such a write; then it is the contents that tell.
    assert "bandwidth" not in done.stdout
    assert "error" in done.stderr
    assert list(tmp_path.iterdir()) == [], "no partial file is left"


def test_no_verify_leaves_the_line_out(run, maps, tmp_path):
    done = run("e3sm_io", ["-q", "--no-verify", maps["single"], "-o", tmp_path], ranks=2)
    assert done.returncode == 0 and "Verified" not in done.stdout


@pytest.mark.fast
def test_help_is_printed_once_with_status_0(run):
    done = run("e3sm_io", ["-h"], ranks=4)
    assert done.returncode == 0
    assert done.stdout.count("Usage") == 1
    for option in ("-q", "-n", "-o", "input_file"):
        assert option in done.stdout
