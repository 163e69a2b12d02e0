"""What a program may do with files beyond making, writing and closing them: alike with the connector and without.

log_lives.c has the scenarios.
"""

import os
import pathlib
import resource
import shlex
import shutil
import signal
import subprocess

import pytest

pytestmark = pytest.mark.long

BIN = pathlib.Path(os.environ["SLABMARK_BIN"])
CONNECTOR = {"HDF5_PLUGIN_PATH": str(BIN / ".." / "plugins"), "HDF5_VOL_CONNECTOR": "slablog under_vol=0;under_info={}"}
CANONICAL = {**CONNECTOR, "SLABLOG_LAYOUT": "canonical"}
LEAKS_ALLOWED = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def contents(path):
    """All that a program without the connector finds in a file, but the connector's own group."""
    h5py = pytest.importorskip("h5py")
    found = {}

    def visit(name, item):
        if name.split("/")[0] != "_slablog":
            found[name] = item[...].tolist() if isinstance(item, h5py.Dataset) else None
            found.update({f"{name}@{key}": value.tolist() for key, value in item.attrs.items()})

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


@pytest.fixture
def lives(run, tmp_path):
    """lives(*words, ranks=1, layouts=...): runs a scenario with the connector, in both layouts, and without."""

    def run_both(*words, ranks=1, layouts=(("slablog", CONNECTOR), ("canonical", CANONICAL))):
        outcomes = []
        for name, environment in [("native", {}), *layouts]:
            folder = tmp_path / name
            folder.mkdir()
            done = run("log_lives", words, ranks=ranks, cwd=folder, env={**os.environ, **environment})
            lines = sorted(done.stdout.splitlines()) if ranks > 1 else done.stdout
            files = {path.name: contents(path) for path in sorted(folder.glob("*.h5"))}
            outcomes.append((done.returncode, lines, files, list(folder.glob("*.slablog-journal"))))
        for outcome in outcomes[1:]:
            assert outcome == outcomes[0]

    return run_both


