"""seism-core-slice, seism-core-check and seism-read from the command line."""

import json
import os
import pathlib
import re
import stat
import subprocess

import pytest

GRIDS = {1: (1, 1, 1), 4: (1, 2, 2), 8: (2, 2, 2)}
SWITCHES = ["precreate", "collective_write", "set_collective_metadata", "never_fill"]


def lines(ranks=1, *more, chunk="9 8 8", domain="18 8 8", time=5):
    grid = " ".join(map(str, GRIDS[ranks]))
    return "\n".join([f"processor {grid}", f"chunk {chunk}", f"domain {domain}", f"time {time}", *more, "DONE", ""])


def soon():
    """Wrong input must be refused within 5 seconds, of a machine that has nothing else to do."""
    return 5 * max(1.0, os.getloadavg()[0] / os.cpu_count())


def elements(ranks, domain=(18, 8, 8), time=5):
    return ranks * domain[0] * domain[1] * domain[2] * time


def gaussian(*arguments, argc=4):
    return ["use_function_lib libplugins.so", "use_function_name gaussian", f"use_function_argc {argc}",
            "use_function_argv " + " ".join(map(str, arguments)) + " "]


@pytest.fixture(scope="session", autouse=True)
def pnetcdf():
    """Nothing here needs PnetCDF, so nothing is skipped without it."""


@pytest.fixture
def slice_(run, tmp_path):
    """slice_(text, ranks=1, args=(), **more): runs seism-core-slice in tmp_path."""

    def run_slice(text, ranks=1, args=(), **more):
        if "libplugins.so" in text and not (pathlib.Path(os.environ["SLABMARK_BIN"]) / "libplugins.so").exists():
            pytest.skip("this build has no plugins (BUILD_PLUGINS)")
        return run("seism-core-slice", args, ranks=ranks, input=text, cwd=tmp_path, **more)

    return run_slice


@pytest.fixture
def check(run, tmp_path):
    def run_check(name="seism-test.h5", ranks=2):
        return run("seism-core-check", [name], ranks=ranks, cwd=tmp_path)

    return run_check


def value(text, label):
    found = re.findall(rf"^{re.escape(label)}: +(.*)$", text, re.M)
    assert len(found) == 1, (label, text)
    return found[0]


# ---- what it is for


@pytest.mark.parametrize("ranks", [1, 4, 8])
def test_the_default_test_set_in_small_is_written_checked_and_read_back(run, slice_, check, tmp_path, ranks):
    done = slice_("# default test set\n" + lines(ranks, *SWITCHES), ranks)
    assert done.returncode == 0, done.stderr
    checked = check(ranks=ranks)
    assert checked.returncode == 0, checked.stderr
    assert f"Found totals of: {elements(ranks)} correct / 0 incorrect." in checked.stdout
    read = run("seism-read", ["seism-test.h5"], ranks=ranks, cwd=tmp_path)
    assert read.returncode == 0, read.stderr
    assert value(read.stdout, "Total bytes read") == str(4 * elements(ranks))
    assert value(read.stdout, "Verified") == f"yes, {elements(ranks)} elements"
    assert value(read.stdout, "Pages when reading began") in ("cold", "warm")
    assert [path.name for path in tmp_path.iterdir()] == ["seism-test.h5"]


def test_echo_and_results_have_the_lines_of_the_original(slice_):
    out = slice_(lines(4, *SWITCHES, "n_nodes 3"), 4).stdout
    assert out.startswith("=" * 69 + "\nNumber of processes:            4\n")
    echo = {"Process layout": "1 x 2 x 2", "Per process grid": "18 x 8 x 8", "Chunk dimensions": "9 x 8 x 8",
            "n_nodes": "3", "Number of time steps": "5", "Pre-create": "1", "Collective metadata requested": "1",
            "Early allocation": "1", "H5D_FILL_TIME_NEVER set": "1", "Deflate": "0", "Subfile": "0", "ZFP": "0",
            "stripe size": "0", "stripe count": "0", "Output filename": "seism-test.h5"}
    for label, expected in echo.items():
        assert value(out, label) == expected
    for label in ("Pre-create/open", "Time in precreate_0()", "Time in H5Fopen()", "Time in H5Dopen()", "Write",
                  "Close file"):
        assert re.fullmatch(r"[\d.e-]+ s", value(out, label))
    for label in ("Write throughput", "Aggregate throughput"):
        assert re.fullmatch(r"[\d.e+]+ MB/s", value(out, label))
    assert value(out, "Total bytes written") == value(out, "Compressed size in bytes") == str(4 * elements(4))
    assert value(out, "MB") == "2^20 bytes"


