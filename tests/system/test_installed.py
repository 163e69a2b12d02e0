"""What is installed works where it is moved to, for another user, with the build tree and the cache gone, and with nothing
in the environment but PATH.

`make test-all` runs what takes some seconds; `make test-installed` runs all, by SLABMARK_TEST_INSTALLED=1.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import pytest
from conftest import needs_pnetcdf

checkout = pathlib.Path(__file__).resolve().parents[2]
built = pathlib.Path(os.environ["SLABMARK_BIN"]).parent
cache = pathlib.Path(os.environ.get("SLABMARK_CACHE")
                     or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "slabmark")
launcher = shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec"))
NOBODY = "65534"

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(os.environ.get("SLABMARK_SANITIZERS")), reason="nobody installs a build with sanitizers")]
whole = pytest.mark.skipif(not os.environ.get("SLABMARK_TEST_INSTALLED"), reason="make test-installed runs this")


@pytest.fixture(scope="module")
def place():
    """A folder that anybody may look into, unlike those of pytest."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slabmark-installed-", dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def prefix(place):
    """All of it, installed by somebody who keeps files for himself, and then moved."""
    settings = {**os.environ, "PRESET": built.name, "PREFIX": str(place / "first")}
    done = subprocess.run([checkout / "setup/install"], env=settings, umask=0o077, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (place / "elsewhere").mkdir()
    return (place / "first").rename(place / "elsewhere" / "slabmark")


@pytest.fixture(scope="module")
def hidden():
    """hidden(command) -> that command as another user, where neither the build tree nor the cache is there."""
    cover = "; ".join(f"mount -t tmpfs none {shlex.quote(str(folder))}" for folder in (built, cache) if folder.is_dir())
    root = os.getuid() == 0
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if root else []
    start = ["unshare", "-m" if root else "-rm", "bash", "-ec", f'{cover}; exec "$@"', "hidden", *become]
    try:
        subprocess.run([*start, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"build tree and cache cannot be hidden here: {getattr(error, 'stderr', error)}")
    return lambda command: [*start, *map(str, command)]


@pytest.fixture(scope="module")
def use(prefix, hidden, place):
    """use(command, ranks=None, **environment): runs what is installed in a folder of the other user; text of its output."""
    home = place / "home"
    home.mkdir(mode=0o777)
    home.chmod(0o777)

    def run(command, ranks=None, **environment):
        if ranks:
            command = [*launcher, "-n", str(ranks), *command]
        tmpdir = tempfile.mkdtemp(dir=home)
        os.chmod(tmpdir, 0o777)
        path = f"{prefix}/bin:{os.path.dirname(shutil.which(launcher[0]))}:/usr/bin:/bin"
        done = subprocess.run(hidden(["env", "-i", f"PATH={path}", f"TMPDIR={tmpdir}",
                                      *(f"{name}={value}" for name, value in environment.items()), *command]),
                              cwd=home, capture_output=True, text=True, timeout=250)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    run.home = home
    return run


def programs(prefix):
    """Names of all but the links to the command slabmark, which are its verbs' earlier names."""
    return sorted(path.name for path in (prefix / "bin").iterdir() if not path.is_symlink())


def test_libraries_are_looked_for_in_the_prefix_and_nothing_names_the_checkout_or_the_cache(prefix):
    away, searched = [str(checkout), str(cache), str(prefix.parents[1] / "first")], set()
    for path in prefix.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.suffix in (".pyc", ".a") or "packages" in path.parts:
            continue
        content = path.read_bytes()
        if content.startswith(b"\x7fELF"):
            dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
            folders = [folder for line in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic) for folder in line.split(":")]
            folders = [f for f in folders if not f.startswith(f"{cache}/mpi-")]  # where the matrix has the MPIs that it builds for
            assert not [f for f in folders for a in away if f.startswith(a)], (path, folders)
            searched.update(folders)
        elif "hdf5" not in path.parts:  # whose headers tell where it was built for
            assert not [a for a in away if a.encode() in content], path
    assert any(folder.startswith("$ORIGIN") for folder in searched)


def test_each_program_has_a_manual_page_and_completions_with_all_of_its_options(prefix):
    pages = {"man/man1/{}.1", "bash-completion/completions/{}", "zsh/site-functions/_{}", "fish/vendor_completions.d/{}.fish"}
    for program in programs(prefix):
        for page in pages:
            assert (prefix / "share" / page.format(program)).stat().st_size > 100
        subprocess.run(["bash", "-n", prefix / "share/bash-completion/completions" / program], check=True)
    options = {"e3sm_io": "no-verify", "slabmark": "false-alarms", "h5perf": "emulation"}
    for program, option in options.items():
        for page in pages:
            text = (prefix / "share" / page.format(program)).read_text().replace("\\-", "-")
            assert option in text or page.startswith("man/") and program == "slabmark", (program, page)
    for verb, option in {"decomp": "tie-break", "track": "false-alarms"}.items():
        assert option in (prefix / f"share/man/man1/slabmark-{verb}.1").read_text().replace("\\-", "-")
    completed = subprocess.run(
        ["bash", "-c", 'source "$1"; COMP_WORDS=(slabmark decomp generate f --tie-break ""); COMP_CWORD=5; '
                       '_slabmark; echo "${COMPREPLY[@]}"', "bash", prefix / "share/bash-completion/completions/slabmark"],
        capture_output=True, text=True, check=True)
    assert completed.stdout.split() == ["encounter", "lowest"]


@needs_pnetcdf
def test_a_pattern_is_written_through_every_library_and_the_connector_beside_the_programs(use):
    use(["slabmark", "decomp", "generate", "f", "--ne", "2", "--levels", "4", "--ranks", "4", "-o", "map.nc"])
    out = use(["slabmark", "bench", "decomp", "--map", "map.nc", "--method", "pnetcdf-varn,hdf5-union,hdf5-log,mpiio-rearranged",
               "--trials", "1", "--json", "records.jsonl"], ranks=2)
    for method in ("pnetcdf-varn", "hdf5-union", "hdf5-log", "mpiio-rearranged"):
        assert re.search(rf"{method} .*yes", out), out


def test_the_lab_runs_with_the_packages_beside_it(use, prefix):
    assert re.match(r"slabmark \d+\.\d+\.\d+", use(["slabmark", "--version"]))
    assert "numpy" in (prefix / next(prefix.glob("lib*/slabmark/lab/requirements.txt"))).read_text()


@whole
def test_each_program_says_what_it_was_built_with(use, prefix):
    for program in programs(prefix):
        said = use([program, "--version"])
        assert program in said and ("built by" in said or program == "slabmark"), said


@whole
@needs_pnetcdf
def test_the_programs_of_the_readme_run_and_their_records_become_a_report(use):
    use(["slabmark", "decomp", "generate", "f", "--ne", "4", "--ranks", "16", "-o", "f.nc"])
    use(["e3sm_io", "-n", "2", "-o", "e3sm.nc", "--json", "report.jsonl", "f.nc"], ranks=4)
    use(["h5perf", "-A", "posix,mpiio,phdf5", "-e", "64K", "-B", "16K", "-x", "16K", "-X", "16K", "--json", "report.jsonl"], ranks=2)
    use(["slabmark", "bench", "decomp", "--map", "f.nc", "--method", "hdf5-slab,pnetcdf-rearranged", "--trials", "3",
         "--json", "report.jsonl"], ranks=2)
    use(["slabmark", "report", "report.jsonl", "-o", "report.html"])
    assert "pnetcdf-rearranged" in (use.home / "report.html").read_text()


@whole
@needs_pnetcdf
def test_an_unchanged_program_writes_through_the_drop_in(use, prefix):
    library = next(prefix.glob("lib*/libslabmark_pnetcdf.so"))
    use(["slabmark", "decomp", "generate", "f", "--ne", "2", "--levels", "4", "--ranks", "4", "-o", "drop.nc"])
    out = use(["sh", "-c", f"exec {' '.join(launcher)} -n 2 env LD_PRELOAD={library} SLABMARK_REPORT=1 "
                           "e3sm_io --methods varn -o dropped.nc drop.nc 2>&1"])
    assert re.search(r"slabmark: .*rearranged [1-9]", out), out


@whole
@pytest.mark.parametrize("way", ["cmake", "pkg-config"])
def test_a_program_in_c_outside_is_built_against_the_packages_and_uses_the_connector(use, prefix, way):
    if not shutil.which(way):
        pytest.skip(f"no {way}")
    if not list(prefix.glob("lib*/slabmark/hdf5")):
        pytest.skip("HDF5 is not ours, so the program would take the one that it finds")
    folder = use.home / way
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    source = folder / "writer.c"
    source.write_text("#include <slabmark/slablog.h>\n" + (checkout / "tests/system/log_writer.c").read_text())
    packages = next(prefix.glob("lib*/pkgconfig"))
    if way == "cmake":
        (folder / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.16)
project(writer C)
find_package(MPI REQUIRED COMPONENTS C)
find_package(Slabmark REQUIRED)
add_executable(writer writer.c)
target_link_libraries(writer PRIVATE slabmark::slablog slabmark::hdf5 MPI::MPI_C)
file(WRITE ${CMAKE_BINARY_DIR}/plugins ${Slabmark_PLUGIN_DIR})
""")
        use(["cmake", "-S", way, "-B", f"{way}/build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMPI_C_COMPILER={shutil.which(os.environ['SLABMARK_MPICC'])}"])
        use(["cmake", "--build", f"{way}/build"])
        plugins = (folder / "build/plugins").read_text()
    else:
        use(["sh", "-c", f"mkdir {way}/build && {shutil.which(os.environ['SLABMARK_MPICC'])} {way}/writer.c -o {way}/build/writer "
                         "$(pkg-config --cflags --libs slabmark_slablog slabmark_hdf5)"], PKG_CONFIG_PATH=packages)
        plugins = use(["pkg-config", "--variable=plugindir", "slabmark_slablog"], PKG_CONFIG_PATH=packages).strip()
    use([f"{way}/build/writer", f"{way}/logged.h5"], ranks=2, HDF5_PLUGIN_PATH=plugins,
        HDF5_VOL_CONNECTOR="slablog under_vol=0;under_info={}")
    assert "/d" in use(["slabmark", "log", "info", f"{way}/logged.h5"])


@whole
def test_module_files_put_the_programs_into_the_path(use, prefix):
    folder = prefix / "share/slabmark/modulefiles/slabmark"
    version, = (path.name for path in folder.iterdir() if path.suffix != ".lua")
    assert (folder / f"{version}.lua").exists()
    if not shutil.which("tclsh"):
        pytest.skip("no tclsh to evaluate the module file with")
    words = "\n".join(f"proc {word} {{args}} {{puts [list {word} {{*}}$args]}}"
                      for word in ("module-whatis", "conflict", "prepend-path", "setenv"))
    script = f"{words}\nset ModulesCurrentModulefile {folder / version}\nsource {folder / version}\n"
    said = subprocess.run(["tclsh"], input=script, capture_output=True, text=True, check=True).stdout
    assert f"prepend-path PATH {prefix}/bin" in said and f"setenv SLABMARK_ROOT {prefix}" in said
