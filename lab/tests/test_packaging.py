"""Where other people's tools meet Slabmark: the application of Ramble, the workflow of GitHub Actions."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import pytest
import slabmark
from conftest import LAB, needs_pnetcdf

PACKAGING = LAB.parent / "packaging"
NEWEST = {"trials": "6", "more": "", "bytes": "16K", "block": "4K", "buffer": "8K", "domain": "8,8,8", "steps": "2",
          "grid": "16,16,8", "stride": "2,2,2", "outputs": "2", "variables": "2"}  # fmt: skip


def application():
    """What application.py declares, by directive: [(words, keywords)]. Its appkit is stood in for: see the next test but one."""
    said = {}

    def directive(name):
        return lambda *words, **named: said.setdefault(name, []).append((words, named))

    names = ("tags", "define_compiler", "software_spec", "required_package", "executable", "workload", "workload_variable",
             "figure_of_merit", "figure_of_merit_context", "success_criteria")  # fmt: skip
    kit = {name: directive(name) for name in names} | {"ExecutableApplication": object}
    expander = types.SimpleNamespace(expansion_str=lambda name: f"{{{name}}}")
    text = (PACKAGING / "ramble/applications/slabmark/application.py").read_text()
    text = text.replace("from ramble.appkit import *", "").replace("from ramble.expander import Expander", "")
    exec(text, kit | {"Expander": expander})
    return said


@pytest.mark.long
@needs_pnetcdf
@pytest.mark.parametrize("workload", ["transfer", "checkpoint", "decomposition", "slices"])
def test_each_workload_of_ramble_runs_and_its_figures_are_those_of_the_table(run, small_map, tmp_path, workload):
    said = application()
    [template] = [named["template"] for _, named in said["executable"] if named["name"] == workload]
    defaults = {words[0]: named["default"] for words, named in said["workload_variable"] if workload in named["workloads"]}
    assert set(re.findall(r"{(\w+)}", template)) <= set(defaults) | {"n_ranks"}, "what it asks for has a default"
    values = (
        defaults
        | NEWEST
        | {"n_ranks": "2", "output_dir": str(tmp_path), "map": str(small_map), "records": str(tmp_path / "r.jsonl")}
    )
    program, *words = template.format(**values).split()
    done = run(program, words, ranks=2, timeout=100, env=os.environ | {"OMPI_MCA_io": "^ompio"})
    assert done.returncode == 0, done.stderr
    [(_, context)] = said["figure_of_merit_context"]
    rows = [found for line in done.stdout.splitlines() if (found := re.match(context["regex"], line))]
    methods = defaults["methods"].split(",")
    assert [row["method"] for row in rows][: len(methods)] == methods and len(rows) > len(methods)
    assert all(float(row["low"]) <= 0 <= float(row["high"]) and float(row["seconds"]) >= 0 for row in rows)
    assert {words[0] for words, _ in said["figure_of_merit"]} == set(rows[0].groupdict()) - {"method"}
    [(_, criteria)] = said["success_criteria"]
    assert any(re.match(criteria["match"], line) for line in done.stdout.splitlines())


@pytest.mark.long
@pytest.mark.skipif(shutil.which("ramble") is None, reason="Ramble is not in the PATH (it is in no package index)")
def test_the_real_ramble_sets_up_runs_and_analyses_the_workspace(tmp_path):
    environment = os.environ | {"HOME": str(tmp_path), "PATH": f"{os.environ['SLABMARK_BIN']}:{os.environ['PATH']}"}
    configuration = (PACKAGING / "ramble/ramble.yaml").read_text()
    configuration = configuration.replace("mpiexec -n", f"{os.environ.get('SLABMARK_MPIEXEC', 'mpiexec')} -n")
    small = "".join(f"    {name}: '{value}'\n" for name, value in NEWEST.items())
    (tmp_path / "ramble.yaml").write_text(configuration.replace("  variables:\n", f"  variables:\n{small}", 1))
    space = tmp_path / "space"
    for words in (
        ["repo", "add", PACKAGING / "ramble"],
        ["workspace", "create", "-d", space, "-c", tmp_path / "ramble.yaml"],
        ["-D", space, "workspace", "setup"],
        ["-D", space, "on"],
        ["-D", space, "workspace", "analyze"],
    ):
        done = subprocess.run(["ramble", *map(str, words)], env=environment, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stdout + done.stderr
    found = (space / "results.latest.txt").read_text()
    assert found.count("Status = SUCCESS") == 2 and "hdf5-slab context" in found


def test_recipes_are_of_this_release():
    version = re.escape(slabmark.__version__)
    [easyconfig] = (PACKAGING / "easybuild").glob("*.eb")
    assert re.fullmatch(f"Slabmark-{version}-.*\\.eb", easyconfig.name)
    assert re.search(f"^version = '{version}'$", easyconfig.read_text(), re.M)
    assert re.search(f'^  version: "{version}"$', (PACKAGING / "conda/recipe.yaml").read_text(), re.M)
    assert f'version("{slabmark.__version__}", tag="v{slabmark.__version__}")' in (PACKAGING / "spack/packages/slabmark/package.py").read_text()


def test_a_release_is_made_of_committed_changes_in_a_checkout(tmp_path):
    (tmp_path / "setup").mkdir()
    for name in ("dist", "surroundings.sh"):
        shutil.copy(LAB.parent / "setup" / name, tmp_path / "setup")
    dist = lambda: subprocess.run([tmp_path / "setup/dist"], capture_output=True, text=True, env=os.environ | {"TMPDIR": str(tmp_path)})
    done = dist()
    assert done.returncode == 2 and "is none" in done.stderr, done.stderr
    if not shutil.which("git"):
        pytest.skip("git is not installed here")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    done = dist()
    assert done.returncode == 2 and "uncommitted changes" in done.stderr, done.stderr
    assert not (tmp_path / "build").exists()


@pytest.mark.parametrize("text, said", [("$Format:%H$", "unknown"), ("0123456789abcdef0123456789abcdef01234567", "0123456789ab")])
def test_a_program_of_a_source_archive_knows_its_commit(tmp_path, text, said):
    (tmp_path / "cmake").mkdir()
    (tmp_path / "cmake/revision.txt").write_text(f"{text}\n")
    cmake = shutil.which("cmake", path=os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]))
    if not cmake:
        pytest.skip("CMake is not installed here")
    words = ["-D", f"source={tmp_path}", "-D", f"output={tmp_path / 'out.hpp'}", "-P", LAB.parent / "cmake/WriteGitRevision.cmake"]
    subprocess.run([cmake, *words], check=True)
    assert f'"{said}"' in (tmp_path / "out.hpp").read_text()


WORKFLOWS, FORMS = "vendor.github-workflows", "vendor.github-issue-forms"


@pytest.mark.long
@pytest.mark.parametrize(
    "schema, folder", [(WORKFLOWS, "packaging/github"), (WORKFLOWS, ".github/workflows"), (FORMS, ".github/ISSUE_TEMPLATE")]
)
def test_workflows_and_issue_forms_of_github_are_some_by_their_schemas(schema, folder):
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    files = sorted(map(str, (LAB.parent / folder).glob("*.yml")))
    assert files
    words = ["--builtin-schema", schema, *files]  # its own copy: no network
    done = subprocess.run([sys.executable, "-m", "check_jsonschema", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_runs_the_cells_of_the_matrix():
    table = re.search(r'^table="\n(.*?)^"', (LAB.parent / "setup/matrix").read_text(), re.M | re.S)[1]
    cells = [line.split()[0] for line in table.splitlines()]
    assert f"cell: [{', '.join(cells)}]" in (LAB.parent / ".github/workflows/check.yml").read_text()
