"""The ReFrame tests of packaging/reframe, run by the real ReFrame on simulated nights and a suite that is stood in for."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import LAB
from test_track import nights

CHECKS = LAB.parent / "packaging" / "reframe" / "slabmark_checks.py"
REFRAME = shutil.which("reframe", path=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")

pytestmark = [pytest.mark.long, pytest.mark.skipif(REFRAME is None, reason="ReFrame is not installed (PyPI: ReFrame-HPC)")]


@pytest.fixture
def site(tmp_path):
    """A folder with a `slabmark` whose `sweep` copies tonight.jsonl; all else is the real one."""
    (tmp_path / "bin").mkdir()
    slabmark = tmp_path / "bin" / "slabmark"
    slabmark.write_text(
        f'#!/bin/sh\n[ "$1" = sweep ] && {{ mkdir -p "$4" && cp {tmp_path}/tonight.jsonl "$4/records.jsonl"; exit; }}\n'
        f'PYTHONPATH={LAB} exec {sys.executable} -m slabmark "$@"\n'
    )
    slabmark.chmod(0o755)
    (tmp_path / "study.toml").write_text("")
    return tmp_path


def reframe(folder, name, **variables):
    """(exit status, what it printed) of one of the tests."""
    words = [REFRAME, "-c", str(CHECKS), "-n", f"^{name}$", "-r", "--prefix", str(folder / "reframe"), "--performance-report"]
    for variable, value in variables.items():
        words += ["-S", f"{variable}={value}"]
    surroundings = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder)}
    surroundings |= {"RFM_REPORT_FILE": str(folder / "report.json"), "RFM_ENABLE_RESULTS_STORAGE": "0", "TMPDIR": str(folder)}
    done = subprocess.run(words, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def test_a_nightly_reframe_run_makes_a_page_and_a_failing_status(site):
    """As docs/how-to/track-nights.md has it, after each of some simulated nights."""
    text = (LAB.parent / "docs/how-to/track-nights.md").read_text()
    [line] = re.findall(r"^    reframe -c (\S+) -n (slabmark_track) -r -S study=\S+ -S store=(\S+)$", text, re.M)
    assert (LAB.parent / line[0]).samefile(CHECKS)
    statuses = []
    for first, last, ratio in ((0, 21, 1.0), (21, 26, 1.5)):
        nights(site / "tonight.jsonl", first, last, ratio)
        status, said = reframe(site, line[1], study="study.toml", store="nights.db", page=site / "track.html")
        statuses.append(status)
        assert "Traceback" not in said, said
    assert statuses[0] == 0 and statuses[1] != 0, said
    assert "slower" in said and "hdf5-union" in said
    assert "1 slower, 1 unchanged." in (site / "track.html").read_text()
    [junit] = (site / "reframe").rglob("track.xml")
    assert 'failures="1"' in junit.read_text()


def test_a_comparison_fails_where_a_cell_is_slower_and_without_names_it_is_skipped(site):
    nights(site / "base.jsonl", 0, 1)
    nights(site / "tonight.jsonl", 1, 2, 2.0)
    status, said = reframe(site, "slabmark_compare", study="study.toml", base="base.jsonl")
    assert status != 0 and "slower" in said, said
    status, said = reframe(site, "slabmark_(accept|track)")
    assert status == 0 and "Ran 0/0" in said


def test_an_acceptance_that_is_not_valid_fails_with_its_rule(site):
    """What `slabmark accept --json -` prints is stood in for; test_accept.py has its members."""
    (site / "accept.json").write_text(json.dumps({
        "targets": [{"cell": "map", "kind": "rate", "verdict": "pass", "measured": {"median": 5.0}}],
        "rules": [{"name": "cold", "met": False, "broken": ["map: pages were in memory"]}],
        "failed": ["invalid"],
    }))  # fmt: skip
    (site / "bin" / "slabmark").write_text(f"#!/bin/sh\ncat {site}/accept.json\nexit 1\n")
    status, said = reframe(site, "slabmark_accept", suite="site.toml")
    assert status != 0 and "invalid: cold: map: pages were in memory" in said, said