def test_throughputs_follow_from_the_seconds_of_the_record(slice_, tmp_path):
    out = slice_(lines(4), 4, ["--json", "r.jsonl", "--trials", "3"]).stdout
    record = json.loads((tmp_path / "r.jsonl").read_text())
    mib = 4 * elements(4) / 2**20
    write = record["summary"]["transfer"]["seconds"]["median"]
    total = record["summary"]["open_to_close"]["seconds"]["median"]
    assert float(value(out, "Write throughput").split()[0]) == pytest.approx(mib / write, rel=1e-4)
    assert float(value(out, "Aggregate throughput").split()[0]) == pytest.approx(mib / total, rel=1e-4)
    assert value(out, "Trials").startswith("3; all times are medians")
    assert record["pattern"]["name"] == "checkpoint"
    assert len([trial for trial in record["trials"] if not trial["warm_up"]]) == 3


def test_collectivity_is_what_hdf5_did_not_what_was_asked(slice_):
    collective = slice_(lines(4, *SWITCHES), 4).stdout
    assert value(collective, "Collective I/O") == "1 (chunk collective)"
    assert value(collective, "Mdata ops actually collective") == "1"
    independent = slice_(lines(4), 4).stdout
    assert value(independent, "Collective I/O") == "0 (not collective; not asked for)"
    assert value(independent, "Mdata ops actually collective") == "0"
    forced = slice_(lines(4, *SWITCHES), 4, ["--set", "hdf5.collective=off"]).stdout
    assert value(forced, "Collective I/O").startswith("0 (not collective")


def test_flush_and_sync_are_timed_apart_if_asked_for(slice_):
    out = slice_(lines(), 1, ["--sync"]).stdout
    assert value(out, "Flush").endswith(" s") and value(out, "Sync").endswith(" s")


def test_the_file_is_the_originals_and_opens_in_h5py(slice_, tmp_path):
    h5py = pytest.importorskip("h5py")
    numpy = pytest.importorskip("numpy")
    assert slice_(lines(8, *SWITCHES), 8).returncode == 0
    with h5py.File(tmp_path / "seism-test.h5") as file:
        data = file["chunked"]
        assert data.shape == data.maxshape == (5, 36, 16, 16)
        assert data.chunks == (1, 9, 8, 8) and data.dtype == "<f4"
        blocks = data[4].reshape(2, 18, 2, 8, 2, 8).transpose(0, 2, 4, 1, 3, 5).reshape(8, -1)
        assert (blocks == numpy.arange(8)[:, None]).all()
        record = file.attrs["simulation_attributes"]
        assert record.dtype.itemsize == 184 and record.dtype.fields["use_function_argv"][1] == 144
        assert list(record["processor_dims"]) == [2, 2, 2] and list(record["domain_dims"]) == [18, 8, 8]
        assert record["simulation_time"] == 5 and record["precreate"] == 1 and record["name"] == b"my_attr"
        assert isinstance(file["seismCoreAttributes"], h5py.Datatype)
        assert list(file.attrs["chunk"]) == [9, 8, 8] and file.attrs["never_fill"] == 1
        assert file.attrs["filename"] == "seism-test.h5" and file.attrs["mpi_ranks"] == 8
        assert re.match(r"\d+\.\d+", file.attrs["hdf5_version"]) and file.attrs["seconds_write"] > 0


def test_without_never_fill_what_no_step_wrote_is_zero_and_allocation_is_early(slice_, tmp_path):
    h5py = pytest.importorskip("h5py")
    assert slice_(lines(4), 4).returncode == 0
    with h5py.File(tmp_path / "seism-test.h5") as file:
        plist = file["chunked"].id.get_create_plist()
        assert plist.get_fill_time() == h5py.h5d.FILL_TIME_IFSET
        assert plist.get_alloc_time() == h5py.h5d.ALLOC_TIME_EARLY
    assert slice_(lines(4, "never_fill"), 4).returncode == 0
    with h5py.File(tmp_path / "seism-test.h5") as file:
        assert file["chunked"].id.get_create_plist().get_fill_time() == h5py.h5d.FILL_TIME_NEVER


