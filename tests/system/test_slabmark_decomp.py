"""slabmark decomp from the command line."""

import json

import h5py
import netCDF4
import numpy as np
import pytest
from conftest import WITHOUT_PNETCDF, long, needs_pnetcdf

pytestmark = pytest.mark.long

F_CASE = {
    "D1": "piodecomp16tasks16io01dims_ioid_514.dat",
    "D2": "piodecomp16tasks16io01dims_ioid_516.dat",
    "D3": "piodecomp16tasks16io02dims_ioid_548.dat",
}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def up_to_trailer(path):
    """PIO ends the list with an empty line and then prints a stack trace."""
    return path.read_bytes().partition(b"\nObtained ")[0].rstrip(b"\n")


@pytest.fixture(scope="module")
def f_case(tmp_path_factory, run):
    """The maps of ne 4 on 16 ranks: three text files and, with PnetCDF, one file of many maps and D3 in the single layout."""
    folder = tmp_path_factory.mktemp("f")
    generate = ["generate", "f", "--ne", "4", "--ranks", "16", "-o"]
    run("slabmark decomp", [*generate, folder / "f"]).check_returncode()
    if not WITHOUT_PNETCDF:
        run("slabmark decomp", [*generate, folder / "f.nc"]).check_returncode()
        run("slabmark decomp", [*generate, folder / "single.nc", "--map-index", "3"]).check_returncode()
    return folder


def info(run, path, *args, ranks=1):
    done = run("slabmark decomp", ["info", path, "--json", "-", *args], ranks=ranks)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_generated_ne4_on_16_ranks_equals_the_real_files_byte_for_byte(f_case, real_data):
    texts = ["f_D1.dat", "f_D2.dat", "f_D3.dat"]
    assert names(f_case) == (texts if WITHOUT_PNETCDF else ["f.nc", *texts, "single.nc"])
    for name, real in F_CASE.items():
        assert up_to_trailer(f_case / f"f_{name}.dat") == up_to_trailer(real_data / real)


@needs_pnetcdf
def test_the_generated_file_of_many_maps_equals_the_real_one(f_case, real_data):
    with netCDF4.Dataset(f_case / "f.nc") as ours, netCDF4.Dataset(real_data / "f_case_866x72_16p.nc") as real:
        for name in real.variables:
            assert (ours[name][:] == real[name][:]).all(), name


@needs_pnetcdf
def test_ne30_on_64_ranks_has_the_published_request_counts(run, tmp_path):
    path = tmp_path / "48602x72_64p.nc"
    run("slabmark decomp", ["generate", "f", "--ne", "30", "--ranks", "64", "--tie-break", "lowest", "--map-index", "3",
                            "--map-layout", "single", "-o", path]).check_returncode()
    with netCDF4.Dataset(path) as file:
        assert (file.max_nreqs, file.min_nreqs) == (55296, 51840)
        assert (file.dim_len_0, file.dim_len_1) == (48602, 72)
    requests = info(run, path, "--ranks", "8")["maps"][0]["requests_per_rank"]
    assert (requests["min"], requests["max"]) == (11134, 22144)


@needs_pnetcdf
@pytest.mark.parametrize("ranks", [1, 4])
def test_info_has_the_statistics_of_the_real_ocean_case(run, real_data, ranks):
    found = info(run, real_data / "g_case_cmpaso_16p.nc", ranks=ranks)
    assert found["layout"] == "many-map NetCDF"
    cells, edges = found["maps"][:2]
    assert cells["dims"] == [28571] and cells["recorded_ranks"] == 16
    assert cells["owned"] == 28571 and cells["owned_by_several"] == 0
    assert [cells["elements_per_rank"][k] for k in ("min", "median", "max")] == [1758, 1779, 1838]
    assert [cells["requests_per_rank"][k] for k in ("min", "median", "max", "total")] == [94, 160.5, 184, 2530]
    assert cells["run_length"]["max"] == 151 and cells["run_length"]["median"] == 6
    assert round(edges["run_length"]["mean"], 2) == 1.41
    assert sum(bucket["runs"] for bucket in edges["run_length_histogram"]) == 62606


