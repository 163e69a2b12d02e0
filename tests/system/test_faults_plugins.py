"""Fill functions that crash, hang or are none, and ranks that stop: the culprit is named, and nothing waits for ever."""

import os
import pathlib
import shlex
import signal
import subprocess
import time

import pytest
from conftest import OWN_TMPDIR, processes
from seism_core import lines, made, slice_

pytestmark = pytest.mark.long

CODE = """
#include <stdint.h>
#include <stdlib.h>
#define SIGNATURE int rank, uint64_t* g, uint64_t* s, uint64_t* b, uint64_t* at, int argc, char** argv
int number = 1;
void uses_libc(void) { free(malloc(1)); }
float crashes(SIGNATURE) { return *(volatile float*)8; }
static int deep(volatile char* at) { volatile char room[1000]; room[0] = 1; return deep(room) + at[0]; }
float recurses(SIGNATURE) { volatile char c = 0; return deep(&c); }
float loops(SIGNATURE) { for (volatile int i = 0;; ++i) ; }
float calls(SIGNATURE) { extern float not_there(void); return not_there(); }
"""
CONSTRUCTOR = """
__attribute__((constructor)) static void at_load(void) { for (volatile int i = 0;; ++i) ; }
float crashes(void) { return 0; }
"""


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugin")

    def build_one(name, code):
        library = folder / f"{name}.so"
        if not library.exists():
            # A function that nothing defines is not called, but a library without it would not show.
            subprocess.run(["cc", "-shared", "-fPIC", "-O0", "-o", library, "-xc", "-"], input=code, text=True, check=True)
        return library

    return build_one


GOOD = CODE.replace("extern float not_there(void); return not_there();", "return 0;")

WRONG = {
    "data": ("number", "no function"),
    "a function of libc": ("printf", "libc"),
    "a crash": ("crashes", "Segmentation fault"),
    "an overflowing stack": ("recurses", "Segmentation fault"),
}


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_fill_function_is_named(slice_, refused, build, tmp_path, case, ranks):
    name, reason = WRONG[case]
    library = build("good", GOOD)
    done = slice_(lines(ranks, f"use_function_lib {library}", f"use_function_name {name}"), ranks, timeout=120)
    told = refused(done, "seism-core-slice")
    assert name in told and str(library) in told and reason in told
    assert "throughput" not in done.stdout and list(tmp_path.iterdir()) == []


def broken_library(kind, build, folder):
    library = folder / f"{kind}.so"
    if kind == "truncated":
        library.write_bytes(build("good", GOOD).read_bytes()[:4200])
    elif kind == "fifo":
        os.mkfifo(library)
    elif kind == "text":
        library.write_text("no library")
    else:
        return build("undefined", CODE)
    return library


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("kind", ["truncated", "fifo", "text", "undefined"])
def test_a_library_that_cannot_be_loaded_is_named(slice_, refused, build, tmp_path_factory, tmp_path, kind, ranks):
    library = broken_library(kind, build, tmp_path_factory.mktemp("broken"))
    done = slice_(lines(ranks, f"use_function_lib {library}", "use_function_name crashes"), ranks, timeout=120)
    assert str(library) in refused(done, "seism-core-slice")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fast
def test_a_library_without_the_name_of_its_function_is_not_passed_over(slice_, refused):
    done = slice_(lines(1, "use_function_lib nowhere.so"))
    assert "use_function_name" in refused(done, "seism-core-slice")


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("where", ["fill", "load"])
def test_a_function_that_never_returns_is_ended_by_the_deadline(slice_, build, tmp_path, where, ranks):
    library = build("good", GOOD) if where == "fill" else build("constructor", CONSTRUCTOR)
    name = "loops" if where == "fill" else "crashes"
    done = slice_(lines(ranks, f"use_function_lib {library}", f"use_function_name {name}"), ranks, ["--deadline", "2"],
                  timeout=120)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert done.stderr.count("--deadline sets the limit") == 1, done.stderr
    assert "throughput" not in done.stdout and list(tmp_path.iterdir()) == []


def test_a_rank_that_is_stopped_is_ended_by_the_deadline_of_the_others(tmp_path):
    program = pathlib.Path(os.environ["SLABMARK_BIN"]) / "seism-core-slice"
    launcher = shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec"))
    (tmp_path / "long.in").write_text(lines(4, "never_fill", time=200000))
    process = subprocess.Popen([OWN_TMPDIR, *launcher, "-n", "4", program, "--input", tmp_path / "long.in", "--deadline", "10"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=tmp_path, start_new_session=True)
    try:
        while not made(tmp_path) and process.poll() is None:
            time.sleep(0.02)
        ranks = processes(lambda words: words[0] == str(program) and str(tmp_path / "long.in") in words)
        os.kill(ranks[2], signal.SIGSTOP)
        out, errors = process.communicate(timeout=120)
    finally:
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
    assert process.returncode != 0 and "--deadline sets the limit" in errors and "throughput" not in out
    assert made(tmp_path) == []
