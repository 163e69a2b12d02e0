"""Takes the figures of `measure`: figures.py FOLDER [--all] clones FOLDER/origin to FOLDER/slabmark and works there."""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

FOLDER = pathlib.Path(sys.argv[1])
CHECKOUT = FOLDER / "slabmark"
LOG = FOLDER / "log"
os.environ["SLABMARK_CACHE"] = str(FOLDER / "cache")

CHANGED = CHECKOUT / "src/bench/method/raw/posix.cpp"
ITS_TESTS = r"^bench/method\.np[0-9]+$"


def seconds(*words, folder=CHECKOUT, **variables):
    """Of a command, whose output goes to the log; the command ends all if it fails."""
    with LOG.open("ab") as log:
        start = time.monotonic()
        done = subprocess.run(words, cwd=folder, env={**os.environ, **variables}, stdout=log, stderr=log)
        taken = time.monotonic() - start
    if done.returncode:
        print(*LOG.read_text(errors="replace").splitlines()[-30:], f"'{' '.join(words)}' failed.", sep="\n", file=sys.stderr)
        sys.exit(1)
    return taken


def row(what, taken, bound=None):
    number = f"{taken:.2f}" if taken < 10 else f"{taken:.0f}"
    kept = "" if bound is None else f"{bound:g} | {'yes' if taken <= bound else 'NO'}"
    print(f"| {what} | {number} | {kept or ' | '} |", flush=True)


def parts():
    """What the scripts of setup say of their own seconds, from the log."""
    for match in re.finditer(r"^slabmark: (installed|HDF5 built|built) in (\d+) s", LOG.read_text(errors="replace"), re.M):
        name = {"installed": "packages", "HDF5 built": "HDF5", "built": "programs"}[match[1]]
        row(f"... of which {name}", float(match[2]))


def command_lines():
    """Each program and each verb, as the words to which --help and --version are added."""
    [names] = re.findall(r"^programs := (.*)$", (CHECKOUT / "Makefile").read_text().replace("\\\n", ""), re.M)
    yield from ([str(CHECKOUT / name)] for name in names.split())
    slabmark = str(CHECKOUT / "slabmark")
    tree = json.loads(subprocess.run([slabmark, "--describe-options"], check=True, capture_output=True).stdout)
    yield from ([slabmark, verb["name"].split()[-1]] for verb in tree["commands"])


def slowest_help():
    taken = {}
    for words in command_lines():
        for option in ("--help", "--version"):
            if len(words) == 1 or option == "--help":
                command = " ".join([pathlib.Path(words[0]).name, *words[1:], option])
                taken[command] = statistics.median(seconds(*words, option) for _ in range(5))
    command = max(taken, key=taken.get)
    row(f"`{command}`, the slowest of {len(taken)} calls of `--help` and `--version`", taken[command], 0.1)


def main():
    print("| what | seconds | upper bound | kept |\n|---|---|---|---|")
    cloning = seconds("git", "clone", "-q", "origin", "slabmark", folder=FOLDER)
    reference = ["c++", "-std=c++20", "-O2", "-c", "studies/first_contact/reference.cpp", "-o", "/dev/null"]
    row("reference compile, the speed of this machine", statistics.median(seconds(*reference) for _ in range(5)))
    demo = cloning + seconds("make", "demo")
    builds_hdf5 = any((FOLDER / "cache").glob("hdf5-*/complete"))
    row("clone to report, " + ("HDF5 built" if builds_hdf5 else "HDF5 of the system"), demo, 180 if builds_hdf5 else 120)
    parts()
    row("`make test` after it", seconds("make", "test"), 300)
    if "--all" in sys.argv:
        row("`make test-all` after it", seconds("make", "test-all"), 900)
    CHANGED.write_text(CHANGED.read_text().replace("on: whole blocks", "on: all blocks"))
    row("one changed line of a method, and its tests", seconds("make", "test", TESTS=ITS_TESTS), 20)
    seconds("make")
    row("second `make`", seconds("make"), 1)
    slowest_help()


main()
