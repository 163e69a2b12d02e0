"""Fill functions of seism-core-slice."""

import pathlib
import subprocess

import pytest
from seism_core import GRIDS, check, gaussian, lines, slice_, soon, value

pytestmark = pytest.mark.long


@pytest.mark.parametrize("ranks", [1, 4, 8])
def test_gaussian_is_the_formula_over_the_whole_domain(slice_, check, tmp_path, ranks):
    h5py = pytest.importorskip("h5py")
    numpy = pytest.importorskip("numpy")
    done = slice_(lines(ranks, *gaussian(3, 9, 6, 4)), ranks)
    assert done.returncode == 0, done.stderr
    assert value(done.stdout, "Fill function") == "gaussian(3, 9, 6, 4) of libplugins.so"
    size = [blocks * length for blocks, length in zip(GRIDS[ranks], (18, 8, 8))]
    x, y, z = (at - length / 2 for at, length in zip(numpy.ogrid[:size[0], :size[1], :size[2]], size))
    expected = 3 * numpy.exp(-(x / 9) ** 2 - (y / 6) ** 2 - (z / 4) ** 2)
    with h5py.File(tmp_path / "seism-test.h5") as file:
        for step in range(5):
            assert numpy.abs(file["chunked"][step] - expected).max() < 3e-7
        assert file.attrs["simulation_attributes"]["use_function_argv"] == b" 3 9 6 4 "
    assert check(ranks=3).returncode == 0


def test_sd_takes_the_samples_of_a_file_x_fastest(slice_, check, tmp_path):
    h5py = pytest.importorskip("h5py")
    numpy = pytest.importorskip("numpy")
    samples = numpy.arange(18 * 8 * 8, dtype="<f4").reshape(8, 8, 18)  # z, y, x
    samples.tofile(tmp_path / "samples.bin")
    plugin = [line.replace("gaussian", "sd") for line in gaussian("samples.bin", argc=1)]
    assert slice_(lines(4, *plugin), 4).returncode == 0
    with h5py.File(tmp_path / "seism-test.h5") as file:
        block = samples.transpose()
        assert (file["chunked"][3] == numpy.tile(block, (1, 2, 2))).all()
    assert check(ranks=2).returncode == 0


def test_sd_refuses_a_file_that_is_too_short(slice_, refused, tmp_path):
    (tmp_path / "samples.bin").write_bytes(b"1234")
    plugin = [line.replace("gaussian", "sd") for line in gaussian("samples.bin", argc=1)]
    done = slice_(lines(4, *plugin), 4, timeout=soon())
    assert "holds 1 float32 numbers" in refused(done, "seism-core-slice")


PLUGIN = """
#include <stdint.h>
#include <stdlib.h>
float of_a_user(int rank, uint64_t* system, uint64_t* size, uint64_t* block, uint64_t* at, int argc, char** argv) {
  float value = rank * 1e4f + at[0] * 1e3f + at[1] * 10.0f + at[2] + argc * atof(argv[0]);
  at[0] = at[1] = at[2] = size[0] = block[2] = system[1] = 99;  /* must not confuse the host */
  return value;
}
"""


@pytest.mark.fast
def test_a_library_of_the_original_signature_works_as_it_is(slice_, check, tmp_path):
    h5py = pytest.importorskip("h5py")
    numpy = pytest.importorskip("numpy")
    (tmp_path / "user.c").write_text(PLUGIN)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libuser.so", tmp_path / "user.c"], check=True)
    plugin = ["use_function_lib ./libuser.so", "use_function_name of_a_user", "use_function_argc 2",
              "use_function_argv 0.5 8 9"]
    done = slice_(lines(4, *plugin), 4)
    assert done.returncode == 0, done.stderr
    x, y, z = numpy.ogrid[0:18, 0:8, 0:8]
    block = (x * 1e3 + y * 10.0 + z + 1).astype("f4")
    with h5py.File(tmp_path / "seism-test.h5") as file:
        assert (file["chunked"][2, :, :8, 8:] == block + 1e4).all()
        assert (file["chunked"][2, :, 8:, :8] == block + 2e4).all()
    assert check(ranks=3).returncode == 0


def test_the_example_of_the_documentation_fills_whole_blocks(slice_, check, tmp_path):
    h5py = pytest.importorskip("h5py")
    numpy = pytest.importorskip("numpy")
    top = pathlib.Path(__file__).resolve().parents[2]
    text = (top / "docs/reference/seism-core.md").read_text()
    code = text[text.index("    #include"):text.index("Build it with `cc")]
    (tmp_path / "ramp.c").write_text(code)
    command = ["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Werror", f"-I{top}/plugins", "-o", "libramp.so", "ramp.c"]
    subprocess.run(command, check=True, cwd=tmp_path)
    done = slice_(lines(4, "use_function_lib ./libramp.so", "use_function_name ramp"), 4)
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "seism-test.h5") as file:
        assert (file["chunked"][3] == numpy.arange(16)).all()
    assert check(ranks=3).returncode == 0


FAILING = """
#include "fill_function.h"
#include <stdlib.h>
#include <unistd.h>
float failing(int rank, fill_size_t* grid, fill_size_t* size, fill_size_t* block, fill_size_t* at, int argc,
              char** argv) {
  return 0;
}
int failing_block(int rank, const fill_size_t* grid, const fill_size_t* size, const fill_size_t* block,
                  const fill_size_t* start, const fill_size_t* count, int argc, char** argv, float* values) {
  if (rank == 2 && argc == 1) abort();
  return rank == 2 ? 7 : 0;
}
"""


@pytest.mark.parametrize("crash", [False, True])
def test_a_function_that_fails_on_one_rank_ends_all_soon_and_leaves_no_file(slice_, tmp_path, tmp_path_factory, crash):
    top = pathlib.Path(__file__).resolve().parents[2]
    library = tmp_path_factory.mktemp("library") / "libfailing.so"
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{top}/plugins", "-o", library, "-xc", "-"], input=FAILING, text=True,
                   check=True)
    arguments = ["use_function_argc 1", "use_function_argv x"] if crash else []
    done = slice_(lines(4, f"use_function_lib {library}", "use_function_name failing", *arguments), 4, timeout=soon())
    assert done.returncode != 0 and "throughput" not in done.stdout
    if not crash:
        assert done.returncode == 1 and '"failing_block" failed on block 2 with status 7' in done.stderr
    assert list(tmp_path.iterdir()) == []
