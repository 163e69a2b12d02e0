"""A checkout is configured with what programs need; what tests need comes with the tests."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

checkout = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """build(purpose): setup/build of a copy of the checkout, where GoogleTest is installed without GoogleMock."""
    copy = tmp_path_factory.mktemp("checkout")
    left_out = {".git", "build", "datasets"}  # of the top folder: setup has a `build` too
    shutil.copytree(checkout, copy, dirs_exist_ok=True, symlinks=True,
                    ignore=lambda folder, names: left_out & set(names) if folder == str(checkout) else set())
    google = copy / "googletest"
    google.mkdir()
    (google / "GTestConfig.cmake").write_text("add_library(GTest::gtest INTERFACE IMPORTED)\n")

    def call(purpose, **variables):
        settings = {**os.environ, "PRESET": "release", "SLABMARK_INSTALL": "no", "CMAKE_PREFIX_PATH": str(google), **variables}
        return subprocess.run([copy / "setup/build", purpose, "slabmark_git_revision"], env=settings, text=True,
                              capture_output=True, timeout=250)

    return call


@pytest.mark.long
def test_programs_are_configured_without_what_tests_link_and_tests_name_it(build):
    done = build("build")
    assert done.returncode == 0, done.stdout + done.stderr
    done = build("test")
    assert done.returncode != 0
    assert "GoogleMock" in done.stderr and "libgmock-dev" in done.stderr, done.stderr


@pytest.mark.long
def test_what_a_failed_attempt_with_other_settings_found_is_not_taken(build, tmp_path):
    broken = tmp_path / "broken-cc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    assert build("build").returncode == 0
    assert build("build", CC=str(broken)).returncode != 0
    done = build("build")
    assert done.returncode == 0, done.stdout + done.stderr


def test_tests_in_cpp_need_their_own_programs_and_others_all():
    folder = pathlib.Path(os.environ["SLABMARK_BIN"]).parent
    ctest = pathlib.Path(os.environ["SLABMARK_CMAKE"]).with_name("ctest")

    def needed(tests):
        words = [checkout / "setup/test-targets", ctest, folder, "-R", tests]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()

    assert needed(r"^core/(base|parallel\.np2)$") == ["test_core_base", "test_core_parallel"]
    assert needed("^no such test$") == []
    assert needed(r"^(core/base|system\.modules)$") == ["all"]


@pytest.fixture
def copy(tmp_path):
    """A checkout with what the scripts of setup share, and nothing else."""
    (tmp_path / "checkout/setup").mkdir(parents=True)
    shutil.copy(checkout / "setup/surroundings.sh", tmp_path / "checkout/setup")
    return tmp_path / "checkout"


def test_no_cmake_is_named_where_none_is_new_enough_and_none_can_be_fetched(copy):
    (copy / "setup/python-env").write_text("#!/bin/sh\necho no network >&2\nexit 2\n")
    (copy / "setup/python-env").chmod(0o755)
    said = subprocess.run(["bash", "-ec", f'. "{copy}/setup/surroundings.sh"; cmake=$(find_cmake 999.0); echo "took $cmake"'],
                          capture_output=True, text=True)
    assert (said.returncode, said.stdout, said.stderr) == (2, "", "no network\n")


# A Python whose environments fetch nothing, and whose pip does not come to its end before there is a file.
python = """#!/bin/sh
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  "-m pip") case "$*" in *" -r "*) while ! [ -e {arrived} ]; do sleep 0.05; done ;; esac ;;
  *) exec {python} "$@" ;;
esac
"""


@pytest.mark.long
def test_cmake_is_there_while_the_rest_of_the_python_environment_is_fetched(copy, tmp_path):
    shutil.copy(checkout / "setup/python-env", copy / "setup")
    (copy / "setup/requirements.txt").write_text("cmake==3.31.6\nnumpy==2.4.6\n")
    arrived, fake = tmp_path / "arrived", tmp_path / "python"
    fake.write_text(python.format(arrived=arrived, python=sys.executable))
    fake.chmod(0o755)
    call = dict(text=True, stdout=subprocess.PIPE, env={**os.environ, "PYTHON": str(fake), "SLABMARK_CACHE": str(tmp_path / "cache")})
    whole = subprocess.Popen([copy / "setup/python-env"], **call)
    try:
        environment = pathlib.Path(subprocess.run([copy / "setup/python-env", "cmake"], check=True, timeout=120, **call).stdout.strip())
        assert (environment / "begun").exists() and not (environment / "complete").exists()
        assert whole.poll() is None
    finally:
        arrived.touch()
    assert whole.communicate(timeout=120)[0].strip() == str(environment)
    assert whole.returncode == 0 and (environment / "complete").exists()


@pytest.mark.parametrize("mounted", ["exec", "noexec"])
def test_tests_are_kept_where_programs_can_be_started(copy, tmp_path, mounted):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    alone = ["unshare", "-m" if os.getuid() == 0 else "-rm", "bash", "-ec"]
    mount = f"mount -t tmpfs -o {mounted} none {scratch}"
    if subprocess.run([*alone, mount], capture_output=True).returncode != 0:
        pytest.skip("mounting is not permitted here")
    said = subprocess.run([*alone, f'{mount}; . "{copy}/setup/surroundings.sh"; take_tmpdir_that_runs_programs; '
                           'echo "$TMPDIR"; ls -A "$TMPDIR"'], capture_output=True, text=True, check=True,
                          env={**os.environ, "TMPDIR": str(scratch)})
    assert said.stdout == f"{scratch if mounted == 'exec' else copy / 'build/tmp'}\n"
    assert ("noexec" in said.stderr) == (mounted == "noexec")


@pytest.mark.long
@pytest.mark.parametrize("version, package", [("1.14.5+repack-3", "libhdf5-openmpi-dev"), ("1.10.8+repack1-1", None), (None, None)])
def test_an_hdf5_of_the_system_is_installed_where_it_is_new_enough(version, package, tmp_path):
    if not os.path.realpath(shutil.which("mpicc") or "").startswith("/usr/bin/opal"):
        pytest.skip("the MPI here is not the system's own Open MPI")
    commands = tmp_path / "commands"
    commands.mkdir()
    said = f"Version: {version}" if version else ""
    for name, script in [("apt-cache", f'[ "$3" != libhdf5-openmpi-dev ] || echo "{said}"'), ("apt-get", f'echo "$@" >>{tmp_path}/installed'),
                         ("sudo", 'shift; exec "$@"'), ("h5pcc", "exit 1")]:
        (commands / name).write_text(f"#!/bin/sh\n{script}\n")
        (commands / name).chmod(0o755)
    settings = {name: value for name, value in os.environ.items() if name not in ("SLABMARK_INSTALL", "MPICC", "HDF5_ROOT", "HDF5_SOURCE")}
    settings |= {"PATH": f"{commands}:{os.environ['PATH']}", "SLABMARK_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([checkout / "setup/prepare", "build"], env=settings, text=True, capture_output=True, timeout=60)
    assert ("libhdf5-openmpi-dev" in done.stderr) == bool(package), done.stderr
    if package:
        assert package in (tmp_path / "installed").read_text()
        assert done.returncode == 2 and "still missing" in done.stderr
