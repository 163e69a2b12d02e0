"""A checkout is configured with what programs need; what tests need comes with the tests."""

import os
import pathlib
import shutil
import subprocess

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

    def call(purpose):
        settings = {**os.environ, "PRESET": "release", "SLABMARK_INSTALL": "no", "CMAKE_PREFIX_PATH": str(google)}
        return subprocess.run([copy / "setup/build", purpose, "slabmark_git_revision"], env=settings, text=True,
                              capture_output=True, timeout=250)

    return call


def test_programs_are_configured_without_what_tests_link_and_tests_name_it(build):
    done = build("build")
    assert done.returncode == 0, done.stdout + done.stderr
    done = build("test")
    assert done.returncode != 0
    assert "GoogleMock" in done.stderr and "libgmock-dev" in done.stderr, done.stderr
