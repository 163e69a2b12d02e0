"""`slabmark accept` on nodes of which one has a link half as fast: it is found, and none is where all are alike. Links are the
limit here, whatever else the cores do.

SLABMARK_CLUSTER_LAUNCHES says how many launches; five are the fewest that can find anything among four nodes here.
"""

import json
import os
import subprocess
import sys

import distributed
import pytest
from conftest import top

LAUNCHES = int(os.environ.get("SLABMARK_CLUSTER_LAUNCHES", 6))

SUITE = """
[suite]
name = "links"
launches = {launches}
timeout = 300
[machine]
nodes = 4
memory = "1G"
output = "{output}"
[launch]
template = "{launcher} --map-by seq --hostfile {{hostfile}} -n {{ranks}} {{command}}"
hosts = {hosts}
[[case]]
name = "nodes"
program = "slabmark probe"
arguments = ["nodes", "--pair-bytes", "8M", "--node-bytes", "8M", "--overwrite", "-d", "{{output}}"]
"""


@pytest.fixture(params=["one file system of the machine", "MooseFS"])
def output(cluster, folder, request):
    if request.param != "MooseFS":
        return folder
    if why := distributed.missing(request.param):
        pytest.skip(why)
    made = distributed.of(cluster, request.param).folder / folder.name
    made.mkdir()
    return made


@pytest.fixture
def links(cluster):
    """links(node): all of 800 Mbit/s, but half of that for this one."""

    def limit(slow=None):
        for node in cluster.nodes:
            node.limit(400 if node is slow else 800)

    yield limit
    for node in cluster.nodes:
        node.unlimit()


def accept(cluster, folder, output):
    launcher = cluster.write_launcher(folder / "launch", hosts=False)
    names = [node.name for node in cluster.nodes]
    text = SUITE.format(launches=LAUNCHES, output=output, launcher=launcher, hosts=json.dumps(names))
    (folder / "site.toml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "slabmark", "accept", folder / "site.toml", "--json", "-o", folder / "accept.html", "--fail-on",
         "slow-node"], capture_output=True, text=True, timeout=1200, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(top / "lab"), "TMPDIR": str(cluster.local)})
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    launches = next(rule for rule in found["rules"] if rule["name"] == "launches")
    assert launches["met"], launches
    return done.returncode, found


def test_a_node_whose_link_is_half_as_fast_is_found(cluster, folder, output, links):
    slow = cluster.nodes[2]
    links(slow)
    status, found = accept(cluster, folder, output)
    print(json.dumps(found["slow_nodes"]))
    assert status == 1 and {one["host"] for one in found["slow_nodes"]} == {slow.name}, found["slow_nodes"]
    by_messages = next(one for one in found["slow_nodes"] if one["by"] == "messages")
    assert 1.5 < by_messages["factor"] < 3


def test_no_node_is_blamed_where_all_links_are_alike(cluster, folder, output, links):
    links()
    status, found = accept(cluster, folder, output)
    assert status == 0 and found["slow_nodes"] == [], found["slow_nodes"]
