"""Job scripts for Slurm, PBS and Flux: plain shell that a user can read, change and submit."""

import shlex

from slabmark.errors import InputError, printable


SCHEDULERS = {"slurm": ("#SBATCH", "sbatch"), "pbs": ("#PBS", "qsub"), "flux": ("#flux:", "flux batch")}  # mark, submits
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
    "time": ("--time={time}", "-l walltime={time}", "--time-limit={time}"),
    "queue": ("--partition={queue}", "-q {queue}", "--queue={queue}"),
    "account": ("--account={account}", "-A {account}", "--bank={account}"),
}

SCRIPT = """\
#!/bin/bash
{directives}
#
# Written by 'slabmark sweep --job {scheduler}': {count} launches of the study '{study}', in random order.
# Submit it with: {submit} {script}
# Afterwards:     {collect}
# What has ended already is skipped, so the same script can be submitted again after a time limit.

cd {folder} && mkdir -p {scratch} || exit 2
{preamble}
# launch ID COMMAND...: runs it, unless it has ended already; a failure does not stop the rest.
launch() {{
  local stem={launches}/$1
  shift
  [ ! -e "$stem.status" ] || return 0
  rm -f "$stem.jsonl"
  timeout --signal=TERM --kill-after=30 {timeout:.0f} "$@" >"$stem.log" 2>&1 </dev/null
  echo $? >"$stem.status"
}}

{launches_text}

rmdir {scratch}
"""


def collect_command(study):
    """The line that gathers the records of the job."""
    return shlex.join(["slabmark", "sweep", str(study.file), "-r", str(study.results), "--collect"])


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
    of_this = {key: lines[list(SCHEDULERS).index(scheduler)] for key, lines in DIRECTIVES.items() if values[key]}
    lines = [line.format(**values) for line in of_this.values() if line] + job.directives
    preamble = "\n".join(job.preamble).rstrip()
    return SCRIPT.format(
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
        timeout=study.tables.study.timeout,
        launches_text="\n".join(
            f"# {one.cell.label}\nlaunch {results.file(one, '').name} {shlex.join(results.command(one))}" for one in launches
        ),
    )