@pytest.mark.fast
@pytest.mark.parametrize("file, number, layout", [
    pytest.param("f.nc", 3, "many-map NetCDF, 3 maps", marks=needs_pnetcdf), ("f_D3.dat", 1, "PIO text, 1 map")])
def test_info_in_words(run, f_case, file, number, layout):
    done = run("slabmark decomp", ["info", f_case / file, "--map-index", number])
    assert done.stdout.splitlines() == [
        f"{f_case / file}: {layout}",
        f"D{number}: 72 x 866, 62352 elements, 16 recorded ranks",
        "  owned              62352 (100.00 %), by no rank 0, by several 0",
        "  elements per rank  min 3744, median 3924, max 4032 on 16 ranks",
        "  requests per rank  min 936, median 1944, max 2808, total 29304",
        "  run length         min 1, median 2, mean 2.13, max 4",
        "  runs by length     1: 10800 2-3: 15624 4-7: 2880",
    ]


@pytest.mark.parametrize("file", [pytest.param("f.nc", marks=needs_pnetcdf), "f_D1.dat"])
def test_info_on_more_ranks_than_recorded_counts_ranks_with_nothing(run, f_case, file):
    found = info(run, f_case / file, "--ranks", "20", ranks=4)["maps"][0]
    assert found["ranks"] == 20
    assert found["requests_per_rank"]["min"] == 0
    assert found["requests_per_rank"]["total"] == 47


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), 4])
@pytest.mark.parametrize("file, elements", [pytest.param("f.nc", [866, 866, 62352], marks=needs_pnetcdf), ("f_D3.dat", [62352])])
def test_check_finds_sound_maps_good(run, f_case, file, elements, ranks):
    done = run("slabmark decomp", ["check", f_case / file], ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"D{number}: good, {count} of {count} elements owned, none twice"
                                        for number, count in enumerate(elements, 1)]


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [1, 4])
def test_check_names_what_is_wrong_and_exits_with_1(run, make_dat, tmp_path, ranks):
    done = run("slabmark decomp", ["check", make_dat(tmp_path / "a.dat", [6], [[1, 2], [3, 7]])], ranks=ranks)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert done.stdout.startswith("D1: bad: ") and "offset 7" in done.stdout
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_may_share_elements_that_they_read(run, refused, make_dat, tmp_path, ranks):
    """Writing them is refused, on however many ranks they meet."""
    path = make_dat(tmp_path / "a.dat", [4, 3], [[1, 2, 3, 4], [3, 4, 5], [9, 3], [10, 11]])
    words = ["decomp", "--map", path, "-o", tmp_path, "--trials", "1", "--method", "posix,mpiio-independent,hdf5-rearranged,mpiio-collective"]
    message = refused(run("slabmark bench", words, ranks=ranks), "slabmark bench")
    assert "2 of its 12 elements" in message and "element 2 (counted from 0), of rank 0 and rank 1" in message
    assert "--read" in message
    done = run("slabmark bench", [*words, "--read"], ranks=ranks)
    assert done.returncode == 0, done.stderr
    not_run = done.stdout.count("mpiio-collective: not run: ranks move the same elements")  # through an OMPIO that fails there
    assert done.stdout.count(" yes") == 6 - not_run and not_run <= (ranks > 1), done.stdout


def many_map(path, flavor):
    """One map of 3 ranks, 4 x 10 elements, as E3SM-IO's programs store it in HDF5 and in NetCDF-4."""
    lengths = {"num_decomp": 1, "decomp_nprocs": 3, "D1.total_nreqs": 5}
    variables = {"nreqs": [2, 0, 3], "offsets": [8, 0, 20, 30, 11], "lengths": [3, 2, 1, 10, 1]}
    attributes = {"D1.ndims": 2, "D1.dims": [4, 10]}
    if flavor == "nc4":
        with netCDF4.Dataset(path, "w", format="NETCDF4") as file:
            file.setncatts({name: np.array(value, "i4") for name, value in attributes.items()})
            for name, length in lengths.items():
                file.createDimension(name, length)
            for name, values in variables.items():
                file.createVariable(f"D1.{name}", "i4", (ranks_of(name),), zlib=True)[:] = values
    else:
        with h5py.File(path, "w") as file:
            file.attrs.update({f"-DIM_{name}": np.uint64(length) for name, length in lengths.items()})
            file.attrs.update({name: np.array(value, "i4") for name, value in attributes.items()})
            for name, values in variables.items():
                file[f"D1.{name}"] = np.array(values, "i4")
    return path


