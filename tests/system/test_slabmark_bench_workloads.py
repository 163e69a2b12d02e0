"""slabmark bench: workloads that are known by name, and their list."""

import json

import pytest
from conftest import WITHOUT_PNETCDF

pytestmark = pytest.mark.long

SMALL = {
    "flash": ["--blocks-per-rank", "1", "--zones", "2,3,4"],
    "wrf": ["--grid", "9,8,3"],
    "mpas": ["--cells", "60", "--levels", "2"],
    "vpic": ["--particles", "100", "--steps", "2"],
    "bdcats": ["--particles", "100", "--first-particles", "7"],
    "ior-easy": ["--bytes", "4K", "--buffer", "1K"],
    "ior-hard": ["--segments", "2"],
    "macsio": ["--parts-per-rank", "1.5", "--part-size", "96"],
    "restart": ["--grid", "8,8,8", "--written-by", "3"],
}


def listed(run, *args):
    done = run("slabmark bench", ["list", "--json", "-", *args])
    assert done.returncode == 0, done.stderr
    return {row["name"]: row for row in json.loads(done.stdout)["workloads"]}


@pytest.mark.parametrize("workload", SMALL)
def test_what_a_workload_moves_is_what_the_list_says(run, tmp_path, workload):
    method = "mpiio-collective" if WITHOUT_PNETCDF else "pnetcdf-vara"
    done = run("slabmark bench", [workload, *SMALL[workload], "--method", f"{method},mpiio-rearranged", "--trials", "1", "-d", tmp_path,
                                  "--json", tmp_path / "records.jsonl"], ranks=4)
    assert done.returncode == 0, done.stderr
    row = listed(run, "--ranks", "4", *SMALL[workload])[workload]
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert len(records) == 4, "two methods and two bounds"
    assert {record["direction"] for record in records} == {"read" if row["only_reads"] else "write"}
    assert all(record["verified"] for record in records)
    own = records[0]["pattern"]
    assert own["name"] == workload and own["settings"] == row["sizes"] | own["settings"]
    assert (own["bytes"], own["requests"]["total"]) == (row["bytes"], row["requests"])


@pytest.mark.fast
def test_the_list_names_each_workload_with_its_source(run):
    found = listed(run)
    assert set(found) == set(SMALL)
    assert all(row["source"] and row["bytes"] > 0 and row["requests"] > 0 for row in found.values())
    assert {name for name, row in found.items() if row["only_reads"]} == {"bdcats", "restart"}
    text = run("slabmark bench", ["list"]).stdout
    assert max(map(len, text.splitlines())) <= 80 and "on 4 ranks" in text


@pytest.mark.fast
def test_a_workload_that_does_not_fit_the_ranks_has_its_reason_in_the_list(run):
    found = listed(run, "--ranks", "64", "--cells", "100")
    assert found["mpas"]["bytes"] is None and "two cells" in found["mpas"]["unsupported_reason"]
    assert found["vpic"]["bytes"] == 64 * 262144 * 32


@pytest.mark.fast
@pytest.mark.parametrize("words, culprit", [
    (["ior-easy", "--bytes", "3M", "--buffer", "2M"], "not a multiple"),
    (["bdcats", "--particles", "5", "--first-particles", "6"], "--first-particles"),
    (["macsio", "--part-size", "56"], "--part-size"),
    (["wrf", "--grid", "1,1,1"], "--grid"),
    (["restart", "--written-by", "1000000", "--grid", "4,4,4"], "processes"),
])
def test_sizes_that_make_no_workload_are_one_sentence(run, tmp_path, words, culprit):
    done = run("slabmark bench", [*words, "--method", "posix", "--trials", "1", "-d", tmp_path], ranks=2)
    assert done.returncode == 2 and culprit in done.stderr, done.stderr
    assert done.stderr.count("error:") == 1
    assert not any(tmp_path.iterdir())
