"""dat2nc from the command line."""

import netCDF4
import numpy as np
import pytest
from conftest import needs_pnetcdf

pytestmark = needs_pnetcdf

F_CASE = ["piodecomp16tasks16io01dims_ioid_514.dat", "piodecomp16tasks16io01dims_ioid_516.dat",
          "piodecomp16tasks16io02dims_ioid_548.dat"]

# A 2 x 6 array in C order on three ranks; element 11 is nobody's.
DIMS = [6, 2]
ROWS = [[3, 2, 1, 0, 7], [0, 0, 0], [8, 9, 10, 11, 4, 5, 6]]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def entries_of(path):
    """The rows of a PIO text file, read in the plainest way."""
    lines = path.read_text().splitlines()
    ranks = int(lines[0].split()[3])
    return [np.array(lines[3 + 2 * rank].split(), dtype=np.int64) for rank in range(ranks)]


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 4])
def test_a_real_file_becomes_one_offset_an_element_in_model_order(run, real_data, tmp_path, ranks):
    done = run("dat2nc", [real_data / F_CASE[2], "-o", tmp_path / "d3.nc"], ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"input file name ={real_data / F_CASE[2]}",
        f"output file name ={tmp_path / 'd3.nc'}",
        "header:",
        "\tversion 2001 npes 16 ndims 2",
        "\t866 72",
        "max_nreqs=4032 min_nreqs=3744",
    ]
    with netCDF4.Dataset(tmp_path / "d3.nc") as file:
        file.set_auto_mask(False)
        assert file.data_model == "NETCDF3_CLASSIC"
        assert {name: len(dim) for name, dim in file.dimensions.items()} == {"num_procs": 16, "max_nreqs": 4032}
        assert [file.getncattr(name) for name in ("var_ndims", "dim_len_0", "dim_len_1", "max_nreqs", "min_nreqs")] == [
            2, 866, 72, 4032, 3744]
        assert file["offsets"].dtype == file["nreqs"].dtype == np.int32
        for rank, entries in enumerate(entries_of(real_data / F_CASE[2])):
            owned = entries[entries > 0] - 1
            assert file["nreqs"][rank] == len(owned)
            assert (file["offsets"][rank, :len(owned)] == owned).all()


@pytest.mark.long
def test_several_inputs_become_the_file_of_many_maps(run, real_data, tmp_path):
    inputs = [real_data / name for name in F_CASE]
    assert run("dat2nc", ["-q", *inputs, "-o", tmp_path / "f.nc"]).returncode == 0
    with netCDF4.Dataset(tmp_path / "f.nc") as ours, netCDF4.Dataset(real_data / "f_case_866x72_16p.nc") as real:
        assert "dat2nc -q" in ours.command_line
        assert set(ours.ncattrs()) == set(real.ncattrs())
        assert {d: len(ours.dimensions[d]) for d in ours.dimensions} == {
            d: len(real.dimensions[d]) for d in real.dimensions}
        for name in real.variables:
            assert (ours[name][:] == real[name][:]).all(), name
            assert {a: ours[name].getncattr(a) for a in ours[name].ncattrs()} == {
                a: real[name].getncattr(a) for a in real[name].ncattrs()}


def test_inputs_may_be_listed_in_a_file(run, make_dat, tmp_path):
    make_dat(tmp_path / "a.dat", DIMS, ROWS)
    (tmp_path / "list.txt").write_text(f"# two maps\n{tmp_path}/a.dat\n\n{tmp_path}/a.dat  # again\n")
    assert run("dat2nc", ["-i", tmp_path / "list.txt", "-o", tmp_path / "out.nc"]).returncode == 0
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert len(file.dimensions["num_decomp"]) == 2


