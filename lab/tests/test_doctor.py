"""slabmark doctor, and the command line of slabmark."""

import json
import os

import pytest
from slabmark import __version__, file_systems, findings

HEALTHY = {
    "mpi_io": "ROMIO",
    "libraries": {"hdf5": "2.2.0", "pnetcdf": "1.12.3"},
    "ranks": 2,
    "cores": 8,
    "output": {"type": "lustre"},
    "ranks_per_node": {"max": 2},
    "program": {"build_type": "Release"},
    "host": {"load": 0.1, "dirty": 0, "memory": 1 << 34, "shared_memory": True, "plugins": ""},
}


WRONG = {
    "slow-mpi-io": {"mpi_io": "OMPIO"},
    "overlaps-fail": {"mpi_io_faults": ["collective-overlaps"]},
    "foreign-launcher": {"ranks": 1},
    "no-pnetcdf": {"libraries": {"hdf5": "2.2.0"}},
    "memory-file-system": {"output": {"type": "tmpfs"}},
    "busy-machine": {"host": HEALTHY["host"] | {"load": 7.0}},
    "dirty-pages": {"host": HEALTHY["host"] | {"dirty": 1 << 33}},
    "no-shared-memory": {"host": HEALTHY["host"] | {"shared_memory": False}},
    "unsigned-plugins": {"host": HEALTHY["host"] | {"unsigned": ["/opt/lib/libslablog.so"]}},
    "foreign-plugins": {"host": HEALTHY["host"] | {"plugins": "/usr/lib"}},
}


def diagnosed(manifest):
    return findings.of_manifest(manifest) + findings.of_host(manifest, 2)


def test_a_healthy_machine_has_nothing_wrong():
    assert diagnosed(HEALTHY) == []


@pytest.mark.parametrize("code", WRONG)
def test_what_is_wrong_is_named_with_a_remedy(code):
    [finding] = diagnosed(HEALTHY | WRONG[code])
    assert finding.code == code and finding.remedy.endswith(".")


@pytest.mark.parametrize(
    "striping, alone",
    [
        ("lmm_stripe_count:  1\nlmm_stripe_size: 1048576", True),
        ("stripe_count:  1 stripe_size:   1048576 pattern: raid0 stripe_offset: -1", True),  # of a folder
        ("stripe_count:  -1 stripe_size:   1048576 pattern: raid0", False),
        ("lcme_id: 1\nlmm_stripe_count:  1\nlcme_id: 2\nlmm_stripe_count:  8", False),  # a small component before a large one
    ],
)
def test_one_stripe_is_found_in_what_lfs_says_of_files_and_folders(striping, alone):
    found = findings.of_manifest(HEALTHY | {"output": {"type": "lustre", "lustre": {"striping": striping}}})
    assert [finding.code for finding in found] == ["one-stripe"] * alone


@pytest.mark.parametrize("kind, words", [("lustre", "-c 8 "), ("gpfs", "stat -c %o"), ("beegfs", "--numtargets=8")])
def test_what_to_set_is_told_for_a_parallel_file_system_with_its_source(kind, words):
    [lines] = file_systems.advice({"output": {"type": kind}, "hosts": ["a", "b"]}, "/my folder")
    assert words in lines and "'/my folder'" in lines and "Source: " in lines
    assert file_systems.advice({"output": {"type": "ext4"}}, "/my folder") == []


def test_the_doctor_tells_what_the_programs_tell(run, tmp_path):
    launcher = os.environ.get("SLABMARK_MPIEXEC", "mpiexec") + " -n {ranks} {command}"
    done = run("slabmark", ["doctor", "--launch", launcher, "-n", "2", "-d", tmp_path])
    told = json.loads(run("slabmark bench", ["environment", "-d", tmp_path], ranks=2).stdout)
    assert done.returncode in (0, 1), done.stderr
    file_system = told["output"]["type"] or "unknown"  # in a chroot, say
    assert all(word in done.stdout for word in (told["mpi_io"], told["libraries"]["hdf5"], file_system))
    assert "2 on 1 host, " in done.stdout
    assert {"posix", "hdf5-union"} <= {method["name"] for method in told["methods"]}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_ranks_that_do_not_know_of_each_other_are_a_foreign_launcher(run, tmp_path):
    twice = """sh -c 'echo "module {{x}} loaded"; shift; "$@"; "$@"' x {ranks} {command}"""
    done = run("slabmark", ["doctor", "--launch", twice, "-n", "2", "-d", tmp_path])
    assert done.returncode == 1 and "foreign-launcher: " in done.stdout, done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments, culprit",
    [
        ([], "A verb is missing"),
        (["repotr"], "did you mean 'report'"),
        (["report"], "RESULTS"),
        (["report", "absent.jsonl"], "absent.jsonl"),
        (["compare", "a"], "NEW"),
        (["sweep", "absent.toml"], "absent.toml"),
        (["report", "--track", "absent.db"], "absent.db"),
        (["report", "--track", "absent.db", "absent.jsonl"], "--track"),
        (["doctor", "--launch", "mpiexec -n 2"], "lacks"),
        (["doctor", "--fix-hints", "-d", "absent"], "absent"),
    ],
)
def test_wrong_usage_is_one_sentence_and_status_2(run, sentence, tmp_path, arguments, culprit):
    done = run("slabmark", arguments, cwd=tmp_path)
    assert done.returncode == 2 and culprit in sentence(done, "slabmark")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_help_and_version_are_there(run):
    assert "advise" in run("slabmark", ["--help"]).stdout
    assert run("slabmark", ["--version"]).stdout.startswith(f"slabmark {__version__}")
    assert "--tolerance" in run("slabmark", ["compare", "--help"]).stdout