def random_programs(run, path, ranks, *options):
    """Programs of hdf5_random.cpp. OMPIO loses elements that several ranks access in one call."""
    environment = {**os.environ, "HDF5_PLUGIN_PATH": CONNECTOR["HDF5_PLUGIN_PATH"], "OMPI_MCA_io": "^ompio"}
    done = run("hdf5_random", [path, 1, 25, *options], ranks=ranks, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_random_programs_find_the_right_values_without_a_connector(run, tmp_path):
    random_programs(run, tmp_path / "a.h5", 3)


@pytest.mark.parametrize("layout, ranks", [("log", 4), ("canonical", 3)])
def test_random_programs_find_the_right_values_through_the_connector(run, tmp_path, layout, ranks):
    options = [f"layout={layout}{more}" for more in ["", ";buffer=200", ";visibility=strict"]]
    random_programs(run, tmp_path / "a.h5", ranks, *options)


@pytest.mark.parametrize("degree", ["0", "1", "2", "3"])
@pytest.mark.parametrize("ranks, words", [(1, []), (2, ["parallel"])])
def test_a_file_may_be_closed_before_what_is_in_it(lives, degree, ranks, words):
    lives("closed-first", degree, *words, ranks=ranks)


@pytest.mark.parametrize("flush", [[], ["flush"]])
@pytest.mark.parametrize("kind", ["type", "group", "attribute", "dataset", "file"])
@pytest.mark.parametrize("ranks, words", [(1, []), (2, ["parallel"])])
def test_what_a_program_left_open_at_its_end_is_not_lost(lives, kind, flush, ranks, words):
    lives("left-open", kind, *flush, *words, ranks=ranks)


@pytest.mark.parametrize("scenario", [["left-open", "file", "flush"], ["left-open", "nothing", "flush"],
                                      ["closed-first", "1"], ["aligned", "65536", "1048576", "100000"]])
@pytest.mark.parametrize("connector", [CONNECTOR, CANONICAL], ids=["log", "canonical"])
def test_a_file_that_cannot_be_closed_for_want_of_space_ends_no_program_with_a_signal(run, tmp_path, scenario, connector):
    def limited_to(size):
        def lower_the_limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        return lower_the_limit

    environment = {**os.environ, **connector, **LEAKS_ALLOWED}  # HDF5 frees nothing of a file that it cannot write
    for size in (100, 2100, 4096, 6160, 7000, 9000, 400_000):
        folder = tmp_path / str(size)
        folder.mkdir()
        done = run("log_lives", scenario, cwd=folder, env=environment, preexec_fn=limited_to(size))
        assert done.returncode == 0, (size, done.stderr)
        assert "infinite loop" not in done.stderr
        if "H5Fflush 0" in done.stdout and connector is CONNECTOR:
            assert run("slabmark log repair", [folder / "a.h5"]).returncode == 0
            assert contents(folder / "a.h5")["d"][0] > 0


@pytest.mark.parametrize("ranks, words", [(1, ["open"]), (1, ["reopen"]), (2, ["reopen", "parallel"])])
def test_a_file_may_be_open_twice(lives, ranks, words):
    lives("twice", *words, ranks=ranks)


def test_several_ranks_write_a_file_that_one_process_made(lives):
    lives("made-serially", "parallel", ranks=3)


def test_a_file_may_be_made_through_a_link_that_leads_nowhere_yet(lives):
    lives("by-a-link")


@pytest.mark.parametrize("words", [[], ["stays"], ["closed"], ["closed", "stays"]])
def test_a_mounted_file_has_its_own_log(lives, words):
    lives("mounted", *words)


@pytest.mark.parametrize("through", ["a", "b"])
def test_files_that_are_mounted_are_flushed_together(run, tmp_path, through):
    expected = {"a.h5": {"d": list(range(1, 11)), "m": None}, "b.h5": {"e": list(range(100, 110))}}
    for name, environment in [("native", {}), ("slablog", CONNECTOR), ("canonical", CANONICAL)]:
        folder = tmp_path / name
        folder.mkdir()
        done = run("log_lives", ["mounted-flushed", through], cwd=folder, env={**os.environ, **environment})
        assert done.stdout.splitlines()[1] == "H5Fflush 0"
        if name == "slablog":
            assert run("slabmark log repair", [folder / "a.h5", folder / "b.h5"]).returncode == 0
        assert {path.name: contents(path) for path in folder.glob("*.h5")} == expected, name


@pytest.mark.parametrize("words", [[], ["open"], ["open", "last"]])
def test_an_external_link_leads_to_the_log_of_the_other_file(lives, words):
    lives("external", *words)


def test_a_file_may_be_opened_while_it_is_changed_through_an_external_link(lives):
    lives("linked-first")


@pytest.mark.parametrize("ranks, words", [(1, []), (3, ["parallel"])])
@pytest.mark.parametrize("alignment", [("65536", "1048576", "100000"), ("1048576", "1048576", "1000000"),
                                       ("1", "65536", "1000")])
def test_space_that_hdf5_aligns_is_no_obstacle(lives, alignment, ranks, words):
    lives("aligned", *alignment, *words, ranks=ranks)


@pytest.mark.parametrize("ranks, words", [(1, []), (2, ["parallel"])])
def test_the_process_may_change_its_folder(lives, ranks, words):
    lives("elsewhere", *words, ranks=ranks)


def test_a_dataset_without_a_fill_value_shows_what_was_written(lives):
    lives("unfilled")


def test_chunks_without_a_fill_value_keep_what_was_written(lives):
    lives("unfilled-chunks")


@pytest.mark.fast
def test_all_ranks_read_together_what_one_has_written(lives):
    lives("unfilled-together", "parallel", ranks=3, layouts=[("canonical", CANONICAL)])  # a log refuses filters


def test_parts_of_chunks_of_n_bit_compounds_are_written_again(lives):
    lives("rewritten", "nbit", "parallel", ranks=3, layouts=[("canonical", CANONICAL)])


def test_parts_of_chunks_with_blosc2_and_a_checksum_are_written_again(lives, tmp_path, monkeypatch):
    package = pytest.importorskip("hdf5plugin")
    (tmp_path / "filters").mkdir()
    (tmp_path / "filters/libh5blosc2.so").symlink_to(pathlib.Path(package.__file__).parent / "plugins/libh5blosc2.so")
    folders = f"{tmp_path / 'filters'}:{CONNECTOR['HDF5_PLUGIN_PATH']}"
    monkeypatch.setenv("HDF5_PLUGIN_PATH", folders)
    lives("rewritten", "blosc2", "parallel", ranks=3, layouts=[("canonical", {**CANONICAL, "HDF5_PLUGIN_PATH": folders})])


def test_why_a_file_cannot_be_opened_is_said(lives):
    plugins = {"HDF5_PLUGIN_PATH": CONNECTOR["HDF5_PLUGIN_PATH"]}  # HDF5 tries all connectors that it finds
    lives("missing", layouts=[("plugins", plugins), ("slablog", CONNECTOR), ("canonical", CANONICAL)])


def test_a_dataset_may_have_as_many_dimensions_as_hdf5_allows(lives):
    lives("dimensions")


def test_a_dataset_may_have_more_bytes_than_63_bits_number(lives):
    lives("enormous")


@pytest.mark.parametrize("connector", [CONNECTOR, CANONICAL], ids=["log", "canonical"])
def test_no_dataset_grows_beyond_what_63_bits_number(run, tmp_path, connector):
    done = run("log_lives", ["enormous", "grown"], cwd=tmp_path, env={**os.environ, **connector})
    assert "H5Dset_extent -1\nH5Dset_extent 0\nH5Dclose 0\nH5Fclose 0\n" in done.stdout
    assert contents(tmp_path / "a.h5") == {"grown": [[0] * 8] * 8}


def test_what_is_pending_in_another_file_is_copied_from_there(lives):
    lives("copied", layouts=[("canonical", CANONICAL)])  # a log refuses H5Ocopy


@pytest.mark.parametrize("ranks, words", [(1, []), (2, ["parallel"])])
def test_hdf5_may_end_and_begin_again_before_mpi_ends(lives, ranks, words):
    lives("ended-twice", *words, ranks=ranks)


def test_a_file_in_the_format_of_hdf5_1_8_is_made_without_a_log(lives):
    lives("old-format")


@pytest.mark.parametrize("ranks, words", [(1, []), (2, ["parallel"])])
def test_a_file_may_be_limited_to_an_old_format_after_it_was_made(lives, ranks, words):
    lives("formats-later", *words, ranks=ranks)


def test_members_in_memory_that_the_file_does_not_have_stay(lives):
    lives("members")


@pytest.mark.parametrize("ranks, words", [(1, []), (2, ["parallel"])])
def test_members_in_memory_stay_where_the_others_go_through_filters(run, tmp_path, ranks, words):
    """HDF5 does not write them in parallel, and a log refuses filters."""
    done = run("log_lives", ["members", "filtered", *words], ranks=ranks, cwd=tmp_path, env={**os.environ, **CANONICAL})
    read = " " + " ".join(f"{i} {-1 - i} {i}" for i in range(10))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines().count(read) == 3


@pytest.mark.parametrize("ranks, words", [(1, []), (2, ["parallel"])])
def test_external_links_are_followed_by_all_ranks(lives, ranks, words):
    lives("linked-together", *words, ranks=ranks)


def test_of_several_datasets_in_one_call_none_is_written_where_one_is_refused(lives):
    lives("refused-together")


@pytest.mark.fast
def test_the_documentations_example_compiles_with_its_command_and_writes_what_it_says(run, tmp_path):
    """HDF5 is taken from where the built programs have it."""
    h5py = pytest.importorskip("h5py")
    libraries = subprocess.run(["ldd", BIN / "log_lives"], capture_output=True, text=True, check=True).stdout
    hdf5 = next(pathlib.Path(line.split()[2]).parent.parent for line in libraries.splitlines() if "libhdf5" in line)
    mpicc = os.environ.get("SLABMARK_MPICC", "mpicc")  # the build's may have another name
    if not shutil.which(mpicc) or not (hdf5 / "include" / "hdf5.h").exists():
        pytest.skip("no mpicc, or no headers beside the HDF5 library")
    source = pathlib.Path(__file__).parents[2]
    text = (source / "docs/reference/hdf5-connector.md").read_text()
    (tmp_path / "example.c").write_text(text.split("```c\n")[1].split("```")[0])
    command = next(line.strip() for line in text.splitlines() if line.startswith("    mpicc"))
    command = command.replace("mpicc", shlex.quote(mpicc), 1)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "slabmark").symlink_to(source / "src/accel/hdf5_connector/api")
    if sanitizers := os.environ.get("SLABMARK_SANITIZERS"):  # a program must bring what the connector was built with
        command += f" -fsanitize={sanitizers}"
    subprocess.run(command.replace("/where/slabmark/is", str(tmp_path)), shell=True, check=True, cwd=tmp_path,
                   env={**os.environ, "HDF5": str(hdf5)})
    plugins = {"HDF5_PLUGIN_PATH": CONNECTOR["HDF5_PLUGIN_PATH"]}
    # What the connector keeps to the end counts as lost, since only our programs keep it loaded.
    done = run(tmp_path / "example", [], ranks=3, cwd=tmp_path, env={**os.environ, **plugins, **LEAKS_ALLOWED})
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert list(file["d"]) == [1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 4, 4] and "_slablog" in file
