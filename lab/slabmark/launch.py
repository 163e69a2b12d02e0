"""How ranks are started: a template that the user names, never a guess."""

import contextlib
import ctypes
import os
import shlex
import signal
import string
import subprocess
import tempfile

from slabmark.errors import InputError
from slabmark.launchers import STARTERS, TEMPLATES

PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
INTERRUPTING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SECONDS_TO_END = 5  # that a launcher has to end its ranks before all is killed
FIELDS = ("ranks", "ranks_per_node", "nodes", "hostfile", "command")
# How a launcher gives one variable to ranks on any node, by its name or, where several have the same name, by what it
# says of itself. Data, not code: a new one is a line here.
WORDS_FOR_A_VARIABLE = {
    "jsrun": ("-E", "{name}={value}"),
    "aprun": ("-e", "{name}={value}"),
    "flux": ("--env={name}={value}",),
    "Open MPI": ("-x", "{name}={value}"),
    "OpenRTE": ("-x", "{name}={value}"),
    "PRRTE": ("-x", "{name}={value}"),
    "HYDRA": ("-genv", "{name}", "{value}"),
    "Intel(R) MPI": ("-genv", "{name}", "{value}"),
    "PALS": ("--env", "{name}={value}"),
}
# Options of srun(1): what is none of these has a value, which may be the next word. After them comes the program.
SRUN_WITHOUT_VALUE = frozenset(
    "bcast compress contiguous disable-status exact exclusive external external-launcher help hold immediate interactive "
    "kill-on-bad-exit label multi-prog nice no-allocate no-kill overcommit overlap oversubscribe preserve-env propagate pty "
    "quiet quit-on-interrupt reboot resv-ports send-libs share spread-job stepmgr test-only unbuffered usage use-min-nodes "
    "verbose version x11".split()
)
SRUN_SHORT_WITH_VALUE = "ABCDFGJLMNSTWbcdeimnopqrtwx"
SEVERAL_PROGRAMS = ":"  # stands between the programs of one mpiexec


def check(template):
    """The template itself, or the one of that name. InputError for an unknown {field} or a missing {command}."""
    template = TEMPLATES.get(template, template)
    try:
        found = fields(template)
        if found <= set(FIELDS):
            fill(template, ["program"], 1)
    except (ValueError, LookupError, AttributeError, TypeError) as error:
        raise InputError(f"The launch template '{template}' cannot be read ({error}).") from None
    if unknown := found - set(FIELDS):
        raise InputError(
            f"The launch template '{template}' has an unknown field {{{sorted(unknown)[0]}}}; known are "
            f"{', '.join(f'{{{field}}}' for field in FIELDS)}."
        )
    if missing := {"ranks", "command"} - found:
        raise InputError(
            f"The launch template '{template}' lacks {{{sorted(missing)[0]}}}; an example is "
            f"'{TEMPLATES['mpiexec']}', or name one of {', '.join(TEMPLATES)}."
        )
    return template


def fields(template):
    """Names in braces."""
    return {field for _, field, _, _ in string.Formatter().parse(template) if field is not None}


