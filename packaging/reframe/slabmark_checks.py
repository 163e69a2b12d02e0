"""ReFrame tests of Slabmark (ReFrame 4): a nightly track, a comparison with a base, and an acceptance.

    reframe -c slabmark_checks.py -n slabmark_track -r -S study=$HOME/study.toml -S store=$HOME/nights.db

Their programs start ranks by the template of the study or suite, so a test is one process of a job. docs/how-to/track-nights.md says more.
"""

import json
import os
import re
import shlex

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher


class slabmark_base(rfm.RunOnlyRegressionTest):
    """A command of `slabmark` that judges, and prints JSON with --json -: `failed`, what made its exit status 1."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "slabmark"
    verdicts = "cells"  # member of the JSON that has them
    job_nodes = variable(int, value=1)  # of the job that ReFrame submits on a partition with a scheduler
    time_limit = "1d"

    @run_before("run")
    def start_no_ranks(self):
        self.job.launcher = getlauncher("local")()
        self.num_tasks, self.num_tasks_per_node = self.job_nodes, 1

    @deferrable
    def told(self):
        """What the command printed, as JSON."""
        with open(os.path.join(self.stagedir, str(self.stdout))) as lines:
            return json.loads(next(line for line in lines if line.startswith("{")))

    @sanity_function
    def nothing_failed(self):
        found = sn.evaluate(self.told())
        wrong = [
            f"{entry['verdict']}: {entry.get('workload', '')} {entry['cell']}"
            for entry in found[self.verdicts]
            if entry["verdict"] in found["failed"]
        ]
        wrong += [
            f"invalid: {rule['name']}: {'; '.join(rule['broken'][:3])}" for rule in found.get("rules", []) if not rule["met"]
        ]
        return sn.assert_true(not found["failed"], f"{', '.join(found['failed'])}: {'; '.join(wrong)}")

    @run_before("performance")
    def measured(self):
        self.perf_variables = {
            re.sub(r"[^A-Za-z0-9_.=+-]+", "_", name): sn.make_performance_function(sn.defer(value), unit)
            for name, value, unit in self.values()
        }

    def values(self):
        """[(name, value, unit)] for the performance log."""
        return []


@rfm.simple_test
class slabmark_track(slabmark_base):
    """A night: measures a study, adds it to a store, and fails if a cell is slower than it was, or missing."""

    descr = "slabmark: is tonight slower than last month?"
    study = variable(str, value="")
    store = variable(str, value="")
    page = variable(str, value="track.html")  # in the stage folder, unless it is a path
    options = variable(typ.List[str], value=[])  # more of `slabmark track report`
    keep_files = ["track.html", "track.xml"]

    @run_after("init")
    def needs(self):
        self.skip_if(not (self.study and self.store), "name the study and the store: -S study=FILE -S store=FILE")

    @run_before("run")
    def command(self):
        store = shlex.quote(os.path.abspath(self.store))
        self.prerun_cmds = [
            f"slabmark sweep {shlex.quote(os.path.abspath(self.study))} -r night >&2 || exit 2",
            f"slabmark track add {store} night >&2 || exit 2",
        ]
        self.executable_opts = [
            "track",
            "report",
            store,
            "-o",
            shlex.quote(self.page),
            "--junit",
            "track.xml",
            "--json",
            "-",
            *self.options,
        ]
        self.postrun_cmds = [f"slabmark track query {store} cells --json - >cells.jsonl"]

    def values(self):
        with open(os.path.join(self.stagedir, "cells.jsonl")) as lines:
            for cell in map(json.loads, lines):
                yield f"{cell['workload']}_{cell['cell']}", cell["latest_seconds"], "s"


@rfm.simple_test
class slabmark_compare(slabmark_base):
    """Measures a study, and fails if a cell is slower than in the records of a base, or missing."""

    descr = "slabmark: is this slower than the base?"
    study = variable(str, value="")
    base = variable(str, value="")
    options = variable(typ.List[str], value=[])  # more of `slabmark compare`

    @run_after("init")
    def needs(self):
        self.skip_if(not (self.study and self.base), "name the study and the base: -S study=FILE -S base=RECORDS")

    @run_before("run")
    def command(self):
        self.prerun_cmds = [f"slabmark sweep {shlex.quote(os.path.abspath(self.study))} -r new >&2 || exit 2"]
        self.executable_opts = ["compare", shlex.quote(os.path.abspath(self.base)), "new", "--json", "-", *self.options]

    def values(self):
        for cell in sn.evaluate(self.told())["cells"]:
            yield f"{cell['workload']}_{cell['cell']}", cell["seconds"]["new"], "s"


@rfm.simple_test
class slabmark_accept(slabmark_base):
    """Runs an acceptance suite, and fails if a target is missed or the result is not valid."""

    descr = "slabmark: does the file system meet its targets?"
    suite = variable(str, value="")
    options = variable(typ.List[str], value=[])  # more of `slabmark accept`
    verdicts = "targets"
    keep_files = ["accept.html"]

    @run_after("init")
    def needs(self):
        self.skip_if(not self.suite, "name the suite: -S suite=FILE")

    @run_before("run")
    def command(self):
        suite = shlex.quote(os.path.abspath(self.suite))
        self.executable_opts = ["accept", suite, "-r", "results", "-o", "accept.html", "--json", "-", *self.options]

    def values(self):
        units = {"limit": "share", "rate": "B/s", "files": "files/s"}
        for target in sn.evaluate(self.told())["targets"]:
            if target["measured"]["median"] is not None:
                yield f"{target['cell']}_{target['kind']}", target["measured"]["median"], units[target["kind"]]