def test_deflate_compresses_and_checks(slice_, check):
    done = slice_(lines(4, "collective_write", "deflate 5"), 4)
    assert done.returncode == 0, done.stderr
    assert int(value(done.stdout, "Compressed size in bytes")) < 4 * elements(4) / 10
    assert value(done.stdout, "Early allocation") == "0"
    assert check(ranks=3).returncode == 0


def test_early_allocation_is_shown_where_it_is_in_effect(slice_):
    done = slice_(lines(1, "collective_write", "deflate 5", "early_allocation"))
    assert done.returncode == 0 and value(done.stdout, "Early allocation") == "1"


@pytest.mark.parametrize("readers", [1, 3, 7, 12])
def test_any_number_of_ranks_reads_and_checks(run, slice_, check, tmp_path, readers):
    assert slice_(lines(4, *gaussian(1, 5, 5, 5)), 4).returncode == 0
    assert f"{elements(4)} correct / 0 incorrect" in check(ranks=readers).stdout
    read = run("seism-read", ["seism-test.h5", "--ignore-subfile"], ranks=readers, cwd=tmp_path)
    assert read.returncode == 0 and value(read.stdout, "Total bytes read") == str(4 * elements(4)), read.stderr


@pytest.mark.parametrize("step", [0, 4])
def test_one_wrong_element_fails_the_check_and_the_reading(run, slice_, check, sentence, tmp_path, step):
    h5py = pytest.importorskip("h5py")
    assert slice_(lines(4, *gaussian(1, 5, 5, 5)), 4).returncode == 0
    with h5py.File(tmp_path / "seism-test.h5", "r+") as file:
        file["chunked"][step, 17, 9, 3] += 0.25
    checked = check(ranks=4)
    assert checked.returncode == 1
    assert f"{elements(4) - 1} correct / 1 incorrect" in checked.stdout
    assert f"(17, 9, 3) of record {step}" in sentence(checked, "seism-core-check")
    read = run("seism-read", ["seism-test.h5"], ranks=4, cwd=tmp_path)
    assert read.returncode == 1 and "throughput" not in read.stdout


def test_a_file_of_others_or_none_is_a_sentence(check, run, sentence, tmp_path):
    h5py = pytest.importorskip("h5py")
    h5py.File(tmp_path / "other.h5", "w").close()
    (tmp_path / "text.h5").write_text("no HDF5")
    for name, culprit in (("other.h5", "simulation_attributes"), ("text.h5", "no HDF5 file"), ("none.h5", "no file")):
        for program, ranks in (("seism-core-check", 2), ("seism-read", 1)):
            done = run(program, [name], ranks=ranks, cwd=tmp_path)
            assert done.returncode == 2 and culprit in sentence(done, program)


# ---- the input


def test_input_comes_in_any_order_with_comments_blank_lines_and_crlf(slice_, check):
    text = ("  # precreate is off here\r\n\r\ntime 7\r\n#DONE when ready\r\n\tdomain 18 8 8\r\nchunk 9 8 8 # small\r\n"
            "time 2\r\nprocessor 1 1 1\r\nDONE\r\nnonsense\r\n")
    done = slice_(text)
    assert done.returncode == 0, done.stderr
    assert value(done.stdout, "Pre-create") == "0" and value(done.stdout, "Number of time steps") == "2"
    assert check(ranks=1).returncode == 0


def test_input_comes_from_a_file_too(slice_, tmp_path):
    (tmp_path / "check.in").write_text(lines(4, "filename out.h5"))
    done = slice_("", 4, ["--input", "check.in"])
    assert done.returncode == 0 and (tmp_path / "out.h5").exists(), done.stderr


def test_a_heredoc_in_a_script_works(tmp_path):
    program = pathlib.Path(os.environ["SLABMARK_BIN"]) / "seism-core-slice"
    script = f"cd {tmp_path}\n{program} <<EOF\n{lines()}EOF\n"
    assert subprocess.run(["bash", "-c", script], capture_output=True, timeout=60).returncode == 0


