"""What is proved on one node, between nodes: the same tests, launched over them."""

import os
import pathlib
import shlex
import subprocess
import sys

import pytest
from conftest import programs, top
from nodes import PATIENCE

in_cpp = pathlib.Path(os.environ["SLABMARK_TESTS"])

# Nodes, ranks. Neighbours in rank are on different nodes, which is as far from one node as can be.
shapes = [pytest.param(nodes, ranks, id=f"{nodes}x{ranks // nodes}") for nodes, ranks in ((3, 3), (4, 8))]

# Those that move data between ranks; of the conformance suite the methods that do.
suites = {
    "collective_exchange": "*",
    "collective": "*",
    "accel_c_library": "*",
    "collective_filters": "*",
    "bench_method": "Rearranged.*:Floor.*:*/mpiio_collective:*/pnetcdf_varn:*/hdf5_slab:*/blob:*/*_rearranged:*/*rearranged*node_ranks*:*/*rearranged*deflate*",
    "accel_slices": "*",
    "bench_map": "*",
    "bench_checkpoint": "*",
    "accel_hdf5_connector": "*",
}


@pytest.mark.parametrize("nodes, ranks", shapes)
@pytest.mark.parametrize("suite", suites)
def test_ranks_on_several_nodes_pass_the_tests_of_a_module(cluster, folder, suite, nodes, ranks):
    if not (in_cpp / f"test_{suite}").exists():
        pytest.skip(f"this build has no tests of {suite}")
    done = cluster.run(ranks, in_cpp / f"test_{suite}", f"--gtest_filter={suites[suite]}", "--gtest_brief=1", nodes=cluster.nodes[:nodes],
                       environment={"TMPDIR": str(folder)}, timeout=4 * PATIENCE)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize("nodes, ranks", shapes)
def test_whole_files_by_all_ways_of_writing_are_right_element_by_element(bench, cluster, nodes, ranks):
    methods = ["pnetcdf-rearranged", "hdf5-rearranged", "mpiio-rearranged", "blob"]
    done, records = bench(ranks, methods, "--trials", "1", nodes=cluster.nodes[:nodes])
    assert done.returncode == 0, done.stderr
    assert {record["method"]: record["verified"]["state"] for record in records} == dict.fromkeys(methods, "yes")
    for record in records:
        if record["method"].endswith("-rearranged"):
            assert record["effective"]["nodes"] == nodes
            assert record["effective"]["messages"] > 0


@pytest.mark.parametrize("tests", [
    "test_pnetcdf_dropin.py -k 'random_calls_return or cases'",
    "test_rearrange_library.py -k 'not full'",  # a small disk is mounted for the launcher's own processes alone
    "test_h5perf.py",
    "test_seism_core.py",
    "test_slablog.py",
    "test_slablog_canonical.py",
    "test_slice_library.py",
    "test_capture_levels.py",
    "test_capture_lives.py",
    "test_capture_methods.py",
    "test_capture_played.py",
])
def test_programs_pass_their_own_tests_with_ranks_on_three_nodes(cluster, folder, tests):
    file, *options = shlex.split(tests)
    launcher = cluster.write_launcher(folder / "launch", nodes=cluster.nodes[:3])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-x", "--durations=5", "-p", "no:cacheprovider",
         f"--basetemp={folder / 'files'}", f"--rootdir={top / 'tests/system'}", f"--confcutdir={top / 'tests/system'}",
         top / "tests/system" / file, *options],
        capture_output=True, text=True, timeout=10 * PATIENCE,
        env={**os.environ, "SLABMARK_MPIEXEC": str(launcher), "SLABMARK_BIN": str(programs), "TMPDIR": str(cluster.local),
             "SLABMARK_TEST_PATIENCE": str(PATIENCE / 60)})
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
