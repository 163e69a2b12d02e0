"""What is in effect on this machine (MPI, MPI-IO, HDF5, PnetCDF, file system, page cache), and what is wrong with it.

Exit status 1 if something is wrong.
"""

import contextlib
import os
import pathlib

from rich import box
from rich.table import Table
from rich.text import Text

from slabmark import apply, capture, file_systems, findings, fixes, launch, linked, programs, units
from slabmark.errors import InputError, printable


def main(arguments, console):
    if not pathlib.Path(arguments.output_dir).is_dir():
        raise InputError(f"There is no folder '{arguments.output_dir}'; name one that is there with -d.")
    started = (launch.check(arguments.launch), arguments.ranks) if arguments.launch else ()
    found = programs.environment(arguments.output_dir, *started) | {"host": programs.host_state() | {"unsigned": unsigned_plugins()}}
    console.print(facts_table(found))
    wrong = findings.of_manifest(found) + findings.of_host(found, arguments.ranks if arguments.launch else 1)
    for finding in wrong:
        console.say(f"{finding.code}: {finding.cause}\n    {finding.remedy}")
        for line, checked in fixes.of(finding.code, found, arguments.output_dir, *started) if arguments.fix_hints else ():
            console.say(f"      {line}\n        ({checked})")
    for lines in file_systems.advice(found, arguments.output_dir):
        console.say(lines)
    console.say(f"{units.counted(len(wrong), 'thing')} to look at." if wrong else "Nothing wrong was found.")
    return 1 if wrong else 0


def unsigned_plugins():
    """Our connectors that the HDF5 of this build does not take, as it wants signed ones."""
    bench = programs.executable("slabmark bench")
    if not linked.hdf5_of_signed_plugins(bench, linked.libraries(bench, dict(os.environ))):
        return []
    with contextlib.suppress(InputError):  # there is none
        folder = os.path.dirname(programs.find_library(apply.PLUGIN))
        plugins = (os.path.join(folder, name) for name in (apply.PLUGIN, capture.PLUGIN))
        return [plugin for plugin in plugins if os.path.exists(plugin) and not linked.is_signed(plugin)]
    return []


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
        "file system": units.file_system(output),
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
