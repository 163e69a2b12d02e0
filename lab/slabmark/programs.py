"""Finds and runs the programs that measure."""

import contextlib
import json
import os
import pathlib
import shutil
import tempfile

from slabmark import launch
from slabmark.errors import InputError, LabError


def find(name):
    """Path of a program: in the folder SLABMARK_BIN, which the wrapper of the build sets, or in the PATH."""
    folder = os.environ.get("SLABMARK_BIN")
    if folder and os.path.isfile(path := os.path.abspath(os.path.join(folder, name))):  # it may be started in another folder
        return path
    if path := shutil.which(name):
        return os.path.abspath(path)
    raise InputError(
        f"The program '{name}' is neither in SLABMARK_BIN ({folder or 'not set'}) nor in the PATH; build it "
        f"with 'make {name}'."
    )


def find_library(name):
    """Path of a shared library of Slabmark: beside the folder of its programs, in a build as where it is installed."""
    programs = os.environ.get("SLABMARK_BIN") or os.path.dirname(shutil.which("slabmark-bench") or "")
    folders = [pathlib.Path(programs).resolve().parent] if programs else []
    for folder in folders:
        places = [f"lib*/{name}", f"lib*/*/{name}", f"plugins/{name}", f"lib*/*/plugins/{name}", f"lib*/*/*/plugins/{name}"]
        if found := sorted(path for place in places for path in folder.glob(place)):
            return str(found[0])
    where = f"in {folders[0]}/lib" if folders else "to be found, as SLABMARK_BIN is not set and no program is in the PATH"
    raise InputError(f"The library '{name}' is not {where}; it is built by 'make' where PnetCDF is found.")


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
    """What slabmark-bench says of this build and machine, where files lie in the folder; with more variables set."""
    program = [find("slabmark-bench"), "environment", "--output-dir", folder]
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
