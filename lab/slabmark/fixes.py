"""For each finding of `slabmark doctor`: the line for a job script that mends it, and whether it does so on this machine.

To add one: a function in FIXES that returns a Fix. What it changes is run, and the finding is looked for again.
"""

import dataclasses
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable

from slabmark import findings, launch, programs
from slabmark.errors import InputError, LabError


@dataclasses.dataclass(frozen=True)
class Fix:
    """`check` returns why the line does not help here, or None if it does; without one, `unchecked` says why there is none."""

    line: str
    check: Callable | None = None
    unchecked: str = ""


@dataclasses.dataclass(frozen=True)
class Machine:
    """What the doctor looked at, to look again with something changed."""

    code: str
    manifest: dict
    folder: str
    template: str  # how ranks were started, or "{command}"
    ranks: int

    def again(self, **changed):
        """Why the finding is still there, or None. `variables`, `template`, `folder`, `ranks` replace what the doctor took."""
        folder, ranks = changed.get("folder", self.folder), changed.get("ranks", self.ranks)
        template = changed.get("template", self.template)
        try:
            found = programs.environment(folder, template, ranks, changed.get("variables", {}))
        except (LabError, InputError) as error:
            return f"the programs do not run with it: {error}"
        codes = findings.of_manifest(found) + findings.of_host(found | {"host": programs.host_state()}, ranks)
        return next((finding.cause for finding in codes if finding.code == self.code), None)


def of(code, manifest, folder, template="{command}", ranks=1):
    """[(line, how it was checked, in words)] for a finding."""
    machine = Machine(code, manifest, folder, template, ranks)
    return [(fix.line, _checked(fix)) for fix in FIXES[code](machine)]


def _checked(fix):
    if fix.check is None:
        return f"not checked here: {fix.unchecked}"
    why = fix.check()
    return "checked here: it helps" if why is None else f"checked here: it does NOT help: {why}"


def _variable(name, value):
    return lambda machine: [Fix(f"export {name}={value}", lambda: machine.again(variables={name: value}))]


def _elsewhere(machine):
    """Another folder: the first of the usual ones where the finding is not made."""
    for place in ("SCRATCH", "WORK", "PROJECT", "TMPDIR", "HOME"):
        folder = os.environ.get(place, "")
        if os.path.isdir(folder) and os.access(folder, os.W_OK) and machine.again(folder=folder) is None:
            return [Fix(f'cd "${place}"   # {folder}; or name it with -d', lambda folder=folder: machine.again(folder=folder))]
    line = "cd FOLDER   # on the parallel file system; or name it with -d"
    return [Fix(line, unchecked="none of SCRATCH, WORK, PROJECT, TMPDIR and HOME is a folder on another kind of file system")]


def _stripes(machine):
    line = f"lfs setstripe -c -1 {shlex.quote(machine.folder)}   # before files are made there"
    return [Fix(line, unchecked="it would change the folder for all files to come")]


def _fewer_ranks(machine):
    cores = machine.manifest["cores"]
    nodes = len(machine.manifest["hosts"])
    words = launch.fill(machine.template, ["PROGRAM"], cores * nodes, cores)
    return [Fix(f"{shlex.join(words)}   # {cores} ranks a node", lambda: machine.again(ranks=cores * nodes))]


def _own_launcher(machine):
    """Launchers of this machine under other names than that of PATH."""
    first, *rest = machine.template.split()
    folders = [*os.environ.get("PATH", "").split(":"), "/usr/lib64/openmpi/bin", "/usr/lib64/mpich/bin"]
    folders = filter(os.path.isabs, dict.fromkeys(folders))  # others are of where somebody stands
    names = ("mpiexec.openmpi", "mpiexec.mpich", "mpiexec.hydra", "mpirun.openmpi", "mpiexec", "srun")
    for path in (os.path.join(folder, name) for folder in folders for name in names):
        if os.access(path, os.X_OK) and os.path.realpath(path) != os.path.realpath(first):
            template = " ".join([path, *rest])
            if machine.again(template=template) is None:
                return [Fix(template, lambda template=template: machine.again(template=template))]
    return [
        Fix("module load MPI   # the MPI that the programs were built with", unchecked="no launcher was found here that works")
    ]


def _quiet(machine):
    why = "no job of a scheduler runs here, in which others could be kept out"
    return [Fix(line, unchecked=why) for line in ("#SBATCH --exclusive", "#PBS -l place=excl", "#flux: --exclusive")]


def _sync(machine):
    def check():
        try:
            subprocess.run(["sync"], check=True, timeout=600)
        except (OSError, subprocess.SubprocessError) as error:
            return f"it failed: {error}"
        return machine.again()

    return [Fix("sync", check)]


def _file_pointers(machine):
    name, value = "OMPI_MCA_sharedfp", "^sm"

    def check():
        with tempfile.TemporaryDirectory(prefix="slabmark-doctor-", dir=machine.folder) as folder:
            program = [*programs.command("slabmark bench"), "transfer", "--bytes", "4K", "--block", "4K", "--buffer", "4K", "--quiet"]
            program += ["--method", "mpiio-independent", "--no-bound", "--trials", "1", "--output-dir", folder]
            try:
                programs.output_of(launch.fill(machine.template, program, machine.ranks), environment={name: value})
            except (LabError, InputError) as error:
                return str(error)

    return [Fix(f"export {name}={value}", check)]


def _no_plugins(machine):
    # env -u would take a launcher with a "=" in its path for a variable.
    template = f"""sh -c 'unset HDF5_PLUGIN_PATH; exec "$0" "$@"' {machine.template}"""

    def check():
        try:
            found = programs.environment(machine.folder, template, machine.ranks)
        except (LabError, InputError) as error:
            return f"the programs do not run with it: {error}"
        return "it is still set" if "HDF5_PLUGIN_PATH" in found["environment"] else None

    return [Fix("unset HDF5_PLUGIN_PATH", check)]


def _built(line, why):
    return lambda machine: [Fix(line, unchecked=why)]


# By the code of the finding: what gives its lines.
FIXES = {
    "slow-mpi-io": _variable("OMPI_MCA_io", "^ompio"),
    "overlaps-fail": _variable("OMPI_MCA_io", "^ompio"),
    "memory-file-system": _elsewhere,
    "layered-file-system": _elsewhere,
    "incoherent-file-system": _elsewhere,
    "one-stripe": _stripes,
    "more-ranks-than-cores": _fewer_ranks,
    "unoptimised-build": _built("make PRESET=release   # once, before the job; then take build/release/bin", "it takes a build"),
    "foreign-launcher": _own_launcher,
    "no-pnetcdf": _built("make PNETCDF_DIR=FOLDER   # once, before the job: a PnetCDF of the same MPI", "it takes a build"),
    "busy-machine": _quiet,
    "dirty-pages": _sync,
    "no-shared-memory": _file_pointers,
    "unsigned-plugins": _built("# sign the plugins with h5sign, after strip (docs/reference/hdf5-connector.md)", "it takes your key"),
    "foreign-plugins": _no_plugins,
}