def ranks_of(variable):
    return "decomp_nprocs" if variable == "nreqs" else "D1.total_nreqs"


@pytest.mark.fast
@pytest.mark.parametrize("flavor, layout", [("nc4", "many-map NetCDF-4"), ("h5", "many-map HDF5")])
@pytest.mark.parametrize("ranks", [long(1), 4])
def test_maps_in_netcdf_4_and_hdf5_are_read_as_they_are(run, tmp_path, flavor, layout, ranks):
    path = many_map(tmp_path / f"map.{flavor}", flavor)
    found = info(run, path, ranks=ranks)
    assert found["layout"] == layout
    assert run("slabmark decomp", ["convert", path, "-o", tmp_path / "map.dat"], ranks=ranks).returncode == 0
    assert info(run, tmp_path / "map.dat")["maps"] == found["maps"]
    assert found["maps"][0]["requests_per_rank"]["total"] == 6


@pytest.mark.parametrize("flavor", ["nc4", "h5"])
def test_a_bench_of_a_map_in_netcdf_4_or_hdf5(run, tmp_path, flavor):
    path = many_map(tmp_path / "map", flavor)
    done = run("slabmark bench", ["decomp", "--map", path, "-d", tmp_path, "--trials", "1", "--method", "posix,hdf5-rearranged"], ranks=3)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes") == 4, "methods and bounds"


def test_a_map_in_hdf5_of_another_type_is_refused_on_all_ranks(run, refused, tmp_path):
    path = many_map(tmp_path / "map.h5", "h5")
    with h5py.File(path, "r+") as file:
        del file["D1.offsets"]
        file["D1.offsets"] = np.zeros(5)
    message = refused(run("slabmark decomp", ["info", path], ranks=4), "slabmark decomp")
    assert "D1.offsets is not of type int or int64" in message


def test_a_map_of_adios_is_refused_with_the_command_that_converts_it(run, refused, tmp_path):
    (tmp_path / "a.bp").write_bytes(b"BP")
    message = refused(run("slabmark decomp", ["info", tmp_path / "a.bp"]), "slabmark decomp")
    assert f"decomp_copy -a cdf5 -i '{tmp_path}/a.bp' -o '{tmp_path}/a.nc'" in message


@pytest.mark.parametrize("name", ["a.bp", "a.bp/"])
def test_a_folder_of_adios_is_refused_with_what_makes_the_map_again(run, refused, tmp_path, name):
    """E3SM-IO's decomp_copy opens files only."""
    (tmp_path / "a.bp").mkdir()
    message = refused(run("slabmark decomp", ["info", f"{tmp_path}/{name}"]), "slabmark decomp")
    assert f"slabmark decomp convert *.dat --map-layout many -o '{tmp_path}/a.nc'" in message


def test_a_map_of_adios_beside_one_that_can_be_read_names_that(run, refused, tmp_path):
    (tmp_path / "a.bp").write_bytes(b"BP")
    many_map(tmp_path / "a.h5", "h5")
    message = refused(run("slabmark decomp", ["info", tmp_path / "a.bp"]), "slabmark decomp")
    assert f"Name '{tmp_path}/a.h5' instead." in message


@needs_pnetcdf
def test_text_to_netcdf_and_back_keeps_who_owns_what(run, f_case, tmp_path):
    rows = info(run, f_case / "f_D3.dat")["maps"]
    assert run("slabmark decomp", ["convert", f_case / "f_D3.dat", "-o", tmp_path / "a.nc"]).returncode == 0
    assert run("slabmark decomp", ["convert", tmp_path / "a.nc", "-o", tmp_path / "b.dat"]).returncode == 0
    assert run("slabmark decomp", ["convert", tmp_path / "b.dat", "--map-layout", "many", "-o", tmp_path / "c.nc"]).returncode == 0
    assert names(tmp_path) == ["a.nc", "b.dat", "c.nc"]
    assert info(run, tmp_path / "b.dat")["maps"] == rows
    assert info(run, tmp_path / "c.nc")["maps"] == rows
    with netCDF4.Dataset(tmp_path / "a.nc") as a, netCDF4.Dataset(f_case / "single.nc") as single:
        assert (a["offsets"][:] == single["offsets"][:]).all(), "model order is kept"


