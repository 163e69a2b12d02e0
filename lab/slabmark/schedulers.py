"""Job scripts for Slurm, PBS and Flux: plain shell that a user can read, change and submit."""

import os
import shlex

from slabmark import programs
from slabmark.errors import InputError, printable
from slabmark.launchers import SCHEDULERS

# Of each, the directive for a value of the job.
DIRECTIVES = {
    "name": ("--job-name={name}", "-N {name}", "--job-name={name}"),
    "log": ("--output={log}", "-j oe -o {log}", "--output={log}"),
    "nodes": (
        "--nodes={nodes}",
        "-l select={nodes}:ncpus={tasks_per_node}:mpiprocs={tasks_per_node}",
        "--nodes={nodes}",
    ),
    "tasks": ("--ntasks={tasks}", None, "--nslots={tasks}"),
    # Else Slurm fills the first nodes, and there are too few slots on the others.
    "tasks_per_node": ("--ntasks-per-node={tasks_per_node}", None, None),
    "time": ("--time={time}", "-l walltime={time}", "--time-limit={time}"),
    "queue": ("--partition={queue}", "-q {queue}", "--queue={queue}"),
    "account": ("--account={account}", "-A {account}", "--bank={account}"),
}
# The shell's words for the nodes of a job.
NODES = (
    '$(scontrol show hostnames "$SLURM_JOB_NODELIST")',
    '$(sort -u "$PBS_NODEFILE")',
    "$(flux hostlist --expand local)",
)
ROTATION = """\
# hosts FILE FIRST COUNT: the nodes of this job from number FIRST on, in a circle, each as often as it has ranks.
nodes=({nodes})
hosts() {{
  for ((n = 0; n < $3; n++)); do
    for ((r = 0; r < {per_node}; r++)); do echo "${{nodes[($2 + n) % ${{#nodes[@]}}]}}"; done
  done >{launches}/$1
}}

"""

SCRIPT = """\
#!/bin/bash
{directives}
#
# Written by 'slabmark {subcommand} --job {scheduler}': {count} launches of the study '{study}', in random order.
# Submit it with: {submit} {script}
# Afterwards:     {collect}
# What has ended already is skipped, so the same script can be submitted again after a time limit.

cd {folder} && mkdir -p {scratch} || exit 2
{preamble}
{rotation}# launch ID COMMAND...: runs it, unless it has ended already; a failure does not stop the rest.
launch() {{
  local stem={launches}/$1
  shift
  [ ! -e "$stem.status" ] || return 0
  rm -f "$stem.jsonl"
  mkdir -p {scratch}
  timeout --signal=TERM --kill-after=30 {timeout} "$@" >"$stem.log" 2>&1 </dev/null
  echo $? >"$stem.status"
}}

{launches_text}

rmdir {scratch}
"""


def hosts_of_job():
    """The nodes of the job that this runs in, in order; empty outside a job. LabError, InputError if they cannot be told."""
    if listed := os.environ.get("SLURM_JOB_NODELIST"):
        return programs.output_of(["scontrol", "show", "hostnames", listed]).split()
    if name := os.environ.get("PBS_NODEFILE"):
        with open(name, encoding="utf-8", errors="surrogateescape") as lines:
            return list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if os.environ.get("FLUX_ENCLOSING_ID"):
        return programs.output_of(["flux", "hostlist", "--expand", "local"]).split()
    return []


def collect_command(study):
    """The line that gathers the records of the job."""
    return shlex.join(["slabmark", study.subcommand, str(study.file), "-r", str(study.results), "--collect"])


def script(results, scheduler, launches):
    """Text of the job script. InputError where the job is too small for a cell."""
    mark, submit = SCHEDULERS[scheduler]
    study, job = results.study, results.study.tables.job
    most = max(one.cell.ranks for one in launches)
    per_node = study.tables.launch.ranks_per_node or most
    nodes = job.nodes or -(-most // per_node)
    if nodes * per_node < most:
        raise InputError(
            f"[job] has nodes = {nodes}, which with {per_node} ranks a node do not hold the {most} ranks of the "
            "largest cell; give more nodes, or ranks_per_node in [launch]."
        )
    values = job.model_dump() | {
        "name": study.name,
        "log": results.folder / "job.log",
        "nodes": nodes,
        "tasks": most,
        "tasks_per_node": min(per_node, most),
    }
    for key in ("name", "log"):
        if not str(values[key]).isprintable():
            raise InputError(f"No line of a job script can hold '{values[key]}'; rename the study or the results.")
    place = list(SCHEDULERS).index(scheduler)
    of_this = {key: lines[place] for key, lines in DIRECTIVES.items() if values[key]}
    quoted = {key: shlex.quote(str(value)) for key, value in values.items() if key not in ("preamble", "directives")}
    lines = [line.format(**quoted) for line in of_this.values() if line] + job.directives
    preamble = "\n".join(job.preamble).rstrip()
    hosts = study.tables.launch.hosts
    rotation = ROTATION.format(
        nodes=shlex.join(hosts) if hosts else NODES[place], per_node=per_node, launches=shlex.quote(str(results.launches))
    )
    return SCRIPT.format(
        subcommand=study.subcommand,
        rotation=rotation if study.rotates else "",
        directives="\n".join(f"{mark} {line}" for line in lines),
        study=study.name,
        count=len(launches),
        scheduler=scheduler,
        submit=submit,
        # A line break in a comment would begin a command.
        script=printable(shlex.quote(str(results.folder / "job.sh"))),
        collect=printable(collect_command(study)),
        folder=shlex.quote(str(study.file.parent)),
        preamble=preamble + "\n" if preamble else "",
        launches=shlex.quote(str(results.launches)),
        scratch=shlex.quote(str(study.scratch)),
        timeout=_seconds(study.tables.study.timeout),
        launches_text="\n".join(_launch(results, one) for one in launches),
    )


def _seconds(timeout):
    """For the command `timeout`, which takes 0 for no limit at all."""
    return f"{max(timeout, 0.001):.3f}".rstrip("0").rstrip(".")


def _launch(results, one):
    lines = [f"# {one.cell.label}", f"launch {results.file(one, '').name} {shlex.join(results.command(one))}"]
    if results.study.rotates:
        place = results.study.first_host(one), results.study.nodes(one)
        lines.insert(1, f"hosts {results.file(one, '.hosts').name} {place[0]} {place[1]}")
    return "\n".join(lines)
