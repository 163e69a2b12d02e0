"""Finds and runs the programs that measure."""

import contextlib
import json
import os
import pathlib
import shutil
import tempfile

from slabmark import launch
from slabmark.errors import InputError, LabError

COMMAND = "slabmark"  # whose verbs are executables of their own
# Names from before the verbs, which studies may have.
EARLIER = {
    "slabmark-bench": "slabmark bench",
    "slabmark-blob": "slabmark blob",
    "slabmark-decomp": "slabmark decomp",
    "slabmark-pattern": "slabmark pattern",
    "slabmark-probe": "slabmark probe",
    "slablog-canonical": "slabmark log canonical",
    "slablog-info": "slabmark log info",
    "slablog-repair": "slabmark log repair",
}


def name_now(name):
    """Of a program, or of a verb such as "slabmark bench"."""
    return EARLIER.get(name, name)


def command(name):
    """The words that start a program or a verb."""
    name = name_now(name)
    program, *verb = name.split() if name.startswith(f"{COMMAND} ") else [name]
    return [find(program), *verb]


def find(name):
    """Path of a program: in the folder SLABMARK_BIN, which the command slabmark sets, or in the PATH."""
    folder = os.environ.get("SLABMARK_BIN")
    if folder and os.path.isfile(path := os.path.abspath(os.path.join(folder, name))):  # it may be started in another folder
        return path
    for place in os.get_exec_path():
        if (path := shutil.which(name, path=place)) and (name != COMMAND or has_verbs(path)):
            return os.path.abspath(path)
    raise InputError(
        f"The program '{name}' is neither in SLABMARK_BIN ({folder or 'not set'}) nor in the PATH; build it "
        f"with 'make {name}'."
    )


def has_verbs(path):
    """Whether this is the compiled command, and not the lab's own that pip installs under the same name."""
    return os.path.isdir(_folder_of_verbs(path))


def _folder_of_verbs(path):
    return os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(path))), "libexec", COMMAND)


def executable(name):
    """Path of the executable that a program or a verb is in the end."""
    return started_by(command(name))[0]


def started_by(words):
    """The words of a command, with the executable of a verb in place of `slabmark`, for who looks into programs."""
    found = list(words)
    for place, word in enumerate(words):
        name = EARLIER.get(os.path.basename(word), " ".join([os.path.basename(word), *words[place + 1 : place + 2]]))
        if name.startswith(f"{COMMAND} ") and (path := shutil.which(word)):
            verb = os.path.join(_folder_of_verbs(path), name.split()[1])
            found[place] = verb if os.path.isfile(verb) else word
    return found


def find_library(name):
    """Path of a shared library of Slabmark: beside the folder of its programs, in a build as where it is installed."""
    folder = pathlib.Path(os.environ.get("SLABMARK_BIN") or os.path.dirname(os.path.realpath(find(COMMAND)))).resolve().parent
    places = [f"lib*/{name}", f"lib*/*/{name}", f"plugins/{name}", f"lib*/*/plugins/{name}", f"lib*/*/*/plugins/{name}"]
    if found := sorted(path for place in places for path in folder.glob(place)):
        return str(found[0])
    raise InputError(f"The library '{name}' is not in {folder}/lib; it is built by 'make' where PnetCDF is found.")


def run(command, timeout, environment):
    """(exit status, standard output, standard error) of a command; no status if it took longer and was ended."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        status = launch.run(command, timeout, environment, out, err)
        out.seek(0), err.seek(0)
        return status, out.read().decode(errors="replace"), err.read().decode(errors="replace")


def output_of(command, timeout=120, environment=None):
    """What a program prints; `environment`: more variables. LabError with its own words if it fails."""
    status, text, errors = run(command, timeout, environment or {})
    if status is None:
        raise LabError(f"'{' '.join(command)}' gave no answer within {timeout} s.")
    if status:
        reason = reason_in(text + errors)
        raise InputError(reason) if status == 2 else LabError(f"'{' '.join(command)}' failed: {reason}")
    return text


def json_of(command, timeout=120, environment=None, member=""):
    """What a program prints as JSON: the first object with this member, or with any, in what its launcher prints beside it,
    and ranks that do not know of each other print again. LabError if it fails."""
    text = output_of(command, timeout, environment)
    begin, decoder = text.find("{"), json.JSONDecoder()
    while begin >= 0:
        with contextlib.suppress(ValueError, RecursionError):
            found, _ = decoder.raw_decode(text, begin)
            if member in found if member else found:
                return found
        begin = text.find("{", begin + 1)
    raise LabError(f"'{' '.join(command)}' printed no JSON" + (f" with '{member}'." if member else "."))


def environment(folder, template="{command}", ranks=1, variables=None):
    """What `slabmark bench` says of this build and machine, where files lie in the folder; with more variables set."""
    program = [*command("slabmark bench"), "environment", "--output-dir", folder]
    return json_of(launch.fill(template, program, ranks, environment=variables), environment=variables, member="methods")


def host_state():
    """What only this moment shows of this machine; sizes in bytes."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    memory = {name: int(value.split()[0]) * 1024 for name, _, value in (line.partition(":") for line in lines)}
    return {
        "load": os.getloadavg()[0],
        "dirty": memory.get("Dirty", 0) + memory.get("Writeback", 0),
        "cached": memory.get("Cached", 0),
        "available": memory.get("MemAvailable", 0),
        "memory": memory.get("MemTotal", 0),
        "shared_memory": os.access("/dev/shm", os.W_OK),
        "plugins": os.environ.get("HDF5_PLUGIN_PATH", ""),
    }


def reason_in(output):
    """The sentence in which a program says why it failed, or else the first paragraph that its launcher said."""
    lines = [line.strip() for line in output.splitlines()]
    for line in lines:
        if ": error: " in line:
            return line.partition(": error: ")[2]
    paragraph = []
    for line in lines:
        if line and not set(line) <= set("-=*"):
            paragraph.append(line)
        elif paragraph:
            break
    return " ".join(paragraph)[:300] or "it said nothing"
