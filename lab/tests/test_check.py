"""slabmark apply --check: what two files hold that is not the same, and runs that begin with the same files."""

import os
import pathlib
import shlex

import h5py
import netCDF4
import numpy
import pytest
from slabmark import apply, command_line, contents

NAMES = ("with pnetcdf", "without")


def hdf5(path, values=(1.0, 2.0), name="d", **attributes):
    with h5py.File(path, "w") as file:
        file[name] = numpy.asarray(values)
        file.attrs.update(attributes)
    return path


def told(*paths, kind=contents.HDF5):
    """[(name, text, whether it is steady)] of what differs"""
    return [(one.name, one.text, one.steady) for one in contents.compare(paths, kind, NAMES).differences]


def test_elements_that_differ_are_counted_and_the_first_is_named_block_by_block(tmp_path, monkeypatch):
    native = numpy.arange(24.0).reshape(4, 6)
    door = native.copy()
    door[2, 1], door[3, 5] = 7, numpy.nan
    one, other = hdf5(tmp_path / "one.h5", door), hdf5(tmp_path / "other.h5", native)
    for block in (contents.BLOCK, 96, 8):  # all at once, two rows, less than one
        monkeypatch.setattr(contents, "BLOCK", block)
        assert told(one, other) == [("/d", "dataset: 2 of 24 elements differ; the first at [2, 1]: 7.0 with pnetcdf, 13.0 without", True)]
        assert told(one, one) == [], "not a number is the same as itself"
    signs = hdf5(tmp_path / "signs.h5", [0.0, -0.0]), hdf5(tmp_path / "no-signs.h5", [0.0, 0.0])
    assert [text.partition(":")[2] for _, text, _ in told(*signs)] == [" 1 of 2 elements differ; the first at [1]: -0.0 with pnetcdf, 0.0 without"]


def test_elements_that_two_native_runs_do_not_agree_on_are_told_apart(tmp_path):
    door, native, again = ([9, 2, 5, 4], [1, 2, 3, 4], [1, 2, 7, 8])
    paths = [hdf5(tmp_path / f"{number}.h5", values, when=values[2]) for number, values in enumerate((door, native, again))]
    assert told(*paths) == [
        ("/:when", "attribute: the value differs, and so in two native runs", False),
        ("/d", "dataset: 1 of 4 elements differ; the first at [0]: 9 with pnetcdf, 1 without", True),
        ("/d", "dataset: 1 of 4 elements differ, and so in two native runs", False),
    ]


def all_kinds(path, change=""):
    changed = lambda name, value, other: other if name == change else value
    with h5py.File(path, "w", track_order=False) as file:
        file["scalar"] = changed("scalar", 1, 2)
        file["text"] = changed("text", "a", "b")
        file.create_dataset("fixed", data=numpy.array([b"ab", changed("fixed", b"cd", b"ce")]))
        file.create_dataset("texts", data=["a", changed("texts", "bc", "bd")], dtype=h5py.string_dtype())
        pair = numpy.zeros(3, [("x", "i4"), ("y", "f8", (2,))])
        pair["y"][1, 1] = changed("pair", 0, 3)
        file["pair"] = pair
        ragged = file.create_dataset("ragged", (2,), dtype=h5py.vlen_dtype("i4"))
        ragged[0], ragged[1] = [1, 2], changed("ragged", [3], [3, 4])
        file["null"] = h5py.Empty("f8")
        file["group/inner"] = changed("inner", [1], [1, 1])
        file["leads"] = numpy.array([file["scalar"].ref, file[changed("leads", "text", "pair")].ref], dtype=h5py.ref_dtype)
        file["soft"] = h5py.SoftLink(changed("soft", "/scalar", "/text"))
        file["outside"] = h5py.ExternalLink("other.h5", changed("outside", "/a", "/b"))
        file["circle"] = file["/"]
        file["type"] = numpy.dtype(changed("type", "i4", "i8"))
        file["group"].attrs["words"] = changed("words", ["a", "b"], ["a", "c"])
        if change != "gone":
            file["gone"] = numpy.zeros(0)
        file["whole"] = numpy.zeros(2, changed("whole", "i4", "f4"))
    return path


