"""Files on a file system that stripes them, as Lustre does: lustre_stand_in.c makes any folder look like one."""

import itertools
import json
import os
import pathlib

import pytest
from conftest import WITHOUT_PNETCDF, needs_pnetcdf, words_of

pytestmark = pytest.mark.long

BIN = pathlib.Path(os.environ["SLABMARK_BIN"])
UNIT = 48 << 10
# A file of more variables than stripes; the case of E3SM needs three maps.
PATTERN = ["decomp", "--variables", 9] if WITHOUT_PNETCDF else ["e3sm", "--case", "f-h0"]


@pytest.fixture
def map_file(make_map, tmp_path):
    return make_map(tmp_path, ne=4, ranks=16)


@pytest.fixture
def striped(run, tmp_path):
    """striped(program, args, ranks, count) -> (what it did, [(process, offset, bytes)] of its writes): tmp_path / "s"
    is on Lustre, in stripes of UNIT over `count` servers."""
    folder = tmp_path / "s"
    (folder / "bin").mkdir(parents=True)
    lfs = folder / "bin/lfs"
    lfs.write_text('#!/bin/sh\nprintf "%s\\nlmm_stripe_count:  $LUSTRE_COUNT\\nlmm_stripe_size:   $LUSTRE_UNIT\\n" "$2"\n')
    lfs.chmod(0o755)
    mounts = folder / "mounts"
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\nmds@tcp:/work {folder} lustre rw,flock 0 0\n")

    def start(program, args, ranks, count):
        writes = folder / "writes"
        writes.unlink(missing_ok=True)
        settings = {"LUSTRE_FOLDER": folder, "LUSTRE_UNIT": UNIT, "LUSTRE_COUNT": count, "LUSTRE_MOUNTS": mounts,
                    "LUSTRE_WRITES": writes, "PATH": f"{lfs.parent}:{os.environ['PATH']}",
                    "LD_PRELOAD": BIN / "lustre_stand_in.so"}
        done = run("/usr/bin/env", [*(f"{name}={value}" for name, value in settings.items()), *words_of(BIN, program), *args], ranks=ranks)
        lines = writes.read_text().splitlines() if writes.exists() else []
        return done, [tuple(map(int, line.split())) for line in lines]

    return start


def begins_of_ranges(writes):
    """Where a process goes on that another has written up to."""
    by_offset = sorted(writes, key=lambda write: write[1])
    return [later[1] for earlier, later in itertools.pairwise(by_offset)
            if earlier[0] != later[0] and earlier[1] + earlier[2] == later[1]]


@pytest.mark.parametrize("method", ["mpiio-rearranged", pytest.param("pnetcdf-rearranged", marks=needs_pnetcdf), "hdf5-rearranged"])
def test_aggregators_write_whole_stripes_and_are_a_multiple_of_the_servers(striped, map_file, tmp_path, method):
    records = tmp_path / "records.jsonl"
    done, writes = striped("slabmark bench", [*PATTERN, "--map", map_file, "--method", method, "--trials", 1,
                                              "--set", f"{method.partition('-')[0]}.node_ranks=1", "-d", tmp_path / "s", "-q",
                                              "--no-bound", "--json", records], 4, 3)
    assert done.returncode == 0, done.stderr
    record = json.loads(records.read_text())
    effective = record["effective"]
    assert (effective["alignment"], effective["alignment_from"]) == (UNIT, "hint striping_unit")
    assert (len(effective["aggregators"]), effective["aggregators_from"]) == (3, "nodes and hint striping_factor")
    assert record["verified"]["state"] == "yes"
    begins = begins_of_ranges(writes)
    assert len(begins) >= 2 and all(begin % UNIT < 8 for begin in begins), begins  # whole elements


def test_records_and_the_doctor_say_how_a_folder_is_striped(striped, map_file, tmp_path):
    records = tmp_path / "records.jsonl"
    args = ["decomp", "--map", map_file, "--method", "posix", "--trials", 1, "-o", tmp_path / "s", "-q", "--no-bound", "--json", records]
    striped("slabmark bench", args, 1, 4)[0].check_returncode()
    output = json.loads(records.read_text())["manifest"]["output"]
    assert output["type"] == "lustre" and "lmm_stripe_count:  4" in output["lustre"]["striping"]
    launcher = os.environ.get("SLABMARK_MPIEXEC", "mpiexec") + " -n {ranks} {command}"
    for count in (1, 4):
        done, _ = striped("slabmark", ["doctor", "--launch", launcher, "-n", 2, "-d", tmp_path / "s"], 1, count)
        assert ("one-stripe: " in done.stdout) == (count == 1), done.stdout + done.stderr
        assert "lfs setstripe -c 4 -S 1M" in done.stdout and "Source: https://doc.lustre.org" in done.stdout


def test_an_lfs_that_never_answers_is_ended_by_the_deadline(striped, map_file, tmp_path):
    (tmp_path / "s/bin/lfs").write_text("#!/bin/sh\nwhile kill -0 $PPID; do sleep 0.1; done\n")
    args = ["decomp", "--map", map_file, "--method", "posix", "--trials", 1, "-o", tmp_path / "s", "--no-bound", "--deadline", 1]
    done, _ = striped("slabmark bench", args, 2, 4)
    assert done.returncode == 1 and "The work before the first phase has taken more than 1 seconds" in done.stderr, done.stderr
    assert "posix" not in done.stdout
