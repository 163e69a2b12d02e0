"""What is in effect on this machine (MPI, MPI-IO, HDF5, PnetCDF, file system, page cache), and what is wrong with it.

Exit status 1 if something is wrong.
"""

import os
import pathlib

from rich import box
from rich.table import Table
from rich.text import Text

from slabmark import findings, launch, programs, units
from slabmark.command_line import a_number
from slabmark.errors import printable
from slabmark.terminal import say

BUSY = 0.5  # runnable processes beyond this share of the cores disturb timings
DIRTY = 0.05  # share of the memory


def add_arguments(parser):
    parser.add_argument(
        "-o", "--output-dir", default=".", metavar="FOLDER", help="where files would be written (default .)"
    )
    parser.add_argument(
        "--launch",
        metavar="TEMPLATE",
        help=f"also start ranks: one of {', '.join(launch.TEMPLATES)}, or a line with {{ranks}} and {{command}}",
    )
    parser.add_argument("-n", "--ranks", type=a_number(int, 1, 1 << 24), default=2, help="how many (default 2)")


def main(arguments, console):
    found = examine(arguments.output_dir, arguments.launch, arguments.ranks)
    console.print(facts_table(found))
    wrong = diagnose(found, arguments.ranks if arguments.launch else 1)
    for finding in wrong:
        say(console, f"{finding.code}: {finding.cause}\n    {finding.remedy}")
    say(console, f"{units.counted(len(wrong), 'thing')} to look at." if wrong else "Nothing wrong was found.")
    return 1 if wrong else 0


def examine(folder, template=None, ranks=1):
    """What `slabmark-bench environment` says, with the state of this host beside it."""
    command = [programs.find("slabmark-bench"), "environment", "--output-dir", folder]
    if template:
        command = launch.fill(launch.check(template), command, ranks)
    manifest = programs.json_of(command)
    manifest["host"] = host_state()
    return manifest


def host_state():
    memory = {}
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        memory[name] = int(value.split()[0]) * 1024
    shared = pathlib.Path("/dev/shm")
    return {
        "load": os.getloadavg()[0],
        "dirty": memory.get("Dirty", 0) + memory.get("Writeback", 0),
        "cached": memory.get("Cached", 0),
        "available": memory.get("MemAvailable", 0),
        "memory": memory.get("MemTotal", 0),
        "shared_memory": os.access(shared, os.W_OK),
        "plugins": os.environ.get("HDF5_PLUGIN_PATH", ""),
        "locking": os.environ.get("HDF5_USE_FILE_LOCKING", ""),
    }


def facts_table(manifest):
    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    output, host, libraries = manifest["output"], manifest["host"], manifest["libraries"]
    lustre = output.get("lustre") or {}
    missing = [method["name"] for method in manifest["methods"] if method["missing"]]
    rows = {
        "MPI": manifest["mpi"].split(", package")[0],
        "MPI-IO": manifest["mpi_io"],
        "HDF5": libraries["hdf5"],
        "PnetCDF": libraries.get("pnetcdf", "not in this build"),
        "file system": f"{output['type']} on {output['mount_point']} ({output['source']})",
        "Lustre": lustre.get("striping") or lustre.get("absent", "-"),
        "ranks": f"{manifest['ranks']} on {units.counted(len(manifest['hosts']), 'host')}, "
        f"{units.counted(manifest['cores'], 'core')} each",
        "memory": f"{units.size(host['memory'])}, {units.size(host['available'])} available",
        "page cache": f"{units.size(host['cached'])} cached, {units.size(host['dirty'])} dirty or being written",
        "load": f"{host['load']:.2f}",
        "methods": f"{len(manifest['methods']) - len(missing)}"
        + (f"; not in this build: {', '.join(missing)}" if missing else ""),
    }
    for name, value in rows.items():
        table.add_row(name, Text(printable(value, keep="\n")))
    return table


def diagnose(manifest, ranks):
    """Findings about the machine: those of the records' rules, and those that only its present state shows."""
    host, cores = manifest["host"], manifest["cores"]
    checks = [
        (
            manifest["ranks"] != ranks,
            "foreign-launcher",
            f"{ranks} ranks were started, and each program saw {manifest['ranks']}: the launcher belongs to another MPI "
            "than the program.",
            "Name the launcher of the MPI that the programs were built with.",
        ),
        (
            not manifest["libraries"].get("pnetcdf"),
            "no-pnetcdf",
            "This build has no PnetCDF, so its methods and .nc maps are off.",
            "Build with PNETCDF_DIR=..., a PnetCDF of the same MPI.",
        ),
        (
            host["load"] > BUSY * (cores or 1),
            "busy-machine",
            f"Other processes are running (load {host['load']:.2f} on {units.counted(cores, 'core')}).",
            "Wait until the machine is quiet, or take more trials.",
        ),
        (
            host["dirty"] > DIRTY * host["memory"],
            "dirty-pages",
            f"{units.size(host['dirty'])} wait to be written, and will be while you measure.",
            "Run sync first.",
        ),
        (
            not host["shared_memory"],
            "no-shared-memory",
            "/dev/shm is not writable; Open MPI's MPI-IO opens no file then.",
            "OMPI_MCA_sharedfp=^sm in the environment avoids it.",
        ),
        (
            host["plugins"],
            "foreign-plugins",
            f"HDF5_PLUGIN_PATH is {host['plugins']}: plugins of another HDF5 may be loaded.",
            "Unset it, unless the plugins were built with this HDF5.",
        ),
    ]
    return [*findings.of_manifest(manifest), *(findings.Finding(*rest) for wrong, *rest in checks if wrong)]
