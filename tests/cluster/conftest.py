"""What the tests on a virtual cluster share. tests/cluster/run starts them within `enter`; the environment names

  SLABMARK_BIN        the folder of the programs
  SLABMARK_TESTS      the folder of the tests in C++
  SLABMARK_CLUSTER    the folder that `enter` has made
  SLABMARK_TEST_DATA  real decompositions; without, generated ones are taken
"""

import faulthandler
import json
import os
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from nodes import PATIENCE, Cluster  # noqa: E402

top = pathlib.Path(__file__).resolve().parents[2]
programs = pathlib.Path(os.environ["SLABMARK_BIN"])


@pytest.fixture(scope="session")
def cluster():
    """Four nodes, of which tests take as many as they like. The last one has the longest name that mpirun of
    Open MPI 4.1.4 bears: from 57 letters on its stack is smashed."""
    return Cluster(["node1", "node2", "node3", "n" * 56])


@pytest.fixture(scope="session")
def map_file(cluster):
    """A decomposition of an atmosphere's variables."""
    data = os.environ.get("SLABMARK_TEST_DATA")
    if data and (pathlib.Path(data) / "map_f_case_16p.nc").exists():
        return pathlib.Path(data) / "map_f_case_16p.nc"
    path = cluster.shared / "f.nc"
    done = cluster.run(1, programs / "slabmark", "decomp", "generate", "f", "--ne", "4", "--ranks", "16", "-o", path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture
def folder(cluster, request):
    """One of this test, that all nodes see."""
    path = cluster.shared / re.sub(r"[^\w.]+", "-", request.node.name)
    path.mkdir()
    return path


@pytest.fixture(autouse=True)
def no_hang(request):
    """A test that hangs in itself, not in a launch, which has a deadline of its own, ends all of them, with its name."""
    faulthandler.dump_traceback_later(20 * PATIENCE, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def bench(cluster, map_file, folder):
    """bench(ranks, methods, *options, **of Cluster.run) -> (what Cluster.run returns, records)"""

    def run(ranks, methods, *options, case="f-h0", output=None, **more):
        records = folder / "records.jsonl"
        records.unlink(missing_ok=True)
        done = cluster.run(ranks, programs / "slabmark", "bench", "e3sm", "--case", case, "--map", map_file, "--method",
                           ",".join(methods), "-d", output or folder, "--json", records, "-q", "--no-bound", *options, **more)
        found = [json.loads(line) for line in records.read_text().splitlines()] if records.exists() else []
        return done, found

    return run