def test_all_kinds_of_contents_are_compared(tmp_path):
    """Addresses in a file differ with the order in which things are made, what references lead to does not."""
    native = all_kinds(tmp_path / "native.h5")
    assert told(all_kinds(tmp_path / "same.h5"), native) == []
    for change in ("scalar", "text", "fixed", "texts", "pair", "ragged", "leads", "soft", "outside", "type", "gone", "whole"):
        assert [name for name, _, steady in told(all_kinds(tmp_path / "door.h5", change), native) if steady] == [f"/{change}"], change
    assert [name for name, *_ in told(all_kinds(tmp_path / "door.h5", "inner"), native)] == ["/group/inner"]
    assert [name for name, *_ in told(all_kinds(tmp_path / "door.h5", "words"), native)] == ["/group:words"]


def netcdf(path, values, format="NETCDF3_64BIT_DATA", **attributes):
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.createDimension("time", None), file.createDimension("x", 3)
        variable = file.createVariable("T", "f4", ("time", "x"))
        variable[: len(values)] = values
        variable.setncatts(attributes)
    return path


def test_classic_netcdf_is_compared_by_variables_records_and_attributes(tmp_path):
    native = netcdf(tmp_path / "native.nc", [[1, 2, 3], [4, 5, 6]], units="K")
    assert contents.kind(native) == contents.NETCDF
    assert told(netcdf(tmp_path / "same.nc", [[1, 2, 3], [4, 5, 6]], "NETCDF3_CLASSIC", units="K"), native, kind=contents.NETCDF) == []
    [(name, text, _)] = told(netcdf(tmp_path / "door.nc", [[1, 2, 3], [4, 5, 7]], units="K"), native, kind=contents.NETCDF)
    assert name == "T" and "1 of 6 elements differ; the first at [1, 2]: 7.0 with pnetcdf, 6.0 without" in text
    [(name, text, _)] = told(netcdf(tmp_path / "short.nc", [[1, 2, 3]], units="m"), native, kind=contents.NETCDF)[1:]
    assert name == "T" and "shape (1, 3) with pnetcdf" in text and "shape (2, 3) without" in text


def test_netcdf_4_that_was_made_of_a_classic_file_is_the_same(tmp_path):
    native = netcdf(tmp_path / "native.nc", [[1, 2, 3], [4, 5, 6]], units="K", valid_min=numpy.float32(0))
    same = netcdf(tmp_path / "same.nc", [[1, 2, 3], [4, 5, 6]], "NETCDF4", units="K", valid_min=numpy.float32(0))
    assert contents.kind(same) == contents.HDF5 and told(same, native, kind=contents.NETCDF) == []
    door = netcdf(tmp_path / "door.nc", [[1, 2, 3], [4, 5, 7]], "NETCDF4", units="K", valid_min=numpy.float32(0))
    assert [name for name, *_ in told(door, native, kind=contents.NETCDF)] == ["T"]


@pytest.fixture
def check(tmp_path, monkeypatch, capfd):
    """check(script, *arguments) -> (status, what was said). In the script, $RUN is `native` or `door`, and $NUMBER that of the run;
    $FILES has files to copy. The drop-in is an empty library, which the system leaves out."""
    for name in ("files", "work", "more/bin", "more/lib"):
        (tmp_path / name).mkdir(parents=True)
    library = tmp_path / "more/lib" / apply.LIBRARY
    library.touch()
    monkeypatch.setenv("SLABMARK_BIN", str(tmp_path / "more/bin"))
    monkeypatch.setenv("FILES", str(tmp_path / "files"))
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    monkeypatch.chdir(tmp_path / "work")
    begin = 'RUN=door; [ "$SLABMARK_DROPIN" != off ] || RUN=native; echo x >> $FILES/count; NUMBER=$(grep -c x $FILES/count)\n'

    def run(script, *arguments):
        status = command_line.main(["apply", "--check", *arguments, "--", "sh", "-c", begin + script])
        said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("slabmark")]
        return status, said

    run.files, run.work = tmp_path / "files", tmp_path / "work"
    return run