def test_the_output_is_named_after_the_input_and_replaced(run, make_dat, tmp_path):
    make_dat(tmp_path / "a.dat", DIMS, ROWS)
    (tmp_path / "a.nc").write_text("CDF of an earlier run")
    assert run("dat2nc", ["-q", "a.dat"], cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.nc").read_bytes().startswith(b"CDF\x01")
    assert names(tmp_path) == ["a.dat", "a.nc"]


def test_quiet_prints_nothing_but_the_warning_of_elements_that_nobody_owns(run, make_dat, tmp_path):
    make_dat(tmp_path / "a.dat", DIMS, ROWS)
    done = run("dat2nc", ["-q", tmp_path / "a.dat"])
    assert done.stdout == "Warning: global array size = 12 but only 11 written\n"
    make_dat(tmp_path / "a.dat", DIMS, [*ROWS, [12]])
    assert run("dat2nc", ["-q", tmp_path / "a.dat"]).stdout == ""


def test_the_output_is_read_by_what_reads_maps(run, make_dat, tmp_path):
    make_dat(tmp_path / "a.dat", DIMS, ROWS)
    run("dat2nc", ["-q", tmp_path / "a.dat"])
    done = run("slabmark decomp", ["check", tmp_path / "a.nc"], ranks=4)
    assert (done.returncode, done.stdout) == (0, "D1: good, 11 of 12 elements owned, none twice\n")


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 4])
def test_a_line_of_two_megabytes_and_a_rank_with_nothing_are_legal(run, make_dat, tmp_path, ranks):
    make_dat(tmp_path / "a.dat", [300_000], [[0] * 5, list(range(300_000, 0, -1)), []])
    assert run("dat2nc", ["-q", tmp_path / "a.dat"], ranks=ranks).returncode == 0
    with netCDF4.Dataset(tmp_path / "a.nc") as file:
        assert file["nreqs"][:].tolist() == [0, 300_000, 0]
        assert (file["offsets"][1] == np.arange(299_999, -1, -1)).all()


@pytest.mark.parametrize("ranks", [1, 4])
def test_help_is_printed_once(run, ranks):
    done = run("dat2nc", ["-h"], ranks=ranks)
    assert done.returncode == 0
    assert done.stdout.count("Usage") == 1


# Found before MPI starts, and by one rank afterwards. tests/programs has the other sentences.
@pytest.mark.parametrize("args, culprit, ranks", [(["-x", "a.dat"], "-x", 1), (["-x", "a.dat"], "-x", 4), (["none.dat"], "none.dat", 4)])
def test_wrong_usage_is_one_sentence_and_status_2(run, refused, tmp_path, args, culprit, ranks):
    done = run("dat2nc", args, ranks=ranks, cwd=tmp_path)
    assert culprit in refused(done, "dat2nc")
    assert names(tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 4])
def test_a_wrong_file_is_one_sentence_and_leaves_the_earlier_output(run, refused, make_dat, tmp_path, ranks):
    make_dat(tmp_path / "a.dat", DIMS, [[3, 2, 1, 0, 7], [], [8, 9, 10, 13]])
    (tmp_path / "a.nc").write_text("CDF of an earlier run")
    message = refused(run("dat2nc", [tmp_path / "a.dat"], ranks=ranks), "dat2nc")
    for part in ["Rank 2", "13", "12 elements", "a.dat"]:
        assert part in message
    assert names(tmp_path) == ["a.dat", "a.nc"]
    assert (tmp_path / "a.nc").read_text() == "CDF of an earlier run"


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 4])
def test_a_file_size_limit_is_one_sentence_and_leaves_nothing(run, sentence, make_dat, tmp_path, file_size_limit, ranks):
    make_dat(tmp_path / "a.dat", [1_000_000], [range(1, 1_000_001), [], []])  # 12 MB of NetCDF
    done = run("dat2nc", ["-q", tmp_path / "a.dat"], ranks=ranks, preexec_fn=file_size_limit)
    assert done.returncode == 1, (done.stdout, done.stderr)
    message = sentence(done, "dat2nc")
    assert "a.nc" in message and "ulimit" in message
    assert done.stdout == ""
    assert names(tmp_path) == ["a.dat"]
