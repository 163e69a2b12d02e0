"""Job scripts for Slurm, PBS and Flux: plain shell that a user can read, change and submit."""

import dataclasses
import shlex

from slabmark.errors import InputError, printable


@dataclasses.dataclass(frozen=True)
class Scheduler:
    """How a scheduler is spoken to. `directives` are lines with the fields name, nodes, time, queue, account, log."""

    name: str
    mark: str  # with which its directives begin
    directives: dict  # line by the key of [job] that it needs; "" for lines that are always there
    submit: str
    folder: str  # variable with the folder from which the job was submitted


SCHEDULERS = {
    scheduler.name: scheduler
    for scheduler in (
        Scheduler(
            "slurm",
            "#SBATCH",
            {
                "name": "--job-name={name}",
                "log": "--output={log}",
                "nodes": "--nodes={nodes}",
                "tasks": "--ntasks={tasks}",
                "time": "--time={time}",
                "queue": "--partition={queue}",
                "account": "--account={account}",
            },
            "sbatch",
            "SLURM_SUBMIT_DIR",
        ),
        Scheduler(
            "pbs",
            "#PBS",
            {
                "name": "-N {name}",
                "log": "-j oe -o {log}",
                "nodes": "-l select={nodes}:ncpus={tasks_per_node}:mpiprocs={tasks_per_node}",
                "time": "-l walltime={time}",
                "queue": "-q {queue}",
                "account": "-A {account}",
            },
            "qsub",
            "PBS_O_WORKDIR",
        ),
        Scheduler(
            "flux",
            "#flux:",
            {
                "name": "--job-name={name}",
                "log": "--output={log}",
                "nodes": "--nodes={nodes}",
                "tasks": "--nslots={tasks}",
                "time": "--time-limit={time}",
                "queue": "--queue={queue}",
                "account": "--bank={account}",
            },
            "flux batch",
            "PWD",
        ),
    )
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
    """Text of the job script for [(cell, launch)]. InputError for a scheduler that is not known."""
    scheduler = SCHEDULERS[scheduler_name]
    study = results.study
    job = study.job
    most = max((cell.ranks for cell, _ in launches), default=1)
    per_node = study.ranks_per_node or most
    nodes = job.nodes or -(-most // per_node)
    if nodes * per_node < most:
        raise InputError(
            f"[job] has nodes = {nodes}, which with {per_node} ranks a node do not hold the {most} ranks of the "
            "largest cell; give more nodes, or ranks_per_node in [launch]."
        )
    values = {
        "name": study.name,
        "log": results.folder / "job.log",
        "nodes": nodes,
        "tasks": most,
        "tasks_per_node": min(per_node, most),
        "time": job.time,
        "queue": job.queue,
        "account": job.account,
    }
    for key in ("name", "log"):
        if not str(values[key]).isprintable():
            raise InputError(f"No line of a job script can hold '{values[key]}'; rename the study or the results.")
    lines = [f"{scheduler.mark} {line.format(**values)}" for key, line in scheduler.directives.items() if values[key]]
    lines += [f"{scheduler.mark} {line}" for line in job.directives]
    preamble = "\n".join(job.preamble).rstrip()
    commands = []
    for cell, number in launches:
        command = study.command(cell, results.record_file(cell, number))
        commands.append(f"# {cell.label}\nlaunch {results.stem(cell, number).name} {shlex.join(command)}")
    return SCRIPT.format(
        directives="\n".join(lines),
        # A line break in a comment would begin a command.
        study=printable(study.name),
        count=len(launches),
        scheduler=scheduler.name,
        submit=scheduler.submit,
        script=printable(shlex.quote(str(results.folder / "job.sh"))),
        collect=printable(collect_command(study)),
        folder=shlex.quote(str(study.file.parent)),
        preamble=preamble + "\n" if preamble else "",
        launches=shlex.quote(str(results.launches)),
        scratch=shlex.quote(str(study.scratch)),
        timeout=study.timeout,
        launches_text="\n".join(commands),
    )