def test_a_user_at_a_terminal_sees_a_mistake_at_once(tmp_path):
    program = pathlib.Path(os.environ["SLABMARK_BIN"]) / "seism-core-slice"
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, cwd=tmp_path)
    process.stdin.write("processor 1 1 1\nprecraete\n")
    process.stdin.flush()  # and the input stays open
    try:
        assert process.wait(20) == 2
        assert "Line 2" in process.stderr.read()
    finally:
        process.kill()
        process.communicate()


FAULTS = {
    "unknown keyword": ("precraete\n" + lines(4), "did you mean precreate?"),
    "done": (lines(4).replace("DONE", "done"), "did you mean DONE?"),
    "wrong product": (lines(1), "makes 1 processes, but there are 4 ranks"),
    "no processor": (lines(4).replace("processor", "#"), "no line with processor"),
    "no chunk": (lines(4).replace("chunk", "#"), "no line with chunk"),
    "no domain": (lines(4).replace("domain", "#"), "no line with domain"),
    "no time": (lines(4).replace("time", "#"), "no line with time"),
    "zero": (lines(4, domain="18 0 8"), 'Line 3 of the input: domain is "0"'),
    "zero steps": (lines(4, time=0), 'time is "0"'),
    "zero chunk": (lines(4, chunk="0 0 0"), 'chunk is "0"'),
    "negative": (lines(4, domain="18 -16 8"), 'domain is "-16", which is out of range'),
    "negative steps": (lines(4, time=-1), 'time is "-1", which is out of range'),
    "fraction": (lines(4, domain="18 1.5 8"), 'domain is "1.5", which is not a whole number'),
    "garbage": (lines(4, time="five"), 'time is "five"'),
    "overflow": (lines(4, domain="18 99999999999999999999 8"), "which is out of range"),
    "product overflows": (lines(4, domain="4294967296 4294967296 4294967296"), "63 bits"),
    "value missing": (lines(4, domain="18 8"), "domain takes 3 values on its line, but 2 follow"),
    "value on the next line": (lines(4, domain="18 8\n8"), "Line 3 of the input: domain takes 3 values"),
    "value too many": (lines(4, time="5 6"), "time takes 1 value on its line, but 2 follow"),
    "flag with a value": (lines(4, "precreate 0"), "precreate takes no value"),
    "end without DONE": (lines(4).replace("DONE\n", ""), "without DONE"),
    "nothing": ("", "without DONE"),
    "chunk beyond the dataset": (lines(4, chunk="19 8 8"), "The chunk is 19 x 8 x 8"),
    "deflate too high": (lines(4, "collective_write", "deflate 10"), "deflate"),
    "deflate without collective_write": (lines(4, "deflate 5"), "collective"),
    "zfp without the filter": (lines(4, "collective_write", "zfp 1"), "ZFP"),
    "subfile with precreate": (lines(4, "subfile 2", "precreate"), "precreate"),
    "missing directory": (lines(4, "filename nowhere/x.h5"), "nowhere"),
    "a directory": (lines(4, "filename ."), "not a regular file"),
    "filename missing": (lines(4, "filename"), "filename takes 1 value"),
    "argc above argv": (lines(4, *gaussian(1, 1, argc=4)), "use_function_argc is 4, but use_function_argv holds 2"),
    "argument missing": (lines(4, *gaussian(1, 1, argc=2)), "gaussian takes 4 arguments"),
    "argument no number": (lines(4, *gaussian(1, 1, "x", 1)), 'argument 2 of gaussian is "x"'),
    "library missing": (lines(4, *gaussian(1, 1, 1, 1)).replace("libplugins.so", "libnone.so"), "libnone.so"),
    "library not named": (lines(4, "use_function_name gaussian"), "no use_function_lib"),
    "symbol missing": (lines(4, *gaussian(1, 1, 1, 1)).replace("name gaussian", "name gausian"), "no function"),
    "samples missing": (lines(4, *gaussian("none.bin", argc=1)).replace("name gaussian", "name sd"), "none.bin"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_input_is_one_sentence_within_5_seconds_and_leaves_no_file(slice_, sentence, tmp_path, fault):
    text, culprit = FAULTS[fault]
    done = slice_(text, 4, timeout=soon())
    assert done.returncode in (1, 2), (done.stdout, done.stderr)
    assert culprit in sentence(done, "seism-core-slice")
    assert "throughput" not in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_input_says_the_same_without_a_launcher(slice_, sentence, tmp_path, fault):
    text, culprit = FAULTS[fault]
    if fault == "wrong product":
        text, culprit = lines(4), "makes 4 processes, but there are 1 ranks"
    else:
        text = text.replace("processor 1 2 2", "processor 1 1 1")
    done = slice_(text, 1, timeout=soon())
    assert done.returncode in (1, 2), (done.stdout, done.stderr)
    assert culprit in sentence(done, "seism-core-slice")
    assert "throughput" not in done.stdout and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("switches", [[], ["collective_write", "deflate 1", *gaussian(1, 90, 80, 70)]])
def test_the_file_size_limit_is_a_sentence_and_leaves_no_file(slice_, file_size_limit, tmp_path, ranks, switches):
    text = lines(ranks, *switches, chunk="64 64 64", domain="128 64 64", time=16 // ranks)
    done = slice_(text, ranks, timeout=soon(), preexec_fn=file_size_limit)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "ulimit -f" in done.stderr and "throughput" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_fails_leaves_the_earlier_file_as_it_was(slice_, file_size_limit, tmp_path):
    (tmp_path / "seism-test.h5").write_text("precious")
    text = lines(4, chunk="64 64 64", domain="128 64 64", time=10)
    assert slice_(text, 4, timeout=soon(), preexec_fn=file_size_limit).returncode == 1
    assert (tmp_path / "seism-test.h5").read_text() == "precious"
    assert slice_(lines(4), 4).returncode == 0, "a run that succeeds replaces it, as the original's did"
    assert (tmp_path / "seism-test.h5").stat().st_size > 4 * elements(4)


# ---- plugins


def test_gaussian_is_the_formula_over_the_whole_domain(slice_, check, tmp_path):
    h5py = pytest.importorskip("h5py")
    numpy = pytest.importorskip("numpy")
    done = slice_(lines(8, *gaussian(3, 9, 6, 4)), 8)
    assert done.returncode == 0, done.stderr
    assert value(done.stdout, "Fill function") == "gaussian(3, 9, 6, 4) of libplugins.so"
    x, y, z = numpy.ogrid[0:36, 0:16, 0:16]
    expected = 3 * numpy.exp(-((x - 18.0) / 9) ** 2 - ((y - 8.0) / 6) ** 2 - ((z - 8.0) / 4) ** 2)
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


def test_sd_refuses_a_file_that_is_too_short(slice_, sentence, tmp_path):
    (tmp_path / "samples.bin").write_bytes(b"1234")
    plugin = [line.replace("gaussian", "sd") for line in gaussian("samples.bin", argc=1)]
    done = slice_(lines(4, *plugin), 4, timeout=soon())
    assert done.returncode == 2 and "holds 1 float32 numbers" in sentence(done, "seism-core-slice")


PLUGIN = """
#include <stdint.h>
#include <stdlib.h>
float of_a_user(int rank, uint64_t* system, uint64_t* size, uint64_t* block, uint64_t* at, int argc, char** argv) {
  float value = rank * 1e4f + at[0] * 1e3f + at[1] * 10.0f + at[2] + argc * atof(argv[0]);
  at[0] = at[1] = at[2] = size[0] = block[2] = system[1] = 99;  /* must not confuse the host */
  return value;
}
"""


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


# ---- Lustre


@pytest.fixture
def lfs(tmp_path_factory, monkeypatch):
    """A stand-in for Lustre's program that notes its words and makes the file."""
    folder = tmp_path_factory.mktemp("lustre")
    log = folder / "log"
    program = folder / "lfs"
    program.write_text(f"""#!/bin/bash
printf '%s\\n' "$#" "$@" >> {log}
case $1 in
  setstripe) for last; do :; done; [ -e {folder}/broken ] && {{ echo 'error: no Lustre' >&2; exit 5; }}; : > "$last" ;;
  getstripe) echo "lmm_stripe_count: 2" ;;
esac
""")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return log


def test_stripes_are_set_without_a_shell_and_recorded(slice_, check, lfs, tmp_path):
    name = "x.h5;touch${IFS}F"
    stripes = ["lfs_stripe_count 2", "lfs_stripe_size 1048576", f"filename {name}"]
    for switches in ([], ["precreate"]):
        done = slice_(lines(4, *stripes, *switches), 4, ["--json", "r.jsonl"])
        assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == ["r.jsonl", name]
        assert check(name).returncode == 0
    words = lfs.read_text().splitlines()
    at = words.index("setstripe")
    assert words[at - 1: at + 6] == ["6", "setstripe", "-S", "1048576", "-c", "2", str(tmp_path / name) + ".partial"]
    records = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert records[0]["effective"]["lustre"] == {"striping": "lmm_stripe_count: 2"}
    assert value(done.stdout, "stripe size") == "1048576" and value(done.stdout, "stripe count") == "2"


def test_what_lfs_refuses_is_a_sentence_that_holds_its_words(slice_, sentence, lfs, tmp_path):
    (lfs.parent / "broken").touch()
    done = slice_(lines(4, "lfs_stripe_count 2"), 4, timeout=10)
    assert done.returncode == 1 and "error: no Lustre" in sentence(done, "seism-core-slice")
    assert "throughput" not in done.stdout and list(tmp_path.iterdir()) == []


def test_without_lfs_a_message_says_so_and_the_default_applies(slice_, check):
    done = slice_(lines(4, "lfs_stripe_count 2"), 4)
    assert done.returncode == 0 and done.stderr.count("no command lfs") == 1
    assert check().returncode == 0


# ---- subfiles


def test_subfiles_are_written_checked_read_and_replaced(run, slice_, check, tmp_path):
    for chunk in ("", "chunk 9 8 8"):
        text = lines(4, "subfile 2", "never_fill").replace("chunk 9 8 8", chunk)
        done = slice_(text, 4)
        if "MPI_THREAD_MULTIPLE" in done.stderr or "without its subfiling" in done.stderr:
            pytest.skip(done.stderr)
        assert done.returncode == 0, done.stderr
        names = sorted(path.name for path in tmp_path.iterdir())
        assert len([name for name in names if name.endswith("_of_2")]) == 2, names
        assert len(names) == 4, "the stub, its configuration and two subfiles, and none of an earlier run"
        assert f"{elements(4)} correct / 0 incorrect" in check(ranks=3).stdout
        read = run("seism-read", ["seism-test.h5"], ranks=3, cwd=tmp_path)
        assert read.returncode == 0 and value(read.stdout, "Total bytes read") == str(4 * elements(4)), read.stderr


# ---- the same pattern through any method


@pytest.mark.parametrize("args", [[], ["--read"]])
def test_slabmark_bench_runs_checkpoints_through_every_method(run, tmp_path, args, methods_that_keep_data):
    methods = methods_that_keep_data
    done = run("slabmark-bench", ["checkpoint", "--processor", "2,2,2", "--chunk", "8,8,8", "--domain", "8,16,8",
                                  "--time", "3", "--method", ",".join(methods), "--trials", "1", "-o", tmp_path, *args],
               ranks=8)
    assert done.returncode == 0, done.stderr
    for method in methods:
        assert re.search(rf"^{method} .*yes$", done.stdout, re.M), (method, done.stdout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("args, culprit", [
    (["--processor", "2,2,2", "--domain", "8,8,8"], "start as many ranks"),
    (["--processor", "2,2", "--domain", "8,8,8"], "--processor"),
    (["--processor", "2,2,1", "--domain", "8,0,8"], "--domain"),
    (["--processor", "2,2,1", "--domain", "8,8,8", "--chunk", "9,99,9"], "chunk"),
    (["--processor", "2,2,1", "--domain", "8,8,8", "--time", "0"], "--time"),
])
def test_slabmark_bench_refuses_checkpoints_that_do_not_fit(run, sentence, tmp_path, args, culprit):
    done = run("slabmark-bench", ["checkpoint", *args, "--method", "posix", "-o", tmp_path], ranks=4)
    assert done.returncode == 2 and culprit in sentence(done, "slabmark-bench")
