"""The lab alone, as `pip install ./lab` puts it on a laptop that only reads records: no programs, no checkout."""

import importlib.metadata
import pathlib
import subprocess
import sys
import sysconfig
import zipfile

import pytest
from conftest import LAB, noise, record, write_records

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if int(importlib.metadata.version("setuptools").split(".")[0]) < 77:
        pytest.skip("setuptools is older than 77, which reads the lab's pyproject.toml; `setup/python-env tests` brings it")
    place = tmp_path_factory.mktemp("wheel")
    subprocess.run(["cp", "-r", LAB, place / "lab"], check=True)  # it leaves folders behind
    words = ["-q", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "-w", place, place / "lab"]
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    [made] = place.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory):
    """alone(*words): the command slabmark of an environment with nothing but the wheel and the packages that it asks for."""
    place = tmp_path_factory.mktemp("alone")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    python = place / "venv/bin/python"
    words = ["-q", "--disable-pip-version-check", "--no-deps", "--no-index", wheel]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", *words], check=True, capture_output=True)
    [packages] = (place / "venv/lib").glob("python*/site-packages")
    (packages / "more.pth").write_text(sysconfig.get_path("purelib") + "\n")  # instead of fetching them

    def run(*words):
        environment = {"PATH": f"{place}/venv/bin:/usr/bin:/bin", "HOME": str(place), "MPLBACKEND": "agg"}
        done = subprocess.run(["slabmark", *map(str, words)], cwd=place, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    run.folder = place
    return run


def test_the_wheel_has_every_file_of_the_lab(wheel):
    top = LAB / "slabmark"
    there = {path.relative_to(LAB).as_posix() for path in top.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("slabmark/")}
    assert packed == there


def test_records_become_a_report_a_comparison_and_a_history(alone):
    import random

    generator = random.Random(1)
    for name, scale in (("old", 1.0), ("new", 2.0)):
        launches = [record(noise(generator, 6, scale), started=f"2026-01-0{day}T00:00:00.000Z") for day in range(1, 7)]
        write_records(alone.folder / f"{name}.jsonl", launches)
    status, said = alone("report", "old.jsonl", "new.jsonl", "-o", "page.html")
    assert status == 0 and "pnetcdf-varn" in pathlib.Path(alone.folder / "page.html").read_text(), said
    status, said = alone("compare", "old.jsonl", "new.jsonl")
    assert status == 1 and "slower" in said, said
    status, said = alone("track", "add", "store.db", "old.jsonl")
    assert status == 0, said


def test_what_needs_a_program_says_so_in_a_sentence(alone):
    status, said = alone("doctor")
    assert status == 2 and "'slabmark'" in said and "Traceback" not in said, said