def test_both_runs_begin_with_the_files_that_were_there(check):
    """A program that counts its starts, appends, makes a folder, removes its input and renames its output."""
    hdf5(check.files / "1.h5", [1.0]), hdf5(check.files / "2.h5", [2.0])
    (check.work / "starts").write_text("0")
    (check.work / "input").write_text("all of it")
    (check.work / "log").write_text("begin\n")
    elsewhere = check.files / "linked.h5"
    hdf5(elsewhere, [3.0])
    os.symlink(elsewhere, check.work / "link.h5")
    os.symlink(check.files, check.work / "there")  # into which nobody looks
    script = """n=$(($(cat starts) + 1)); echo $n > starts; [ "$(cat input)" = "all of it" ] || exit 9; rm input
        mkdir out || exit 8; cp $FILES/$n.h5 out/tmp; mv out/tmp out/o.h5; cat $FILES/$n.h5 > link.h5; echo $RUN >> log"""
    status, said = check(script)
    assert status == 0 and said[-1].endswith("equal: 2 files, 2 datasets, 2 elements are the same with pnetcdf and without."), said
    assert [line for line in said if "not compared" in line] == ["slabmark apply: not compared: 'log' is no file of HDF5 or netCDF; its bytes differ."]
    assert (check.work / "starts").read_text() == "1\n" and (check.work / "log").read_text() == "begin\ndoor\n"
    assert sorted(path.name for path in check.work.iterdir()) == ["link.h5", "log", "out", "starts", "there"]


def test_what_differs_is_told_with_status_1_and_the_native_file_is_kept(check):
    hdf5(check.files / "door.h5", [1.0, 5.0]), hdf5(check.files / "native.h5", [1.0, 2.0])
    status, said = check("cp $FILES/$RUN.h5 o.h5; cp $FILES/native.h5 same.h5")
    assert status == 1
    assert "slabmark apply: differs: 'o.h5', /d: dataset: 1 of 2 elements differ; the first at [1]: 5.0 with pnetcdf, 2.0 without." in said
    [kept] = check.work.glob(".slabmark-check-*")
    assert str(kept) in said[-1]
    [native] = (kept / "without").rglob("o.h5")
    assert h5py.File(native)["d"][1] == 2 and h5py.File(check.work / "o.h5")["d"][1] == 5


@pytest.mark.parametrize(
    "script, status, words",
    [
        ("cp $FILES/native.h5 $RUN.h5", 1, "'native.h5' is not there with pnetcdf, a file of HDF5 without"),
        ("cp $FILES/native.h5 $NUMBER-a.h5; cp $FILES/1.h5 $NUMBER-b.h5", 0, "equal: 2 files, 2 datasets, 4 elements"),
        ("cp $FILES/native.h5 $NUMBER.h5; touch $NUMBER.txt; [ -e 1.txt ] && [ $NUMBER != 1 ] && exit 5; exit 0", 0, "equal: 1 file"),
        ("cp $FILES/$RUN.h5 run-$NUMBER.h5", 1, "'run-2.h5 and run-1.h5', /d: dataset: 1 of 2"),
        ("cp $FILES/$NUMBER.h5 o.h5", 0, "not the same in two native runs: 'o.h5', /:when"),
        ("cp $FILES/native.h5 o.h5; [ $RUN = native ] || head -c 600 $FILES/native.h5 > o.h5", 1, "'o.h5'"),
        ("cp $FILES/native.h5 o.h5; [ $RUN = native ]", 1, "ended with status 1 with pnetcdf, and 0 without"),
        ("cp $FILES/native.h5 o.h5; exit 7", 7, "equal: 1 file"),
        ("echo nothing > text", 1, "nothing was compared"),
        ("cp $FILES/native.h5 o.h5; kill -TERM $$", 143, "nothing was compared"),
    ],
)
def test_the_status_says_how_it_went(check, script, status, words):
    hdf5(check.files / "native.h5"), hdf5(check.files / "door.h5", [1.0, 3.0])
    for number in (1, 2, 3):
        hdf5(check.files / f"{number}.h5", when=number)
    found, said = check(script)
    assert found == status and any(words in line for line in said), said
    if "touch" in script:
        assert {path.name for path in check.work.iterdir()} >= {"1.txt", "2.txt"}, "a file of one run alone may be another program's"


