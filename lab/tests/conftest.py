"""What the tests of the lab share: made-up records with known numbers, and the program fixtures of tests/system.

ctest sets the same variables as for those; the programs are needed only by tests that take the fixture `run`.
"""

import importlib.util
import json
import pathlib
import random
import sys

import pytest

LAB = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(LAB))

from slabmark import records  # noqa: E402

_spec = importlib.util.spec_from_file_location("program_fixtures", LAB.parent / "tests/system/conftest.py")
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)
run, sentence, real_data, processes = _fixtures.run, _fixtures.sentence, _fixtures.real_data, _fixtures.processes
needs_pnetcdf = _fixtures.needs_pnetcdf


def over_ranks(value):
    same = dict.fromkeys(("min", "median", "mean", "max"), value)
    return same | {"ranks": 2, "variance": 0.0, "slowest_rank": 1, "slowest_host": "node1", "imbalance": 1.25}


def trial(seconds, warm_up=False):
    phases = {"create": 0.1 * seconds, "post": 0.7 * seconds, "close": 0.1 * seconds}
    return {
        "warm_up": warm_up,
        "round": 0,
        "position": 0,
        "open_to_close": seconds,
        "transfer": 0.7 * seconds,
        "overhead": 0.1 * seconds,
        "phases": {name: {"seconds": s, "ranks": over_ranks(s)} for name, s in phases.items()},
        "busy": over_ranks(seconds),
        "slowest_split": {},
        "spans": {},
    }


def record(seconds, method="pnetcdf-varn", ranks=2, started="2026-01-01T00:00:00.000Z", **more):
    """A record with these measured seconds after a warm-up of 9 s. `more` replaces members at the top level, or in the
    pattern, the settings or the manifest where a name has two underscores: manifest__mpi_io="OMPIO"."""
    made = {
        "slabmark_record": 1,
        "pattern": {
            "name": "decomposition",
            "settings": {"map": "maps/f.nc", "variables": "3"},
            "datasets": 3,
            "rounds": 1,
            "bytes": 1 << 20,
            "requests": {"total": 100, "max": 60, "min": 40},
            "ranks": ranks,
        },
        "method": method,
        "direction": "write",
        "unsupported": None,
        "settings": {"options": {}, "hints": {}},
        "effective": {"calls": {"call": 3}, "hints": {}},
        "differences": [],
        "sync": True,
        "cache": None,
        "setup": {},
        "memory": {},
        "stopping": {"min_trials": 1, "max_trials": 1, "precision": 0.05, "time_budget": None, "reason": "fixed"},
        "order": {"seed": 1, "cells": 1},
        "trials": [trial(9.0, True), *map(trial, seconds)],
        "summary": {},
        "verified": {"state": "yes", "elements": 1, "by": "plain reader", "mismatch": None},
        "bounds": [{"method": "posix", "bytes": 1 << 20, "seconds": 0.25, "share": 0.0}],
        "manifest": {
            "program": {"name": "slabmark-bench", "version": "0.1.0", "git_revision": "abc", "compiler": "GNU",
                        "build_type": "Release"},
            "mpi": "Open MPI v4.1.4, package: x",
            "mpi_io": "ROMIO",
            "libraries": {"hdf5": "2.2.0", "pnetcdf": "1.12.3"},
            "ranks": ranks,
            "hosts": [{"name": "node1", "ranks": ranks}],
            "ranks_per_node": {"min": ranks, "max": ranks},
            "kernel": "Linux",
            "memory_bytes": 1 << 34,
            "cores": 8,
            "configuration_hash": "0",
            "seed": 1,
            "output": {"path": "/scratch", "mount_point": "/scratch", "type": "lustre", "source": "x",
                       "lustre": {"absent": "-"}},
            "environment": {},
            "job": None,
            "started": started,
            "ended": started,
        },
    }
    for name, value in more.items():
        table, _, member = name.rpartition("__")
        (made[table] if table else made)[member] = value
    return made


def read_record(made):
    return records.parse_line(json.dumps(made), "r.jsonl", 1)


def write_records(path, made):
    path.write_text("".join(json.dumps(one) + "\n" for one in made))
    return path


def noise(generator: random.Random, count, scale=1.0):
    """I/O-like seconds: log-normal, with a straggler now and then."""
    return [scale * generator.lognormvariate(0, 0.08) * (3 if generator.random() < 0.05 else 1) for _ in range(count)]


@pytest.fixture
def text_map(run, tmp_path):
    """text_map(number): one of the maps of an F case of 4 ranks as PIO text, which every build reads; alone in tmp_path."""

    def make(number):
        options = ["--ne", "2", "--ranks", "4", "--map-index", str(number), "--map-format", "dat"]
        run("slabmark decomp", ["generate", "f", *options, "-o", tmp_path / "f"]).check_returncode()
        [path] = tmp_path.glob("*.dat")
        return path

    return make


@pytest.fixture
def small_map(text_map):
    return text_map(1)


@pytest.fixture
def slurm():
    """run(*command) against a Slurm of one node."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import slurm as server

    with server.running() as run_command:
        yield run_command