@pytest.mark.fast
@needs_pnetcdf
def test_one_map_of_many_becomes_text(run, f_case, tmp_path):
    assert run("slabmark decomp", ["convert", f_case / "f.nc", "--map-index", "2", "-o", tmp_path / "d2.dat"]).returncode == 0
    assert run("slabmark decomp", ["convert", f_case / "f.nc", "-o", tmp_path / "f"]).returncode == 0
    assert names(tmp_path) == ["d2.dat", "f_D1.dat", "f_D2.dat", "f_D3.dat"]
    assert (tmp_path / "d2.dat").read_text() == (tmp_path / "f_D2.dat").read_text()


MAP = "f_D3.dat" if WITHOUT_PNETCDF else "f.nc"


# Found before MPI starts, by all ranks afterwards, and by the one that writes. tests/programs has the other sentences.
@pytest.mark.parametrize("args, culprit, ranks", [
    (["info", MAP, "--map-index", "0"], "--map", 1), (["info", MAP, "--map-index", "0"], "--map", 4), (["info", MAP, "--map-index", "4"], "number 4", 4),
    (["convert", MAP, "-o", "f_D1.dat", "--map-index", "1"], "--overwrite", 4)])
def test_wrong_usage_is_one_sentence_and_status_2(run, refused, f_case, args, culprit, ranks):
    before = names(f_case)
    done = run("slabmark decomp", args, ranks=ranks, cwd=f_case)
    assert culprit in refused(done, "slabmark decomp")
    assert done.stdout == ""
    assert names(f_case) == before


@needs_pnetcdf
@pytest.mark.parametrize("command", ["info", "check"])
def test_an_unreadable_map_is_one_sentence_and_status_2(run, refused, f_case, tmp_path, command):
    sound = (f_case / "f.nc").read_bytes()
    (tmp_path / "bad.nc").write_bytes(sound[:len(sound) * 2 // 3])
    done = run("slabmark decomp", [command, tmp_path / "bad.nc"], ranks=4)
    message = refused(done, "slabmark decomp")
    assert "truncated" in message and "bad.nc" in message
    assert done.stdout == ""


@pytest.mark.parametrize("output", [
    ["big"], pytest.param(["big.nc", "--map-index", "3", "--map-layout", "single"], marks=needs_pnetcdf)])
def test_a_file_size_limit_is_one_sentence_and_leaves_nothing(run, sentence, tmp_path, file_size_limit, output):
    done = run("slabmark decomp", ["generate", "f", "--ne", "30", "--ranks", "64", "-o", *output], cwd=tmp_path,
               preexec_fn=file_size_limit)
    assert done.returncode == 1, (done.stdout, done.stderr)
    message = sentence(done, "slabmark decomp")
    assert "big" in message and "ulimit" in message
    assert names(tmp_path) == [], "also those of the set that were complete are removed"


@pytest.mark.fast
@pytest.mark.parametrize("file, start", [pytest.param("f.nc", b"CDF", marks=needs_pnetcdf), ("f_D3.dat", b"version")])
def test_overwrite_replaces(run, f_case, tmp_path, file, start):
    (tmp_path / file).write_text("earlier")
    assert run("slabmark decomp", ["convert", f_case / file, "--overwrite", "-o", tmp_path / file]).returncode == 0
    assert (tmp_path / file).read_bytes().startswith(start)


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [1, 4])
def test_help_of_a_command_is_printed_once(run, ranks):
    done = run("slabmark decomp", ["generate", "f", "--help"], ranks=ranks)
    assert done.returncode == 0
    assert done.stdout.count("--tie-break") == 1
