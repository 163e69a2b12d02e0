"""Job scripts of the sweep, submitted to a real Slurm over several nodes."""

import json
import subprocess

import pytest
import slurm_nodes
from conftest import programs

# What a user of these nodes writes into the preamble: addresses that messages may take.
STUDY = """
[study]
name = "nodes"
launches = {launches}
trials = 1
[launch]
template = "{template}"
ranks_per_node = 2
[[pattern]]
command = "e3sm"
options = {{ case = "f-h0", map = "{map}" }}
[axes]
ranks = [2, 6]
method = ["pnetcdf-rearranged", "hdf5-rearranged"]
[job]
queue = "test"
time = "00:30:00"
preamble = ["export OMPI_MCA_btl=tcp,vader,self OMPI_MCA_pml=ob1 OMPI_MCA_btl_tcp_if_include=198.18.0.0/24",
            "export OMPI_MCA_oob_tcp_if_include=198.18.0.0/24 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_io=^ompio",
            "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_hwloc_base_binding_policy=none"]
"""


@pytest.fixture(scope="module")
def queue(cluster):
    if why := slurm_nodes.missing():
        pytest.skip(why)
    return slurm_nodes.Slurm(cluster, cluster.nodes[:3])


def sweep(study, *options):
    return subprocess.run([programs / "slabmark", "sweep", study, *options], capture_output=True, text=True)


@pytest.mark.parametrize("template", [
    "mpirun -n {ranks} --map-by ppr:{ranks_per_node}:node {command}",
    "mpirun --hostfile {hostfile} -n {ranks} --map-by node {command}",
], ids=["mpirun", "hostfile"])
def test_a_job_of_three_nodes_measures_a_study_and_its_records_are_collected(queue, map_file, folder, template):
    study = folder / "nodes.toml"
    study.write_text(STUDY.format(template=template, map=map_file, launches=1))
    assert (done := sweep(study, "--job", "slurm")).returncode == 0, done.stderr
    assert "#SBATCH --nodes=3" in (folder / "nodes-results/job.sh").read_text()
    submitted = queue.run("sbatch", "--wait", folder / "nodes-results/job.sh")
    assert submitted.returncode == 0, submitted.stderr + slurm_nodes.logs_of(folder)
    done = sweep(study, "--collect")
    assert done.returncode == 0, done.stdout + done.stderr + slurm_nodes.logs_of(folder)
    records = [json.loads(line) for line in (folder / "nodes-results/records.jsonl").read_text().splitlines()]
    found = {}
    for record in records:
        if record["pattern"]["name"] != "bound":
            assert record["verified"]["state"] == "yes"
            found.setdefault((record["pattern"]["ranks"], record["method"]), []).append(record["effective"]["nodes"])
    methods = ("pnetcdf-rearranged", "hdf5-rearranged")
    assert found == {(ranks, method): [ranks // 2] for ranks in (2, 6) for method in methods}


def test_a_job_that_is_cancelled_is_submitted_again_and_goes_on_where_it_was(queue, map_file, folder):
    study = folder / "nodes.toml"
    text = STUDY.format(template="mpirun -n {ranks} --map-by ppr:{ranks_per_node}:node {command}", map=map_file, launches=2)
    study.write_text(text.replace("ranks = [2, 6]", "ranks = 4"))
    assert (done := sweep(study, "--job", "slurm")).returncode == 0, done.stderr
    script = folder / "nodes-results/job.sh"
    number = queue.run("sbatch", "--parsable", script).stdout.strip()
    queue.wait_until(lambda: list(folder.rglob("*.status")))
    assert queue.run("scancel", number).returncode == 0
    queue.wait_until(lambda: number not in queue.run("squeue", "-h", "-o", "%i").stdout.split())
    done = sweep(study, "--collect")
    assert done.returncode == 1 and "not ended yet" in done.stdout, done.stdout + done.stderr
    submitted = queue.run("sbatch", "--wait", script)
    assert submitted.returncode == 0, submitted.stderr + slurm_nodes.logs_of(folder)
    done = sweep(study, "--collect")
    assert done.returncode == 0, done.stdout + done.stderr + slurm_nodes.logs_of(folder)
    assert "4 of 4 launches are recorded" in done.stdout
