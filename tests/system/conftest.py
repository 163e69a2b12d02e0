"""What the tests of the command line share.

They run the built programs as a user does. ctest sets
  SLABMARK_BIN        the folder of the programs
  SLABMARK_MPIEXEC    the launcher with its flags, to which "-n N" is appended
  SLABMARK_TEST_DATA  a folder with real decompositions; tests that need them are skipped without it
  SLABMARK_WITH_PNETCDF  0 if this build has no PnetCDF
Others may set
  SLABMARK_TEST_PATIENCE  how many times longer a command may take, with sanitizers or between nodes
"""

import concurrent.futures
import ctypes
import functools
import itertools
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess

import pytest

# Before each command: launches of MPI must not share a TMPDIR, and a program alone is a launch of one rank.
OWN_TMPDIR = str(pathlib.Path(__file__).resolve().parents[2] / "setup/own-tmpdir")


def lower_the_limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))


def long(*values):
    """Parameters with which a fast test is long."""
    return pytest.param(*values, marks=pytest.mark.long)


def words_of(folder, program):
    """Those that start a program of the folder, or a verb such as "slabmark bench"."""
    name, *verb = str(program).split() if str(program).startswith("slabmark ") else [program]
    return [str(folder / name), *verb]


@pytest.fixture(scope="session")
def run():
    """run(program, args, ranks=1, timeout=60, launch=None, input=None, **popen) -> subprocess.CompletedProcess

    Runs it under the launcher if there are several ranks (or `launch` says so), otherwise without. What outlives the
    timeout is killed with all its ranks and fails the test: a hang is a bug. `input` is the text on standard input.
    Other keywords go to subprocess.Popen.
    """
    folder = pathlib.Path(os.environ["SLABMARK_BIN"])
    launcher = shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec"))
    patience = float(os.environ.get("SLABMARK_TEST_PATIENCE", 1))

    @functools.cache
    def start_with_the_limit(ranks):
        return run_program("h5perf", ["--version"], ranks=ranks, preexec_fn=lambda: lower_the_limit()).returncode == 0

    def run_program(program, args, ranks=1, timeout=60, launch=None, input=None, **popen):
        if popen.get("preexec_fn") is lower_the_limit and ranks > 1 and not start_with_the_limit(ranks):
            pytest.skip(f"the shared memory of this MPI does not fit into files of 8 MiB, so that {ranks} ranks do not start")
        command = [*words_of(folder, program), *map(str, args)]
        if launch or (launch is None and ranks > 1):
            command = [*launcher, "-n", str(ranks), *command]
        command = [OWN_TMPDIR, *command]
        stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True, **popen)
        timeout *= patience
        try:
            out, err = process.communicate(input, timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            pytest.fail(f"{shlex.join(command)} was still running after {timeout:g} s\n{out}\n{err}")
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    return run_program


@pytest.fixture
def each(tmp_path):
    """each(cases, check) calls check(case, folder) for all of them, four at a time: the launcher mostly sleeps."""

    def run_all(cases, check):
        def one(number, case):
            folder = tmp_path / str(number)
            folder.mkdir()
            try:
                check(case, folder)
            except AssertionError as error:
                raise AssertionError(f"case {case}: {error}") from error

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for outcome in [pool.submit(one, number, case) for number, case in enumerate(cases)]:
                outcome.result()

    return run_all


def as_vtk_reads(path, field):
    """[(image, time, values of the field)] of each step of a file of slices. Skips the rest of a test without a VTK that
    reads planes of every axis."""
    # Not all of VTK: its windows would need libraries of a desktop.
    hdf = pytest.importorskip("vtkmodules.vtkIOHDF", reason="VTK is not there; `setup/python-env tests` brings it")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkVersion
    if (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()) < (9, 7):
        pytest.skip(f"VTK {vtkVersion.GetVTKVersion()} reads planes normal to z only; 9.7 reads all")
    reader = hdf.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    found = []
    for step in range(reader.GetNumberOfSteps()):
        reader.SetStep(step)
        reader.Update()
        image = reader.GetOutputDataObject(0).NewInstance()
        image.ShallowCopy(reader.GetOutputDataObject(0))
        found.append((image, reader.GetTimeValue(), vtk_to_numpy(image.GetPointData().GetArray(field))))
    return found


def processes(matches):
    """[id] of the processes here whose command line, a list of words, `matches`, in order. (pgrep is not everywhere.)"""
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_text(errors="replace").split("\0")
        except OSError:
            continue  # it has ended
        if matches(words):
            found.append(int(place.name))
    return sorted(found)


WITHOUT_PNETCDF = os.environ.get("SLABMARK_WITH_PNETCDF") == "0"
needs_pnetcdf = pytest.mark.skipif(WITHOUT_PNETCDF, reason="this build has no PnetCDF, and this test uses it or .nc maps")
# Of maps of which each hyperslab is moved by a collective call: MPICH, which has no PnetCDF, takes 10 ms for one on more ranks
# than cores.
LEVELS = 8 if WITHOUT_PNETCDF else 72


@pytest.fixture(scope="session")
def make_map(run):
    """make_map(folder, ne=2, ranks=16, map_index=1) -> a file of this map of an F case, or of all three if none is named.

    Without PnetCDF it is text, which holds one map: the third, that with levels, if none is named."""

    def make(folder, **options):
        if WITHOUT_PNETCDF:
            options.setdefault("map_index", 3)
        path = folder / ("f.dat" if WITHOUT_PNETCDF else "f.nc")
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        run("slabmark decomp", ["generate", "f", *words, "-o", path]).check_returncode()
        return path

    return make


@pytest.fixture(scope="session")
def subfiling_runs(run, make_dat, tmp_path_factory):
    """Whether HDF5's subfiling driver does: it may not be built, or MPI gives it no threads or hangs in it."""
    folder = tmp_path_factory.mktemp("subfiling")
    path = make_dat(folder / "a.dat", [4], [[1, 2], [3, 4]])
    done = run("slabmark bench", ["decomp", "--map", path, "--method", "hdf5-subfiling", "-d", folder, "--trials", "1"],
               ranks=2)
    assert done.returncode == 0, done.stderr
    return re.search("^hdf5-subfiling .*yes$", done.stdout, re.M) is not None  # the rows of the limit say yes, too


@pytest.fixture(scope="session")
def subfiling(subfiling_runs):
    if not subfiling_runs:
        pytest.skip("HDF5's subfiling driver does not run here")


@pytest.fixture(scope="session")
def pnetcdf_version(run):
    """Of the library that the programs find, such as (1, 12); (0, 0) without one."""
    found = re.search(r"PnetCDF (\d+)\.(\d+)", run("slabmark bench", ["--version"]).stdout)
    return tuple(map(int, found.groups())) if found else (0, 0)


@pytest.fixture
def as_pnetcdf_1_15(tmp_path):
    """Environment of a program that takes its PnetCDF for 1.15.0."""
    source, library = tmp_path / "later.c", tmp_path / "later.so"
    source.write_text('const char* ncmpi_inq_libvers(void) { return "version = 1.15.0 of March 19, 2026"; }')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}


