"""Command lines of the documentation: their programs, subcommands and options are those that there are, and those that take a
moment run as they stand.

What is checked is each line of a block of shell, and each span of code, that starts one of our programs (behind assignments, a
launcher or another command), a script of this checkout, or make. Commands of others (cmake, spack, apt-get) are not: their options
are not ours to know.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest
from conftest import TOP

PAGES = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md")), *sorted((TOP / "studies").glob("*/README.md")), TOP / "lab/README.md"]
OURS = ("setup/", "docs/", "studies/", "demo/", "tests/", ".ci/")  # folders with scripts

# --- What is a command line


def blocks(text):
    """[(number of the first line, text)] of blocks in shell: indented, or fenced and not of another language."""
    lines, number = text.splitlines(), 0
    while number < len(lines):
        start = number
        if fence := re.match(r"```(\w*)", lines[number]):
            number += 1
            while number < len(lines) and not lines[number].startswith("```"):
                number += 1
            if fence[1] in ("", "bash", "sh", "shell", "console"):
                yield start + 2, "\n".join(lines[start + 1 : number])
            number += 1
        elif lines[number].startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number].strip()):
                number += 1
            yield start + 1, "\n".join(line[4:] for line in lines[start:number]).rstrip()
        else:
            number += 1


def spans(text):
    """[(number of the line, text)] of code inside the text."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("    "):
            yield from ((number, span) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", line))


def simple_commands(line):
    """Words of each command of a line such as `A=1 b -c | d && e  # comment`; of a synopsis without its brackets."""
    line = re.split(r"\s#\s|\s{3,}(?=\S)", line.strip().removeprefix("$ "))[0]
    try:
        words = shlex.split(line)
    except ValueError:  # an apostrophe: prose, or output
        return
    command, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("|", "||", "&", "&&", ";", "{", "}"):
            yield command
            command = []
        elif redirect := re.match(r"\d?(<<|>>|<|>)", word):
            skip = redirect[0] == word
        else:
            command.append(word.rstrip(";").strip("[]"))
            if word.endswith(";"):
                yield command
                command = []
    yield command


def command_lines(page):
    """(place, words) of each simple command in a page."""
    text = page.read_text(encoding="utf-8")
    for number, block in blocks(text):
        lines = block.split("\n")
        for offset, line in enumerate(lines):
            while line.endswith("\\") and offset + 1 < len(lines):
                offset += 1
                line = line[:-1] + lines[offset]
            yield from ((f"{page.relative_to(TOP)}:{number + offset}", words) for words in simple_commands(line) if words)
    for number, span in spans(text):
        yield from ((f"{page.relative_to(TOP)}:{number}", words) for words in simple_commands(span) if len(words) > 1)


# --- What is wrong with it


def fault_of(words, programs, targets):
    """A sentence about a command that none of ours takes; None if there is none, or if it is a command of others."""
    while words and re.match(r"[A-Za-z_]\w*=", words[0]):
        words = words[1:]
    if not words:
        return None
    if words[0] == "make":
        wrong = [word for word in words[1:] if re.match(r"[a-z]", word) and word not in targets and "=" not in word]
        return f"make has no target {wrong[0]}" if wrong and not re.search(r"[^\w./-]", wrong[0]) else None
    if words[0].startswith(OURS):
        if not (TOP / words[0]).exists():
            return f"there is no {words[0]}"
        if words[0] != "setup/own-tmpdir":
            return None
    for place, word in enumerate(words):
        name = word.rpartition("/")[2]
        if re.fullmatch(r"slabmark-(bench|blob|decomp|pattern|probe)|slablog-\w+", name):
            return f"{name} is a name from before the verbs of slabmark"
        if name in programs and (place == 0 or runs_another(words[0])):
            return fault_of_program(programs[name], words[place + 1 :], programs, targets)
    return None


def runs_another(word):
    return word.rpartition("/")[2] in ("mpiexec", "mpirun", "srun", "own-tmpdir", "env", "time", "nice", "timeout", "exec", "strace", "perf")


def fault_of_program(command, words, programs, targets):
    known = {name for option in command.options for name in option.names} | {"--help", "-h", "--version"}
    for place, word in enumerate(words):
        if word == "--":
            return fault_of(words[place + 1 :], programs, targets)
        name = re.split(r"[=,.)\]]", word)[0]
        if re.match(r"--?[A-Za-z]", name):
            letters = not name.startswith("--") and name[:2] in known  # -n10, -qn 10
            if name not in known and not letters:
                return f"{command.name} has no option {name}"
        else:
            for below in command.commands:
                if below.word == word:
                    return fault_of_program(below, words[place + 1 :], programs, targets)
            if command.commands and not any(words[place - 1] in option.names for option in command.options if place):
                # A word of capitals stands for any.
                is_word = not word.isupper() and "..." not in word
                return f"{command.name} has no {'verb' if command.name == 'slabmark' else 'subcommand'} {word}" if is_word else None
    return None


@pytest.fixture(scope="module")
def targets():
    """What make may be asked for."""
    said = subprocess.run(["make", "-C", TOP, "-npq", "--no-print-directory"], capture_output=True, text=True, env={**os.environ, "MAKEFLAGS": ""})
    return set(re.findall(r"^([a-z][\w.-]*):", said.stdout, flags=re.M))


def test_each_command_line_is_one_that_its_program_takes(programs, targets):
    assert {"demo", "test", "e3sm_io", "docs"} <= targets
    checked, faults = 0, []
    for page in PAGES:
        for place, words in command_lines(page):
            checked += 1
            if (fault := fault_of(words, programs, targets)):
                faults.append(f"{place}: {fault}: {shlex.join(words)}")
    assert checked > 100 and not faults, "\n".join(faults)


def test_methods_and_their_options_in_command_lines_are_in_the_build(run, programs):
    methods = json.loads(run("slabmark bench", ["methods", "--json", "-"]).stdout)["methods"]
    names = {method["name"] for method in methods} | {"as-captured"}  # which stands for that of a pattern's library
    options = {option["name"] for method in methods for option in method["options"]}
    for page in PAGES:
        for place, words in command_lines(page):
            for option, value in zip(words, words[1:]):
                if "bench" in words and option == "--method" and re.fullmatch(r"[a-z][\w,-]+", value):
                    assert set(value.split(",")) <= names, place
                if option == "--set" and re.fullmatch(r"\w+\.[\w.]+=.*", value):
                    assert value.partition("=")[0] in options, place


@pytest.mark.parametrize("line, fault", [
    ("e3sm_io --such-an-option map.nc", "e3sm_io has no option --such-an-option"),
    ("A=1 mpiexec --oversubscribe -n 4 ./e3sm_io -q map.nc --no-such=1  # text", "e3sm_io has no option --no-such"),
    ("setup/own-tmpdir mpiexec -n 4 slabmark bench decomp --map f.nc --tie 1 &", "slabmark bench decomp has no option --tie"),
    ("slabmark apply -- mpiexec -n 4 h5perf --nothing", "h5perf has no option --nothing"),
    ("slabmark forecast a", "slabmark has no verb forecast"),
    ("slabmark-bench methods", "slabmark-bench is a name from before the verbs of slabmark"),
    ("slabmark bench methods --json - | docs/no_such_script", "there is no docs/no_such_script"),
    ("make tea", "make has no target tea"),
    ("slabmark sweep STUDY.toml [--dry-run] -r results     what it does", None),
    ("cmake --anything", None),
])
def test_what_is_no_option_no_subcommand_or_no_target_is_found(line, fault, programs, targets):
    found = [fault_of(words, programs, targets) for words in simple_commands(line)]
    assert [each for each in found if each] == ([fault] if fault else [])


# --- What runs

# Lines that are not run, with the reason.
NOT_RUN = {
    "make": "the programs are built already",
    ". build/release/environment.sh": "ctest has set what it sets",
    "mkdir -p ~/first-hour && cd ~/first-hour": "the test has an empty folder of its own",
    "slabmark advise map.nc -n 4 --launch mpiexec --time-limit 60": "takes a minute; lab/tests/test_advise.py runs the command",
    "slabmark apply -- mpiexec -n 4 ./model": "there is no such model; lab/tests/test_apply.py runs the command",
}

# Of other pages, with a small map in the folder: (page, how the line begins).
MOMENTS = [
    ("docs/reference/decompositions.md", "slabmark decomp generate f --ne 30"),
    ("docs/reference/h5perf.md", "mpiexec -n 3 ./h5perf -A phdf5"),
    ("docs/how-to/choose-pio-settings.md", "slabmark advise --pio map.nc"),
    ("docs/how-to/compress.md", "mpiexec -n 4 slabmark bench decomp --map f.nc --content smooth"),
    ("docs/how-to/convert-and-rechunk.md", "mpiexec -n 4 slabmark convert history.nc -o small.nc --compress deflate:1"),
    ("docs/how-to/convert-and-rechunk.md", "mpiexec -n 4 slabmark convert small.nc -o classic.nc"),
]


@pytest.fixture
def shell(tmp_path):
    """shell(text, seconds): runs it in an empty folder with the programs in the PATH."""
    bin = os.environ["SLABMARK_BIN"]
    environment = {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "MPLBACKEND": "agg",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_io": "^ompio"}
    launcher = shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec"))[0]

    def run(text, seconds=120):
        text = f'mpiexec() {{ "{TOP}/setup/own-tmpdir" "{launcher}" "$@"; }}\n{text}'
        done = subprocess.run(["timeout", str(seconds), "bash", "-euo", "pipefail", "-c", text], cwd=tmp_path, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == 0, f"{text}\nstatus {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


needs_pnetcdf = pytest.mark.skipif(os.environ.get("SLABMARK_WITH_PNETCDF") == "0", reason="this build has no PnetCDF, and the maps are .nc")


@pytest.mark.long
@needs_pnetcdf
def test_the_first_hour_runs(shell, tmp_path):
    """As it stands, but with one trial in place of six."""
    lines = [line for _, block in blocks((TOP / "docs/tutorials/first-hour.md").read_text()) for line in block.splitlines()]
    assert not set(NOT_RUN) - set(lines), "what is not run stands there"
    said = shell("\n".join(line.replace("--trials 6", "--trials 1") for line in lines if line not in NOT_RUN))
    assert "mpiio-collective" in said and "hdf5-log" in said and not re.search(r"\bNO\b", said)
    assert (tmp_path / "map.svg").exists() and "hdf5-rearranged" in (tmp_path / "hour.html").read_text()


@pytest.mark.long
@needs_pnetcdf
def test_commands_of_other_pages_that_take_a_moment_run(shell, tmp_path):
    """With a smaller map, one trial, and a filter that needs no plugin."""
    chosen = []
    for page, start in MOMENTS:
        lines = [line.strip() for _, block in blocks((TOP / page).read_text()) for line in re.sub(r"\\\n *", "", block).splitlines()]
        [line] = [line for line in lines if line.startswith(start)]
        chosen.append(line.replace("generate f --ne 30 ", "generate f --ne 4 ").replace("bench decomp ", "bench decomp --trials 1 ").replace("zstd:3", "deflate"))
    bin = pathlib.Path(os.environ["SLABMARK_BIN"])
    prepare = [f"ln -s {bin}/* .", "slabmark decomp generate f --ne 2 --ranks 16 -o map.nc", "cp map.nc f.nc",
               "mpiexec -n 2 slabmark bench decomp --map map.nc --method pnetcdf-varn --trials 1 --no-bound --keep",
               "mv slabmark-pnetcdf-varn.nc history.nc"]
    shell("\n".join([*prepare, *chosen]))
