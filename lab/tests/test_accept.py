"""slabmark accept: suites, rules, verdicts, slow nodes, the report."""

import functools
import json
import math
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy
import pytest
from conftest import needs_pnetcdf, read_record, record
from slabmark import command_line, launch, statistics
from slabmark.accept import nodes, suite
from slabmark.errors import InputError
from slabmark.report import page

NODES, RANKS = 4, 2  # a node

SUITE = f"""
[suite]
name = "test"
launches = 8
memory = 2.0
spread = 0.5
[machine]
nodes = {NODES}
ranks_per_node = {RANKS}
memory = "1M"
file_systems = ["lustre"]
[launch]
template = "start {{hostfile}} -n {{ranks}} {{command}}"
hosts = ["n0", "n1", "n2", "n3"]
[[case]]
name = "transfer"
command = "transfer"
options = {{ bytes = "64K" }}
grow = "datasets"
bytes = "64K"
nodes = "one to all"
method = "posix"
[[case]]
name = "map"
command = "decomp"
map = "f --ne 4"
options = {{ map = "{{map}}" }}
method = ["pnetcdf-varn", "hdf5-log"]
direction = ["write", "read"]
tiny = {{ options = {{ map = "{{map}}", variables = "1" }} }}
"""


def simulated(seconds, order, method="posix", **more):
    """A record of ranks with their own seconds ([trial][rank]), the same number on each host in `order`."""
    each = len(seconds[0]) // len(order)
    made = record([max(trial) for trial in seconds], method=method, ranks=len(seconds[0]), **more)
    made["manifest"]["hosts"] = [{"name": host, "ranks": each} for host in order]
    for trial, own in zip(made["trials"][1:], seconds):
        slowest = int(numpy.argmax(own))
        trial["busy"] |= {"max": max(own), "median": float(numpy.median(own)), "mean": float(numpy.mean(own))}
        trial["busy"] |= {"slowest_rank": slowest, "slowest_host": order[slowest // each]}
    return made


class Cluster:
    """Stands for the launcher: writes what slabmark bench would have recorded on nodes of these names."""

    def __init__(self, slow=None, seed=1, noise=0.05):
        self.slow, self.noise = slow, noise
        self.generator = numpy.random.default_rng(seed)
        self.commands = []

    def run(self, command, timeout, environment, out, err=None, folder=None, descriptors=()):
        if "methods" in command:
            names = ("posix", "pnetcdf-varn", "hdf5-log", "hdf5-slab")
            out.write(json.dumps({"methods": [{"name": name, "options": []} for name in names]}).encode())
            return 0
        self.commands.append(command)
        if "generate" in command:
            pathlib.Path(command[command.index("-o") + 1]).write_text("a map")
            return 0
        after = lambda word: command[command.index(word) + 1]
        listed = pathlib.Path(command[1]).read_text().split()
        ranks = int(after("-n"))
        assert len(listed) == ranks and "--no-bound" not in command
        order = list(dict.fromkeys(listed))
        own = lambda scale: [
            [
                scale
                * (2.0 if host == self.slow else 1.0)
                * (1.3 if rank == 0 else 1.0)
                * self.generator.lognormal(0, self.noise)
                for rank, host in enumerate(listed)
            ]
            for _ in range(int(after("--trials")))
        ]
        limit = "pattern__name"
        with open(after("--json"), "a") as file:
            for method, scale, more in ((after("--method"), 2.0, {}), ("posix", 1.0, {limit: "bound"})):
                size = (8 if "datasets" not in " ".join(command) else int(after("--datasets"))) * 65536 * ranks
                made = simulated(own(scale), order, method, pattern__bytes=size, pattern__ranks=ranks, **more)
                made |= {
                    "direction": "read" if "--read" in command else "write",
                    "cache": "cold" if "--read" in command else None,
                }
                made["manifest"]["memory_bytes"] = 1 << 20
                file.write(json.dumps(made) + "\n")
        return 0


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """start(text of a suite, slow=None) puts a cluster in place of the launcher, and returns it and the suite's path."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "slabmark").write_text("the command")
    monkeypatch.setenv("SLABMARK_BIN", str(tmp_path / "bin"))

    monkeypatch.setattr(page, "MOST_DRAWN_WORKLOADS", 0)  # a figure takes longer than all else

    def start(text=SUITE, **more):
        made = Cluster(**more)
        monkeypatch.setattr(launch, "run", made.run)
        path = tmp_path / "site.toml"
        path.write_text(text)
        return made, path

    return start


def accept(path, *more):
    return command_line.main(["accept", str(path), "-o", str(path.parent / "accept.html"), *map(str, more)])


def answer(path, capsys, *more):
    capsys.readouterr()
    status = accept(path, "--json", "-", *more)
    told = capsys.readouterr()
    assert told.out, told.err
    return status, json.loads(told.out)


def target(**members):
    return "[[target]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in members.items())


@pytest.mark.long
def test_the_standard_suite_is_read_and_every_case_runs_on_all_nodes_or_from_one_to_all(run, tmp_path):
    path = tmp_path / "site.toml"
    assert command_line.main(["accept", "--new", str(path)]) == 0
    chosen = suite.read(path)
    with pytest.raises(InputError, match="still the template"):
        suite.check_completed(chosen)  # its nodes are nobody's
    path.write_text(path.read_text().replace('memory = "512G"', 'memory = "256G"'))
    suite.check_completed(suite.read(path))
    assert chosen.is_standard and {case.name for case in chosen.tables.case} >= {
        "checkpoint",
        "decomposition",
        "slices",
        "transfer",
        "log",
        "metadata",
        "nodes",
    }
    of_case = {}
    for cell in chosen.plan.cells:
        of_case.setdefault(cell.pattern, set()).add(cell.ranks // 32)
    assert of_case.pop("transfer") == of_case.pop("metadata") == {1, 2, 4, 8, 16} and set(map(frozenset, of_case.values())) == {frozenset([16])}
    both = {name for name in of_case if any("--read" in cell.arguments for cell in chosen.plan.cells if cell.pattern == name)}
    assert both == {"checkpoint", "decomposition"}
    changed = path.read_text().replace('domain = "256,256,64"', 'domain = "256,256,32"')
    path.write_text(changed)
    assert not suite.read(path).is_standard
    tiny = suite.read(path, tiny=True)
    assert len(tiny.plan.cells) == len(chosen.plan.cells) and not {cell.id for cell in tiny.plan.cells} & set(chosen.of_cell)


def test_sizes_follow_from_the_memory_of_the_nodes(cluster):
    _, path = cluster()
    plan = suite.read(path).plan
    # Twice the memory of n nodes of 1 MiB, by n x 2 ranks of 64 KiB each dataset.
    counts = {
        cell.ranks: cell.arguments[cell.arguments.index("--datasets") + 1] for cell in plan.cells if cell.pattern == "transfer"
    }
    assert counts == {2: "16", 4: "16", 8: "16"}
    path.write_text(SUITE.replace('memory = "1M"', 'memory = "3M"'))
    assert "48" in suite.read(path).plan.cells[0].arguments


@pytest.mark.long
def test_a_system_that_meets_all_is_accepted_and_its_report_stands_alone(cluster, capsys, tmp_path, monkeypatch):
    text = SUITE + target(case="map", limit=0.4) + target(case="transfer", nodes=4, rate="1M")
    made, path = cluster(text)
    monkeypatch.setattr(page, "MOST_DRAWN_WORKLOADS", 1)
    gates = ["--junit", tmp_path / "a.xml", "--openmetrics", tmp_path / "a.txt"]
    status, found = answer(path, capsys, *gates)
    assert status == 0 and found["valid"] and not found["failed"] and not found["slow_nodes"]
    assert [one["verdict"] for one in found["targets"]] == ["pass"] * 5
    assert all(one["measured"]["low"] <= one["measured"]["median"] <= one["measured"]["high"] for one in found["targets"])
    assert {one["what"] for one in found["hashes"]} == {"suite", "program", "records", "map"}
    html = (tmp_path / "accept.html").read_text()
    assert "Passed: all 5 targets. The result is valid." in html and "from one node to all" in html
    assert "http" not in html.replace("http://www.w3.org", "") and all(one["sha256"] in html for one in found["hashes"])
    suites = ElementTree.parse(tmp_path / "a.xml").getroot()
    assert suites.get("failures") == "0" and int(suites.get("tests")) == 5 + len(found["rules"])
    metrics = (tmp_path / "a.txt").read_text()
    assert len(re.findall('slabmark_accept_verdict="pass",.*} 1.0$', metrics, re.M)) == 5 and metrics.endswith("# EOF\n")
    ran = len(made.commands)
    assert accept(path) == 0 and len(made.commands) == ran, "what is measured is not measured again"


def test_targets_that_are_missed_fail_and_what_is_near_is_inconclusive_with_a_number_of_launches(cluster, capsys):
    # The cell takes twice the seconds of its limit, with the same spread.
    text = SUITE + target(case="map", method="hdf5-log", direction="write", limit=0.7)
    text += target(case="map", method="hdf5-log", direction="read", limit=0.5)
    text += target(case="map", method="hdf5-slab", limit=0.1)
    _, path = cluster(text.replace('"one to all"', '"all"').replace('"pnetcdf-varn", ', ""))
    status, found = answer(path, capsys)
    assert status == 1 and found["failed"] == ["fail", "missing"]
    failed, near, missing = found["targets"]
    assert failed["verdict"] == "fail" and failed["measured"]["high"] < 0.7
    assert near["verdict"] == "inconclusive" and (near["needed"] or 1001) > near["launches"] == 8
    assert missing["verdict"] == "missing"
    assert answer(path, capsys, "--fail-on", "none")[0] == 0
    assert answer(path, capsys, "--fail-on", "inconclusive")[0] == 1
    capsys.readouterr()
    accept(path)
    assert "a verdict takes" in capsys.readouterr().out


def test_too_few_launches_give_no_verdict_and_say_how_many_would(cluster, capsys):
    _, path = cluster(
        SUITE.replace("launches = 8", "launches = 5").replace('"one to all"', '"all"')
        + target(case="map", direction="write", rate="1")
    )
    status, found = answer(path, capsys)
    assert {one["verdict"] for one in found["targets"]} == {"inconclusive"}
    assert {one["needed"] for one in found["targets"]} == {7}, "2 targets: 1/64 of each side, where 6 launches have 1/32"
    _, found = answer(path, capsys, "--per-target")
    assert {one["needed"] for one in found["targets"]} == {6}


def broken(found):
    return [rule["name"] for rule in found["rules"] if not rule["met"]]


def bend(path, **members):
    """Changes the first record that a launch left of the first cell."""
    file = path.parent / "site-results" / "records.jsonl"
    lines = file.read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if '"pattern":"map"' in line and '"name":"bound"' not in line)
    made = json.loads(lines[place])
    for name, value in members.items():
        *tables, member = name.split("__")
        functools.reduce(lambda inner, table: inner[table], tables, made)[member] = value
    lines[place] = json.dumps(made)
    file.write_text("\n".join(lines) + "\n")


BENT = [
    ("file-system", {"manifest__output__type": "tmpfs"}),
    ("file-system", {"manifest__output__mount_point": "/other"}),
    ("nodes", {"manifest__hosts": [{"name": "n0", "ranks": 8}]}),
    ("verified", {"verified": {"state": "not asked"}}),
    ("alike", {"manifest__mpi": "Open MPI v5"}),
    ("release", {"manifest__program__build_type": "Debug"}),
    ("clocks", {"manifest__clocks": {"disagreement": {"rank": 1, "host": "n0", "rate": 2.0, "against": "its realtime clock"}}}),
    ("durable", {"sync": False, "direction": "write"}),
    ("cold", {"cache": "warm", "direction": "read"}),
]


def test_each_rule_is_broken_by_name(cluster, capsys):
    _, path = cluster(SUITE.replace("launches = 8", "launches = 1").replace('"one to all"', '"all"'))
    assert answer(path, capsys)[0] == 0
    whole = (path.parent / "site-results" / "records.jsonl").read_bytes()
    for rule, members in BENT:
        (path.parent / "site-results" / "records.jsonl").write_bytes(whole)
        bend(path, **members)
        status, found = answer(path, capsys)
        assert status == 1 and found["failed"] == ["invalid"] and rule in broken(found), (rule, broken(found))
        assert "Not valid for acceptance" in (path.parent / "accept.html").read_text()


def test_small_data_few_launches_and_a_wide_spread_are_named(cluster, capsys):
    text = SUITE.replace("launches = 8", "launches = 2") + target(case="transfer", nodes=1, rate="1")
    _, path = cluster(text.replace('bytes = "64K"\nnodes', 'bytes = "128K"\nnodes').replace("spread = 0.5", "spread = 0.0001"))
    assert broken(answer(path, capsys)[1]) == ["memory", "spread"]
    path.write_text(path.read_text().replace("launches = 2", "launches = 3"))
    found = answer(path, capsys, "--collect")[1]
    assert broken(found) == ["memory", "launches", "spread", "unchanged"], "the suite was edited after it was first run"


def test_a_tiny_run_is_never_valid(cluster, capsys):
    _, path = cluster(SUITE.replace("launches = 8", "launches = 1"))
    status, found = answer(path, capsys, "--tiny")
    assert status == 1 and "size" in broken(found)
    assert "it was run with --tiny" in (path.parent / "accept.html").read_text()


def test_a_failed_launch_breaks_a_rule_with_its_reason(cluster, capsys, monkeypatch):
    made, path = cluster(SUITE.replace("launches = 8", "launches = 1"))
    own = made.run

    def run(command, timeout, environment, out, *more, **others):
        if "hdf5-log" in command:
            out.write(b"rank 3: error: The disk of node7 is full.\n")
            return 1
        return own(command, timeout, environment, out, *more, **others)

    monkeypatch.setattr(launch, "run", run)
    status, found = answer(path, capsys)
    [rule] = [rule for rule in found["rules"] if not rule["met"]]
    assert status == 1 and rule["name"] == "launches" and any("The disk of node7 is full." in why for why in rule["broken"])


def test_a_node_with_half_the_link_is_found_on_the_simulated_cluster_and_rank_0_is_not_blamed(cluster, capsys):
    """Rank 0 always takes 1.3 times as long; it is on another node each time."""
    _, path = cluster(slow="n2")
    status, found = answer(path, capsys)
    assert status == 1 and found["failed"] == ["slow-node"]
    [slow] = found["slow_nodes"]
    assert slow["host"] == "n2" and slow["is_node"] and 1.5 < slow["factor"] < 2.5
    assert "slow: n2" in (path.parent / "accept.html").read_text()


HOSTS = [f"node{number:02}" for number in range(16)]


def simulated_launches(seed, slow=(), factor=2.0, launches=30, rotate=True, uneven=0.3, noise=0.10):
    """Of 16 nodes with 4 ranks each."""
    generator, made = numpy.random.default_rng(seed), []
    for number in range(launches):
        order = HOSTS[number % 16 :] + HOSTS[: number % 16] if rotate else HOSTS
        speed = numpy.repeat([factor if host in slow else 1.0 for host in order], 4)
        speed[0] *= 1 + uneven
        seconds = (speed * generator.lognormal(0, noise, (2, 64))).tolist()
        launched = {"cell_id": "c", "launch": number, "name": "s"}
        made.append(read_record(simulated(seconds, order, pattern__name="bound") | {"study": launched}))
    return nodes.search(made)


def test_a_node_of_16_with_half_the_link_is_found_each_time():
    for seed in range(10):
        found = simulated_launches(seed, slow=["node11"])
        assert [slow.host for slow in found.slow] == ["node11"] and found.slow[0].is_node
        assert 1.6 < found.slow[0].factor < 2.6
    assert len(found.hosts) == 16 and found.launches > 25


def test_two_slow_nodes_are_both_found_and_ten_launches_are_enough_for_one():
    for seed in range(5):
        assert {slow.host for slow in simulated_launches(seed, slow=["node03", "node11"]).slow} == {"node03", "node11"}
        assert [slow.host for slow in simulated_launches(seed, slow=["node03"], launches=10).slow] == ["node03"]


@pytest.mark.long
def test_nodes_that_are_alike_are_seldom_blamed():
    assert sum(bool(simulated_launches(seed).slow) for seed in range(60)) <= 4


def test_limits_in_which_ranks_wait_for_each_other_are_not_asked_where_there_are_others():
    generator, made = numpy.random.default_rng(3), []
    for number in range(12):
        order = HOSTS[number:] + HOSTS[:number]
        slow = [2.0 if host == "node05" else 1.0 for host in order]
        for method, seconds, trials in (("posix", slow, 3), ("mpiio-independent", [3.0, 3.3] + [3.0] * 14, 6)):
            noisy = (numpy.array(seconds) * generator.lognormal(0, 0.01, (trials, 16))).tolist()
            launched = {"study": {"cell_id": "c", "launch": number, "name": "s"}}
            made.append(read_record(simulated(noisy, order, method, pattern__name="bound") | launched))
    [slow] = nodes.search(made).slow
    assert (slow.host, slow.times) == ("node05", 12) and 1.9 < slow.factor < 2.1


def test_without_rotation_a_slow_rank_is_not_told_from_a_slow_node_and_that_is_said():
    found = simulated_launches(1, rotate=False, uneven=1.0)
    assert [slow.host for slow in found.slow] == ["node00"] and not found.slow[0].is_node
    assert not simulated_launches(1, rotate=True, uneven=1.0).slow


def probed(seed, speeds, launches=10, noise=0.10, method="messages"):
    """What slabmark probe records, launch by launch, of nodes that take so many times as long as the others."""
    generator, made = numpy.random.default_rng(seed), []
    for number in range(launches):
        seconds = (numpy.array(list(speeds.values())) * generator.lognormal(0, noise, len(speeds))).tolist()
        of_nodes = {"hosts": list(speeds), "seconds": [seconds, [*seconds[:-1], None]]}
        one = record([1.0], method=method, direction="exchange", pattern__name="messages between nodes")
        made.append(read_record(one | {"effective": {"of_nodes": of_nodes}, "study": {"cell_id": "c", "launch": number}}))
    return made


ALIKE = dict.fromkeys(HOSTS, 1.0)


def test_a_node_whose_messages_take_twice_as_long_is_found_in_few_launches():
    for seed in range(20):
        [slow] = nodes.search(probed(seed, ALIKE | {"node07": 2.0})).slow
        assert (slow.host, slow.by, slow.is_node, slow.times) == ("node07", "messages", True, 10) and 1.7 < slow.factor < 2.3
        four = {"a": 1.0, "b": 1.0, "c": 2.0, "d": 1.0}
        assert [slow.host for slow in nodes.search(probed(seed, four, launches=4)).slow] == ["c"]
        assert nodes.search(probed(seed, four, launches=2)).slow == [], "chance does as much"
    two = nodes.search(probed(1, ALIKE | {"node07": 2.0, "node09": 1.5}))
    assert two.slow_nodes == ["node07", "node09"] and list(two.factors["messages"])[:2] == ["node07", "node09"]


def test_the_probability_is_exact():
    """Four nodes, four launches, last in each: 4^-4, for any of the four nodes."""
    [slow] = nodes.search(probed(1, {"a": 1.0, "b": 1.0, "c": 1.0, "d": 9.0}, launches=4)).slow
    assert slow.probability == pytest.approx(4 * 4.0**-4)


def test_the_second_node_is_judged_among_those_that_are_left_and_no_node_as_surer_than_one_before_it():
    """Of 16 nodes and ten launches with places from the last on: a sum of at most s comes C(s + 10, 10) / 16^10 of the times."""
    chances = [math.comb(s + 10, 10) / 16**10 for s in (0, 10)]
    found = nodes.search(probed(1, ALIKE | {"node07": 99.0, "node09": 9.0})).slow
    assert [slow.host for slow in found] == ["node07", "node09"]
    assert [slow.probability for slow in found] == pytest.approx([16 * chances[0], 15 * chances[1]])
    turns = [probed(number, ALIKE | {"node07": 9.0 + number % 2 * 90, "node09": 30.0}, launches=1)[0] for number in range(10)]
    assert [slow.probability for slow in nodes.search(turns).slow] == pytest.approx(2 * [16 * math.comb(15, 10) / 16**10])


@pytest.mark.long
def test_nodes_that_are_alike_or_differ_by_less_than_the_tolerance_are_not_blamed():
    assert sum(bool(nodes.search(probed(seed, ALIKE, noise=0.5)).slow) for seed in range(100)) <= 9
    near = probed(1, ALIKE | {"node07": 1.06}, launches=40, noise=0.01)
    assert nodes.search(near).slow == [] and nodes.search(near, 0.03).slow_nodes == ["node07"]


def test_several_searches_share_the_probability_and_name_a_node_once():
    both = probed(1, ALIKE | {"node07": 2.0}) + probed(2, ALIKE | {"node07": 1.5}, method="file-a-node")
    found = nodes.search(both)
    assert [slow.by for slow in found.slow].count("messages") == 1 and found.slow_nodes == ["node07"]
    alone = nodes.search(both[:10]).slow[0]
    assert next(slow for slow in found.slow if slow.by == "messages").probability == pytest.approx(2 * alone.probability)


def test_two_nodes_tell_nothing_of_which_is_slow_and_one_is_not_looked_at():
    assert not nodes.search(probed(1, {"a": 1.0, "b": 2.0})).is_possible
    assert not nodes.search(probed(1, {"a": 1.0})).is_possible


def test_a_slow_node_that_was_probed_fails_the_acceptance_and_is_named_on_the_page(cluster, capsys, monkeypatch):
    case = '[[case]]\nname = "nodes"\nprogram = "slabmark probe"\narguments = ["nodes", "-d", "{output}"]\n'
    made, path = cluster(SUITE.replace('"one to all"', '"all"') + case)
    own, left = made.run, probed(1, {"n0": 1.0, "n1": 2.0, "n2": 1.0, "n3": 1.0}, launches=8)

    def run(command, *more, **others):
        if "probe" not in command:
            return own(command, *more, **others)
        of_nodes = left.pop().effective["of_nodes"]
        one = record([1.0], method="messages", direction="exchange", ranks=8, pattern__name="messages between nodes")
        one["manifest"] |= {"hosts": [{"name": host, "ranks": 2} for host in of_nodes["hosts"]], "memory_bytes": 1 << 20}
        pathlib.Path(command[command.index("--json") + 1]).write_text(json.dumps(one | {"effective": {"of_nodes": of_nodes}}) + "\n")
        return 0

    monkeypatch.setattr(launch, "run", run)
    gates = ["--junit", path.parent / "a.xml", "--openmetrics", path.parent / "a.txt"]
    status, found = answer(path, capsys, *gates)
    assert status == 1 and found["failed"] == ["slow-node"], found["rules"]
    [slow] = found["slow_nodes"]
    assert (slow["host"], slow["by"]) == ("n1", "messages")
    html = (path.parent / "accept.html").read_text()
    assert "slow: n1" in html and "messages took" in html and "messages: seconds of a node" in html
    assert 'slabmark_accept_slow_nodes{node="n1"} 1' in (path.parent / "a.txt").read_text()
    assert ElementTree.parse(path.parent / "a.xml").getroot().get("failures") == "1"


def test_the_interval_of_the_median_widens_with_the_confidence_and_the_number_needed_is_about_right():
    assert [statistics.fewest_for_interval(alpha) for alpha in (0.05, 0.025, 0.05 / 25)] == [6, 7, 10]
    assert statistics.median_interval(10) == statistics.median_interval(10, 0.05) and statistics.median_interval(10)[:2] == (2, 9)
    assert statistics.median([1.0] * 5) == (1.0, None, None) and statistics.median([3.0, 1.0, 2.0] * 4, 0.01)[1:] == (1.0, 3.0)
    generator = random.Random(5)
    draw = lambda count: [generator.lognormvariate(0, 0.1) for _ in range(count)]
    count = int(numpy.median([statistics.median_needed(draw(10), 1.1) or 1001 for _ in range(100)]))
    leaves_out = sum(not low <= 1.1 <= high for _, low, high in (statistics.median(draw(count)) for _ in range(400))) / 400
    assert 0.6 < leaves_out < 0.95, count
    assert statistics.median_needed([1.0, 2.0, 3.0], 2.0001) is None


@pytest.mark.long
@pytest.mark.parametrize(
    "scheduler, nodes_of_job",
    [
        ("slurm", 'scontrol() { printf "n0\\nn1\\nn2\\nn3\\n"; }'),
        ("pbs", "export PBS_NODEFILE=$PWD/nodes"),
        ("flux", 'flux() { printf "n0\\nn1\\nn2\\nn3\\n"; }'),
    ],
)
def test_a_job_script_rotates_the_nodes_of_its_job(cluster, tmp_path, capsys, scheduler, nodes_of_job):
    text = SUITE.replace('hosts = ["n0", "n1", "n2", "n3"]', "").replace("launches = 8", "launches = 2")
    text = text.replace("start {hostfile} -n", f"{sys.executable} start.py {{hostfile}} -n")
    _, path = cluster(text + f"[job]\npreamble = [{json.dumps(nodes_of_job)}]\n")
    (tmp_path / "start.py").write_text(
        "import sys, shutil\nshutil.copy(sys.argv[1], sys.argv[1] + '.seen')\n"
        f"open(sys.argv[sys.argv.index('--json') + 1], 'w').write({json.dumps(json.dumps(record([1.0])))} + '\\n')\n"
    )
    (tmp_path / "nodes").write_text("n0\nn0\nn1\nn2\nn3\n")
    assert accept(path, "--job", scheduler) == 0
    line = shlex.split(capsys.readouterr().out.partition("Afterwards:")[2])
    assert line[:2] == ["slabmark", "accept"] and line[-1] == "--collect"
    script = tmp_path / "site-results" / "job.sh"
    subprocess.run(["bash", script], check=True, cwd=tmp_path, env=os.environ | {"SLURM_JOB_NODELIST": "n[0-3]"})
    seen = [file.read_text().split() for file in (tmp_path / "site-results" / "launches").glob("*.seen")]
    assert len(seen) == 2 * 7 and all(len(hosts) % RANKS == 0 and hosts[0] == hosts[1] for hosts in seen)
    assert {hosts[0] for hosts in seen} == {"n0", "n1", "n2", "n3"}
    assert accept(path, "--collect", "--fail-on", "none") == 0
    assert accept(path, "--job", "slrum") == 2 and 'Did you mean "slurm"' in capsys.readouterr().err


def test_hosts_of_a_job_are_asked_of_its_scheduler_and_too_few_are_refused(cluster, tmp_path, monkeypatch, capsys):
    _, path = cluster(SUITE.replace('hosts = ["n0", "n1", "n2", "n3"]', "").replace("launches = 8", "launches = 1"))
    for name in ("SLURM_JOB_NODELIST", "PBS_NODEFILE", "FLUX_ENCLOSING_ID"):
        monkeypatch.delenv(name, raising=False)
    assert accept(path) == 2 and "4 nodes, and 0 are known" in capsys.readouterr().err
    (tmp_path / "nodes").write_text("n0\nn0\nn1\nn2\n")
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "nodes"))
    assert accept(path) == 2 and "4 nodes, and 3 are known" in capsys.readouterr().err
    (tmp_path / "nodes").write_text("n0\nn1\nn2\nn3\n")
    assert accept(path) == 0


@pytest.mark.parametrize(
    "wrong, culprit",
    [
        (SUITE.replace("launches", "lanches"), 'Did you mean "launches"'),
        (SUITE.replace('memory = "1M"', 'memory = "1X"'), "'1X' is no size"),
        (SUITE.replace('bytes = "64K"\nnodes', "nodes"), "'bytes' or 'bytes_of_all'"),
        (SUITE.replace('name = "map"', 'name = "transfer"'), "two cases are called 'transfer'"),
        (SUITE + target(case="trnsfer", limit=0.5), 'Did you mean "transfer"'),
        (SUITE + target(case="map", nodes=2, limit=0.5), "map on 2 nodes"),
        (SUITE + target(case="map", limit=0.5, rate="1G"), "one of 'limit'"),
        (SUITE.replace("{ranks}", ""), "lacks {ranks}"),
        (SUITE + target(nodes=3, limit=0.5), "about 3 nodes, and"),
        (SUITE + target(case="map", method="posx", limit=0.5), 'Did you mean "posix"'),
        (SUITE.replace('"hdf5-log"', '"hdf5-lgo"'), 'Did you mean "hdf5-log"'),
        (SUITE.replace('bytes = "64K"\nnodes', "bytes = 0\nnodes"), "'1.bytes' of [case]"),
        (SUITE.replace('bytes = "64K"\nnodes', "bytes = nan\nnodes"), "'1.bytes' of [case]"),
        (SUITE.replace('memory = "1M"', "memory = inf"), "'memory' of [machine]"),
        (SUITE.replace("f --ne 4", "f --ne '4"), "is no line of words"),
        (SUITE.replace('method = "posix"', 'method = "posix"\ntiny = { bytes_of_all = 5 }'), "'tiny' of the case 'transfer'"),
        (SUITE.replace("tiny = { options", "tiny = { optoins"), 'Did you mean "options"'),
        (SUITE.replace("tiny = {", 'tiny = { direction = "x",'), "'direction.1' in 'tiny' of the case 'map'"),
        (SUITE.replace("tiny = {", 'tiny = { grow = "x",'), "'grow' in 'tiny'"),
        (SUITE.replace("{ranks}", "{ranks:{x}}"), "cannot be read"),
        (SUITE.replace("{ranks}", "{ranks:{nodes.q}}"), "cannot be read"),
        ("[suite", "not TOML"),
    ],
)
def test_a_wrong_suite_is_one_sentence_that_names_the_culprit(cluster, wrong, culprit):
    _, path = cluster(wrong)
    with pytest.raises(InputError) as error:
        suite.read(path)
    assert culprit in str(error.value) and "site.toml" in str(error.value)


def test_a_suite_that_is_changed_before_anything_is_launched_is_unchanged(cluster, capsys):
    _, path = cluster(SUITE.replace("launches = 8", "launches = 1") + target(case="map", limit=0.1))
    assert accept(path, "--job", "slurm") == 0
    path.write_text(path.read_text().replace("spread = 0.5", "spread = 0.6"))
    found = answer(path, capsys)[1]
    assert "unchanged" not in broken(found)
    path.write_text(path.read_text().replace("spread = 0.6", "spread = 0.7"))
    assert "unchanged" in broken(answer(path, capsys)[1])


def test_a_suite_is_utf_8_wherever_it_is_read(cluster, tmp_path):
    _, path = cluster(SUITE.replace('name = "test"', 'name = "Größe"'))
    chosen = suite.read(path)
    path.write_bytes(b"\xff")
    assert "Größe" in chosen.text and chosen.tables.suite.name == "Größe"


def test_wrong_usage_writes_nothing(cluster, tmp_path, capsys):
    _, path = cluster()
    assert command_line.main(["accept"]) == 2 and "--new FILE" in capsys.readouterr().err
    assert command_line.main(["accept", "--new", str(path)]) == 2, "it is there"
    assert accept(path, "--fail-on", "fial") == 2 and 'Did you mean "fail"' in capsys.readouterr().err
    assert accept(path, "--collect") == 2 and "no folder of results" in capsys.readouterr().err
    assert accept(path, "--collect", "--retry") == 2 and "--retry" in capsys.readouterr().err
    assert not (tmp_path / "accept.html").exists()


@pytest.mark.long
@needs_pnetcdf
def test_the_real_programs_run_a_tiny_suite(run, tmp_path):
    launcher = os.environ.get("SLABMARK_MPIEXEC", "mpiexec")
    path = tmp_path / "site.toml"
    text = suite.standard().replace("nodes = 16 ", "nodes = 1 ").replace("ranks_per_node = 32", "ranks_per_node = 2")
    text = (
        text.replace('"/scratch"', '"."')
        .replace("launches = 10 ", "launches = 1 ")
        .replace('nodes = 16\nrate = "100G"', 'rate = "1K"')
    )
    lines = [line for line in text.splitlines() if not line.startswith("template")]
    place = lines.index(next(line for line in lines if line.startswith("[launch]")))
    lines.insert(place + 1, f"template = {json.dumps(launcher + ' -n {ranks} {command}')}")
    text = "\n".join(lines).replace('["hdf5-rearranged", "pnetcdf-rearranged", "pnetcdf-varn", "hdf5-union"]', '["pnetcdf-varn"]')
    text = text.replace('["mpiio-collective", "hdf5-contiguous", "pnetcdf-varn"]', '["mpiio-collective"]').replace(
        '["append", "hdf5-union"]', '["append"]'
    )
    text = text.replace('["posix", "mpiio-collective"]', '["posix"]').replace('method = "mpiio-collective"\n', "")
    path.write_text(text)
    done = run("slabmark", ["accept", path, "--tiny", "--json", "-", "-o", tmp_path / "a.html"], timeout=200)
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert not [rule for rule in found["rules"] if rule["name"] in ("launches", "verified", "durable") and not rule["met"]], found
    assert {"size", "file-system"} <= set(broken(found))
    html = (tmp_path / "a.html").read_text()
    assert "files a second" in html and all(f"metadata, {what}" in html for what in ("create", "stat", "open-read", "remove"))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.html", "site-tiny-results", "site.toml"]