@pytest.fixture(scope="session")
def has_vard(pnetcdf_version):
    """Whether PnetCDF has these calls still."""
    return (0, 0) < pnetcdf_version < (1, 15)


@pytest.fixture(scope="session")
def methods_that_keep_data(run, subfiling_runs, pnetcdf_version, has_vard):
    """The methods that move any pattern here and whose files can be read back."""
    methods = json.loads(run("slabmark bench", ["methods", "--json", "-"]).stdout)["methods"]
    lacking = {"hdf5-subfiling": not subfiling_runs, "pnetcdf-vard": not has_vard,
               "pnetcdf-varn-aggregated": pnetcdf_version < (1, 14), "pnetcdf-varn-mpiio": pnetcdf_version < (1, 15)}
    return [method["name"] for method in methods
            if not method["missing"] and method["kind"] not in ("slices", "as-captured") and method["format"] != "none"
            and not lacking.get(method["name"])]


@pytest.fixture(scope="session")
def was_killed():
    """was_killed(done): whether a launcher says of a rank that it was. One that does not find its messages says it by its status."""
    return lambda done: done.returncode == 128 + 9 or (done.returncode not in (0, 1) and "ignal 9" in done.stdout + done.stderr)


@pytest.fixture(scope="session")
def others_are_told(run, tmp_path_factory):
    """Whether the launcher tells the other ranks to end (SIGTERM) where one is killed, so that they can remove what they
    have made. Open MPI's does; MPICH's kills them, too, with all processes of their groups."""
    folder = tmp_path_factory.mktemp("told")
    script = """
        if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ]; then
          trap 'touch told; exit 1' TERM
          touch ready
          for tenth in $(seq 100); do sleep 0.1; done  # Intel MPI's ends only what has called MPI_Init
        fi
        until [ -e ready ]; do sleep 0.1; done
        kill -KILL $$"""
    done = run("/bin/sh", ["-c", script], ranks=2, cwd=folder)
    assert (folder / "ready").exists(), done.stderr
    return (folder / "told").exists()


@pytest.fixture(scope="session")
def sentence():
    """sentence(done, program) -> the one message of a program or verb, without its prefix, among what the launcher prints."""

    def find(done, program):
        prefix = f"{' '.join(program.split()[:2])}: error: "
        found = [line for line in done.stderr.splitlines() if line.startswith(prefix)]
        assert len(found) == 1, done.stderr
        message = found[0].removeprefix(prefix)
        assert message.endswith((".", "?")), message  # "did you mean ...?" is a sentence, too
        return message

    return find


