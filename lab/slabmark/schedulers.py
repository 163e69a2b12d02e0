"""Job scripts for Slurm, PBS and Flux: plain shell that a user can read, change and submit."""

import shlex
import typing

from slabmark.errors import InputError, printable


class Scheduler(typing.NamedTuple):
    mark: str  # with which its directives begin
    submit: str
    directives: dict  # line by the value that it needs


SCHEDULERS = {
    "slurm": Scheduler(
        "#SBATCH",
        "sbatch",
        {
            "name": "--job-name={name}",
            "log": "--output={log}",
            "nodes": "--nodes={nodes}",
            "tasks": "--ntasks={tasks}",
            "time": "--time={time}",
            "queue": "--partition={queue}",
            "account": "--account={account}",
        },
    ),
    "pbs": Scheduler(
        "#PBS",
        "qsub",
        {
            "name": "-N {name}",
            "log": "-j oe -o {log}",
            "nodes": "-l select={nodes}:ncpus={tasks_per_node}:mpiprocs={tasks_per_node}",
            "time": "-l walltime={time}",
            "queue": "-q {queue}",
            "account": "-A {account}",
        },
    ),
    "flux": Scheduler(
        "#flux:",
        "flux batch",
        {
            "name": "--job-name={name}",
            "log": "--output={log}",
            "nodes": "--nodes={nodes}",
            "tasks": "--nslots={tasks}",
            "time": "--time-limit={time}",
            "queue": "--queue={queue}",
            "account": "--bank={account}",
        },
    ),
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


def script(results, scheduler_name, launches):
    """Text of the job script. InputError where the job is too small for a cell."""
    scheduler, study, job = SCHEDULERS[scheduler_name], results.study, results.study.tables.job
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
    lines = [line.format(**values) for key, line in scheduler.directives.items() if values[key]] + job.directives
    preamble = "\n".join(job.preamble).rstrip()
    return SCRIPT.format(
        directives="\n".join(f"{scheduler.mark} {line}" for line in lines),
        # A line break in a comment would begin a command.
        study=printable(study.name),
        count=len(launches),
        scheduler=scheduler_name,
        submit=scheduler.submit,
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