def test_what_words_of_the_command_name_elsewhere_is_watched_and_files_names_it_instead(check, tmp_path):
    hdf5(check.files / "door.h5", [1.0, 5.0]), hdf5(check.files / "native.h5", [1.0, 2.0])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = "cp $FILES/$RUN.h5 ${0#*=}1.h5; cp $FILES/native.h5 o.h5"
    apart = ["--", "sh", "-c", 'RUN=door; [ "$SLABMARK_DROPIN" != off ] || RUN=native\n' + script, f"out={elsewhere}/run-"]
    assert command_line.main(["apply", "--check", *apart]) == 1
    assert command_line.main(["apply", "--check", "--check-dir", ".", *apart]) == 0, "what lies elsewhere is not looked at"


@pytest.mark.parametrize(
    "arguments, culprit",
    [
        (["--check", "--with", "nothing"], "--with nothing"),
        (["--check-dir", "."], "--check"),
        (["--check", "--check-dir", "absent"], "'absent'"),
        (["--check", "--check-dir", "../shared"], "all users write"),
        (["--with", "canonical,log"], "canonical,log"),
        (["--with", "pnetcdf,other"], "'other'"),
        (["--with", "canonical", "--report"], "--with pnetcdf,canonical"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(check, capfd, arguments, culprit):
    shared = check.files.parent / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert command_line.main(["apply", *arguments, "--", "true"]) == 2
    assert culprit in capfd.readouterr().err and not any(check.work.iterdir())


def test_both_doors_are_put_into_a_program(check, monkeypatch, tmp_path):
    (tmp_path / "more/plugins").mkdir()
    (tmp_path / "more/plugins" / apply.PLUGIN).touch()
    found = apply.settings("pnetcdf,canonical", True, {"LD_PRELOAD": "libm.so.6"})
    assert found["LD_PRELOAD"].endswith(f"{apply.LIBRARY}:libm.so.6") and "layout=canonical" in found["HDF5_VOL_CONNECTOR"]
    assert found["HDF5_PLUGIN_PATH"] == str(tmp_path / "more/plugins") and found["SLABMARK_REPORT"] == "1"


@pytest.mark.long
@pytest.mark.parametrize("way, program", [("pnetcdf", "pnetcdf_cases"), ("canonical", "log_writer"), ("log", "log_writer")])
def test_real_programs_leave_the_same(run, tmp_path, way, program):
    folder = pathlib.Path(os.environ["SLABMARK_BIN"])
    if os.environ.get("SLABMARK_SANITIZERS"):
        pytest.skip("the sanitizers must be the first library of a program")
    if not (folder / program).exists() or way == "pnetcdf" and not (folder.parent / "lib" / apply.LIBRARY).exists():
        pytest.skip("this build has no such program")
    launcher = shlex.split(os.environ.get("SLABMARK_MPIEXEC", "mpiexec"))
    words = ["again", "o.nc"] if way == "pnetcdf" else ["o.h5"]
    done = run("slabmark", ["apply", "--check", "--with", way, "--", *launcher, "-n", "2", folder / program, *words], cwd=tmp_path)
    assert done.returncode == 0 and "equal: 1 file" in done.stderr, done.stderr