@pytest.fixture(scope="session")
def refused(sentence):
    """The same of a program that ended with status 2: wrong usage or input."""

    def find(done, program):
        assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
        return sentence(done, program)

    return find


@pytest.fixture(scope="session")
def real_data():
    """The folder of real decompositions."""
    folder = os.environ.get("SLABMARK_TEST_DATA")
    if not folder:
        pytest.skip("SLABMARK_TEST_DATA names no folder with real decomposition files")
    return pathlib.Path(folder)


@pytest.fixture(scope="session")
def make_dat():
    """make_dat(path, dims, rows) writes a PIO text file: dims fastest first, a list of entries for each rank."""

    def write(path, dims, rows):
        lines = [f"version 2001 npes {len(rows)} ndims {len(dims)} ", " ".join(map(str, dims)) + " "]
        for rank, entries in enumerate(rows):
            lines += [f"{rank} {len(entries)}", "".join(f"{entry} " for entry in entries)]
        path.write_text("\n".join(lines) + "\n\nObtained 10 stack frames.\n/model.exe() [0x13ff8e7]\n")
        return path

    return write


@pytest.fixture(scope="session")
def write_log(run):
    """write_log(path, ranks, *more, **environment): a program of plain HDF5 calls, through the log-layout connector.

    It makes the dataset /d of 100 int32 a rank, which count from 0. `more` and what it means is in log_writer.c.
    """
    plugins = os.path.join(os.environ["SLABMARK_BIN"], "..", "plugins")

    def write(path, ranks=3, *more, **environment):
        return run("log_writer", [path, *more], ranks=ranks, launch=True,
                   env={**os.environ, "HDF5_PLUGIN_PATH": plugins,
                        "HDF5_VOL_CONNECTOR": "slablog under_vol=0;under_info={}", **environment})

    return write


@pytest.fixture(scope="session")
def file_size_limit():
    """For run(..., preexec_fn=file_size_limit): no file may grow beyond 8 MiB, as with `ulimit -f`.

    It applies to the launcher too, and Open MPI does not start where its shared memory files of 4 MiB do not fit. Those
    of Intel MPI are larger, as are those of MPICH 5 for 8 ranks: run() skips the test then.
    """
    return lower_the_limit


@pytest.fixture
def small_disk(tmp_path):
    """small_disk(folder) -> preexec_fn: a file system of 4 MiB there, for the processes that run() starts so, and only them."""

    def disk(folder):
        def mount():
            libc = ctypes.CDLL(None)
            new_mounts, private, recursive = 0x20000, 1 << 18, 0x4000
            if (libc.unshare(new_mounts) != 0 or libc.mount(b"none", b"/", None, private | recursive, None) != 0
                    or libc.mount(b"none", os.fsencode(folder), b"tmpfs", 0, b"size=4m") != 0):
                raise OSError("not permitted")

        return mount

    try:
        subprocess.run(["true"], preexec_fn=disk(tmp_path), check=True)
    except subprocess.SubprocessError:
        pytest.skip("mounting a small disk is not permitted here")
    return disk


@pytest.fixture
def captured(run, tmp_path):
    """captured(program, args, ranks, **environment) -> (the finished process, the events of each rank)

    `notes` of the process is what is said when the pattern is made. With KILLED in the environment it is killed, and what is returned is what was seen until then."""
    from capturing import BIN, environment  # not found by the tests of the lab, which take other fixtures of this file

    numbers = itertools.count()

    def capture(program, args, ranks=1, launch=None, input=None, **more):
        pattern = tmp_path / f"{next(numbers)}.pattern"
        settings = [f"{name}={value}" for name, value in environment(pattern, **more).items()]
        words = [*settings, *words_of(BIN, program), *args]
        done = run("/usr/bin/env", words, ranks=ranks, launch=launch, input=input, cwd=tmp_path)
        assert (done.returncode != 0) == ("KILLED" in more), done.stderr
        merged = run("slabmark pattern", ["merge", f"{pattern}.parts", "-o", pattern])
        assert merged.returncode == 0, merged.stderr
        shown = [run("slabmark pattern", ["show", pattern, "--rank", rank]) for rank in range(ranks)]
        events = [[json.loads(line) for line in one.stdout.splitlines()] for one in shown]
        for of_rank in events:
            assert ("KILLED" in more) == ({"ended": "early"} in of_rank), merged.stdout
            of_rank[:] = [event for event in of_rank if "ended" not in event]
        done.notes = merged.stdout
        return done, events

    return capture
