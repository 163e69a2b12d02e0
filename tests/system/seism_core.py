"""What the tests of seism-core-slice, seism-core-check and seism-read share."""

import os
import pathlib
import re

import pytest

GRIDS = {1: (1, 1, 1), 4: (1, 2, 2), 8: (2, 2, 2)}
SWITCHES = ["precreate", "collective_write", "set_collective_metadata", "never_fill"]


def lines(ranks=1, *more, chunk="9 8 8", domain="18 8 8", time=5):
    grid = " ".join(map(str, GRIDS[ranks]))
    return "\n".join([f"processor {grid}", f"chunk {chunk}", f"domain {domain}", f"time {time}", *more, "DONE", ""])


def soon():
    """Wrong input must be refused within 5 seconds, of a machine that has nothing else to do. The launcher takes most
    of them: Open MPI 4.1.4 may wait 2 seconds after a process ended with another status than 0."""
    return 5 * max(1.0, os.getloadavg()[0] / os.cpu_count())


def elements(ranks, domain=(18, 8, 8), time=5):
    return ranks * domain[0] * domain[1] * domain[2] * time


def gaussian(*arguments, argc=4):
    return ["use_function_lib libplugins.so", "use_function_name gaussian", f"use_function_argc {argc}",
            "use_function_argv " + " ".join(map(str, arguments)) + " "]


@pytest.fixture
def slice_(run, tmp_path):
    """slice_(text, ranks=1, args=(), cwd=tmp_path, **more): runs seism-core-slice with `text` as input."""

    def run_slice(text, ranks=1, args=(), cwd=tmp_path, **more):
        if "libplugins.so" in text and not (pathlib.Path(os.environ["SLABMARK_BIN"]) / "libplugins.so").exists():
            pytest.skip("this build has no plugins (BUILD_PLUGINS)")
        return run("seism-core-slice", args, ranks=ranks, input=text, cwd=cwd, **more)

    return run_slice


@pytest.fixture
def check(run, tmp_path):
    def run_check(name="seism-test.h5", ranks=2):
        return run("seism-core-check", [name], ranks=ranks, cwd=tmp_path)

    return run_check


def value(text, label):
    found = re.findall(rf"^{re.escape(label)}: +(.*)$", text, re.M)
    assert len(found) == 1, (label, text)
    return found[0]


def made(folder):
    """What a run on the input long.in has made in the folder. NAME.locktest.N is Open MPI's: OMPIO makes it for a moment
    when it opens a file, to try locks, and a rank that is killed then leaves it."""
    names = (path.name for path in folder.iterdir() if path.name != "long.in")
    return sorted(name for name in names if ".locktest." not in name)
