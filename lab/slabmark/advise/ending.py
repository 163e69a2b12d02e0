"""What advice ends in: the ways to put it to use, each under a heading, and the way by which a program gets the gain
without a change, to be measured like any other."""

import dataclasses
import shlex

from slabmark import apply, launch
from slabmark.advise import code
from slabmark.advise.candidates import Candidate
from slabmark.errors import InputError

UNCHANGED = "pnetcdf-varn"  # the calls of a program that the drop-in takes


def unchanged_program(winner):
    """What a program that posts its requests to PnetCDF does with the drop-in, as a candidate; None where the winner is
    none of the drop-in's ways, or the drop-in is not here."""
    if winner.method != "pnetcdf-rearranged":
        return None
    try:
        preload = {apply.PRELOAD: apply.settings()[apply.PRELOAD]}
    except InputError:
        return None
    aggregators = dict(winner.options).get("pnetcdf.aggregators")
    hints = dict(winner.hints) | ({"cb_nodes": aggregators} if aggregators else {})
    return dataclasses.replace(
        Candidate(UNCHANGED), hints=tuple(sorted(hints.items())), environment=(*winner.environment, *preload.items())
    )


def applied(ways, command):
    """The lines of shell that run a captured command, unchanged, as candidates did. `ways`: of each part of the program, its
    candidate and the level at which its calls were captured."""
    given, of_pnetcdf, in_file, doors = {}, {}, {}, {}
    for way, level in ways:
        given |= dict(way.environment)
        for name, value in way.hints:
            # ROMIO's hints are in its file: Open MPI 5 passes it none of PnetCDF's, and they would hide the file's.
            (of_pnetcdf if level == "pnetcdf" and not name.startswith("romio_") else in_file).setdefault(name, value)
        if way.way != apply.NOTHING:
            doors.setdefault("hdf5" if way.way in apply.LAYOUTS else way.way, way.way)
    if of_pnetcdf:
        given["PNETCDF_HINTS"] = ";".join(f"{name}={value}" for name, value in of_pnetcdf.items())
    words = [word for name, value in given.items() for word in ("--env", f"{name}={value}")]
    door = ",".join(sorted(doors.values(), key=lambda door: door != apply.PNETCDF)) or apply.NOTHING
    line, lines = shlex.join(["slabmark", "apply", "--with", door, *words]), []
    if in_file:
        pairs = shlex.join(f"{name} {value}" for name, value in in_file.items())
        lines.append(f"printf '%s\\n' {pairs} > romio-hints  # where all nodes see it; what the program sets itself stays")
        line += ' --env ROMIO_HINTS="$PWD/romio-hints"'
    return "\n".join([*lines, f"{line} -- {shlex.join(command)}"])


def parts(winner, template, ranks, command=(), type="float64"):
    """{heading: lines} of all ways to use the winner, in code for variables of this type. `command` is the user's, if it is known;
    else `template` and `ranks` say how programs are started."""
    exports = [f"export {name}={shlex.quote(value)}" for name, value in winner.variables.items()]
    found = {
        "Environment": "\n".join(exports),
        "Flags of slabmark bench": shlex.join(winner.flags),
        "A program that uses PnetCDF, unchanged": "",
        "In C": code.for_candidate(winner, type),
        "In Fortran": code.in_fortran(winner, type),
    }
    if unchanged := unchanged_program(winner):
        command = command or launch.fill(template, ["./program"], ranks)
        hints = "".join(f"\n# hint in the MPI_Info of ncmpi_create: {name}={value}" for name, value in unchanged.hints)
        preload = shlex.quote(dict(unchanged.environment)[apply.PRELOAD])
        found["A program that uses PnetCDF, unchanged"] = (
            f"slabmark apply -- {shlex.join(command)}\n# the same by hand: {apply.PRELOAD}={preload}{hints}"
        )
    return {heading: lines.rstrip() for heading, lines in found.items() if lines}
