"""The library of slices as a simulation gets it: installed, found by CMake, and used as docs/reference/slices.md shows."""

import os
import pathlib
import re
import subprocess

import h5py
import numpy as np
import pytest
from conftest import as_vtk_reads

pytestmark = pytest.mark.long

checkout = pathlib.Path(__file__).resolve().parents[2]


def build(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def documented(begin):
    """The piece of code of docs/reference/slices.md that begins with this line."""
    text = (checkout / "docs/reference/slices.md").read_text()
    found = re.search(rf"^    {re.escape(begin)}$.*?(?=^\S)", text, re.M | re.S)
    assert found, f"docs/reference/slices.md has no code that begins with {begin}"
    return re.sub("^    ", "", found[0], flags=re.M)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    place = tmp_path_factory.mktemp("installed")
    built = pathlib.Path(os.environ["SLABMARK_BIN"]).parent
    for component in ("slice", "slablog"):
        build([os.environ["SLABMARK_CMAKE"], "--install", built, "--prefix", place, "--component", component])
    return place


def build_with(prefix, folder):
    cmake = os.environ["SLABMARK_CMAKE"]
    build([cmake, "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
           f"-DMPI_CXX_COMPILER={os.environ['SLABMARK_MPICC'].replace('mpicc', 'mpicxx')}"])
    build([cmake, "--build", folder / "build"])


def test_only_what_a_simulation_needs_is_installed(prefix):
    headers = {str(path.relative_to(prefix / "include/slabmark")) for path in prefix.rglob("*.hpp")}
    for header in headers:
        included = re.findall(r'#include "(.*)"', (prefix / "include/slabmark" / header).read_text())
        assert set(included) <= headers, f"{header} includes what is not installed"
    assert {"slice/output.hpp", "pattern/blocked_field.hpp", "base/error.hpp"} <= headers
    text = "".join(path.read_text() for path in prefix.rglob("*.hpp")) + next(prefix.rglob("SlabmarkConfig.cmake")).read_text()
    assert str(checkout) not in text


def test_the_example_of_the_documentation_is_built_outside_and_writes_its_slices(run, prefix, tmp_path):
    """A smaller grid than the documentation's, and the same steps."""
    if os.environ.get("SLABMARK_SANITIZERS"):
        pytest.skip("a program without sanitizers cannot load this build's library, which has them")
    code = documented("#include <vector>")
    smaller = code.replace("{360, 355, 300}", "{36, 35, 30}").replace("every_fifth, 2, 150", "every_fifth, 2, 15")
    assert smaller.count("36, 35, 30") == smaller.count("2, 15)") == 1
    (tmp_path / "simulation.cpp").write_text(smaller)
    (tmp_path / "CMakeLists.txt").write_text(documented("cmake_minimum_required(VERSION 3.16)"))
    build_with(prefix, tmp_path)

    (tmp_path / "out").mkdir()
    done = run(tmp_path / "build/simulation", [], ranks=2, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "out/run_z15.vtkhdf") as file:
        data = file["VTKHDF/PointData/rho"]
        assert data.shape == (1000, 7, 8) and data.dtype == np.float32
        assert np.array_equal(data[:, 0, 0], np.arange(1, 1001)) and np.array_equal(data[:, -1, -1], data[:, 0, 0])
    with h5py.File(tmp_path / "out/run_x20.vtkhdf") as file:
        assert file["VTKHDF/PointData/rho"].shape == (100, 6, 7)

    # An output that lives longer than MPI, or is killed with outputs that are flushed.
    longer = re.sub(r"^  [{}]\n", "", smaller, flags=re.M).replace("output.close();", "")
    assert len(longer) < len(smaller) - 16
    late = longer.replace("out/run", "out/late").replace("  MPI_Finalize();", """
      if (argc > 1) {
        output.flush();
        std::raise(SIGKILL);
      }
      MPI_Finalize();""")
    (tmp_path / "simulation.cpp").write_text("#include <csignal>\n" + late)
    build([os.environ["SLABMARK_CMAKE"], "--build", tmp_path / "build"])
    done = run(tmp_path / "build/simulation", [], ranks=2, cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    for name, outputs in (("late_z15", 1000), ("late_x20", 100)):
        with h5py.File(tmp_path / f"out/{name}.vtkhdf") as file:
            assert file["VTKHDF/PointData/rho"].shape[0] == outputs

    for path in (tmp_path / "out").glob("late*"):
        path.unlink()
    assert run(tmp_path / "build/simulation", ["killed"], ranks=2, cwd=tmp_path).returncode != 0
    killed = (("late_z15", 1000, (8, 7, 1)), ("late_x20", 100, (1, 7, 6)))
    for name, outputs, _ in killed:
        with h5py.File(tmp_path / f"out/{name}.vtkhdf") as file:
            assert file["VTKHDF/Steps"].attrs["NSteps"] == outputs and file["VTKHDF/Steps/Values"].shape == (outputs,)
            assert np.all(np.diff(file["VTKHDF/PointData/rho"][:outputs, 0, 0]) == 1000 / outputs)
    for name, outputs, points in killed:
        images = as_vtk_reads(tmp_path / f"out/{name}.vtkhdf", "rho")
        assert len(images) == outputs
        image, time, values = images[-1]
        assert image.GetDimensions() == points and time == 0.01 * (1000 - 1000 // outputs)
        assert np.all(values == 1001 - 1000 // outputs)


def test_a_project_in_c_finds_the_package_and_the_header_of_the_connector(prefix, tmp_path):
    """The header needs HDF5, which the project finds for itself; the compiler is only asked whether it sees it."""
    (tmp_path / "main.c").write_text("#if !__has_include(<slabmark/slablog.h>)\n#error missing\n#endif\nint main(void) { return 0; }\n")
    (tmp_path / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.16)
project(simulation C)
find_package(Slabmark REQUIRED)
add_executable(simulation main.c)
target_link_libraries(simulation PRIVATE slabmark::slablog)
if(NOT Slabmark_PLUGIN_DIR OR TARGET slabmark::slice)
  message(FATAL_ERROR "no folder of the connector, or a library of C++ in a project without it")
endif()
""")
    build_with(prefix, tmp_path)