def fill(template, program, ranks, ranks_per_node=None, environment=None, hostfile="HOSTS"):
    """The command as a list of words. Variables go before the program, too: launchers do not forward all of them to
    other nodes."""
    if environment:
        shell = ["sh", "-c", 'exec "$0" "$@"'] if "=" in program[0] else []  # which env would take for one more variable
        program = ["env", *(f"{name}={value}" for name, value in environment.items()), *shell, *program]
    per_node = ranks_per_node or ranks
    text = template.format(
        ranks=ranks,
        ranks_per_node=min(per_node, ranks),
        nodes=-(-ranks // per_node),
        hostfile=shlex.quote(str(hostfile)),
        command=shlex.join(program),
    )
    return shlex.split(text)


def rotated(hosts, first, nodes, ranks_per_node):
    """Lines of a file of hosts: `nodes` of them from number `first` on, in a circle, each as often as it has ranks."""
    return "".join(f"{hosts[(first + node) % len(hosts)]}\n" * ranks_per_node for node in range(nodes))


def forward(command, variables):
    """(words, environment): a command that a user wrote, such that its ranks have these variables on all nodes. What is no
    launcher, or one that nobody knows, gets them in its environment, which its children have, too."""
    launcher = os.path.basename(command[0])
    if launcher == "srun":
        return _forward_by_srun(command, variables)
    says = _version_of(command[0]) if launcher.startswith(("mpiexec", "mpirun", "orterun", "prterun")) else launcher
    for known, words in WORDS_FOR_A_VARIABLE.items():
        if known != says and (known in STARTERS or known not in says):
            continue
        added = [word.format(name=name, value=value) for name, value in variables.items() for word in words]
        # Flux has its commands first, and Open MPI takes what it is told for the next program only.
        first = 2 if launcher == "flux" else 1
        made = [*command[:first], *added]
        for word in command[first:]:
            made += [word, *added] if word == SEVERAL_PROGRAMS and words[0] == "-x" else [word]
        return made, {}
    return list(command), dict(variables)


def _version_of(launcher):
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run([launcher, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
        return (done.stdout + done.stderr).decode(errors="replace")
    return ""


def _forward_by_srun(command, variables):
    """(words, environment): Slurm exports all variables, or those that the user names; more of them can be named there. It
    splits what it is told at commas, so values that it would take apart are in its own environment, and only named."""
    environment = {name: value for name, value in variables.items() if set(value) & set(",'\"\\\n")}
    more = ",".join(name if name in environment else f"{name}={value}" for name, value in variables.items())
    if not more:
        return list(command), {}
    with_more = lambda given: more if given.upper() in ("", "NONE", "NIL") else f"{given},{more}"  # a list ends NONE
    place = 1
    while place < len(command) and command[place].startswith("-") and command[place] != "--":
        word = command[place]
        if word.startswith("--export="):
            word = f"--export={with_more(word.partition('=')[2])}"
            return [*command[:place], word, *command[place + 1 :]], environment
        if word == "--export" and place + 1 < len(command):
            return [*command[: place + 1], with_more(command[place + 1]), *command[place + 2 :]], environment
        place += 2 if _takes_next(word) else 1
    given = os.environ.get("SLURM_EXPORT_ENV", "ALL")
    return [command[0], f"--export={with_more(given)}", *command[1:]], environment


def _takes_next(word):
    """Whether the value of an option of srun is the word after it."""
    if word.startswith("--"):
        return "=" not in word and word[2:] not in SRUN_WITHOUT_VALUE
    values = [place for place, letter in enumerate(word) if place and letter in SRUN_SHORT_WITH_VALUE]
    return bool(values) and values[0] == len(word) - 1  # else the rest of the word is its value


def end_with_parent():
    """For the child of a fork: SIGTERM when the parent dies, even by SIGKILL; launchers pass it on to their ranks."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def run(command, timeout, environment, out, err=subprocess.STDOUT, folder=None, descriptors=()):
    """Exit status of a command that writes into the files `out` and `err`; None if it took longer than `timeout` and was
    ended. `descriptors` stay open in it. InputError if it cannot be started."""
    with tempfile.TemporaryDirectory(prefix="launch.", ignore_cleanup_errors=True) as own:
        # docs/how-to/install.md says why. Other launchers hand their environment to nodes that have no such folder.
        if os.path.basename(command[0]).startswith(("mpiexec", "mpirun")):
            environment = environment | {"TMPDIR": own}
        # If it is interrupted between its start and the `finally` that ends it, nothing would end it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING)

        def prepare():
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            end_with_parent()

        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=folder,
                env=os.environ | environment,
                start_new_session=True,
                pass_fds=descriptors,
                preexec_fn=prepare,
            )
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                return process.wait(timeout=timeout)
            except subprocess.TimeoutExpired:
                return None
            finally:
                end(process)
        except (OSError, ValueError) as error:
            raise InputError(f"'{command[0]}' cannot be started: {getattr(error, 'strerror', error)}.") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end(process):
    """Ends a launcher with all that it started here: ranks stay in its session, though not in its process group."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=SECONDS_TO_END)
    for left in session_of(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(left, signal.SIGKILL)
    process.wait()


def session_of(leader):
    """Ids of the processes in its session."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(int(pid)) == leader:
                found.append(int(pid))
    return found
