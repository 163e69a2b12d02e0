"""What programs are linked with: libraries that are made for it, with nothing in them but their names."""

import argparse
import os
import pathlib
import shutil
import subprocess

import pytest
from slabmark import apply, capture, doctor, linked
from slabmark.errors import InputError

needs_compiler = pytest.mark.skipif(not shutil.which("cc") or not shutil.which("ldd"), reason="no C compiler, or no ldd")


@pytest.mark.parametrize(
    "kind, theirs, ours, other",
    [
        (linked.HDF5, {"libhdf5.so.310", "libhdf5_hl.so.310"}, {"libhdf5.so.310"}, None),
        (linked.HDF5, {"libhdf5.so.310"}, {"libhdf5.so.320"}, ("libhdf5.so.310", "libhdf5.so.320")),
        (linked.HDF5, {"libhdf5_openmpi_hl.so.100", "libhdf5_openmpi.so.103"}, {"libhdf5.so.320"}, ("libhdf5_openmpi.so.103", "libhdf5.so.320")),
        (linked.HDF5, {"libhdf5_hl.so.310", "libc.so.6"}, {"libhdf5.so.320"}, None),
        (linked.HDF5, {"libhdf5.so.310"}, set(), None),
        (linked.MPI, {"libmpi.so.40", "libmpi_mpifh.so.40"}, {"libmpi.so.40"}, None),
        (linked.MPI, {"libmpi.so.12", "libmpifort.so.12"}, {"libmpi.so.40"}, ("libmpi.so.12", "libmpi.so.40")),
        (linked.MPI, {"libmpi_gnu_123.so.12"}, {"libmpich.so.12"}, None),
        (linked.MPI, {"libmpi_abi.so.1"}, {"libmpi.so.12"}, ("libmpi_abi.so.1", "libmpi.so.12")),
        (linked.MPI, {"libmpicxx.so.12"}, {"libmpi.so.40"}, None),
    ],
)
def test_libraries_go_together_where_they_are_of_one_abi(kind, theirs, ours, other):
    assert linked._other(kind, theirs, ours) == other


@pytest.fixture
def build(tmp_path, monkeypatch):
    """build(name, *libraries, text, source, flags): a program of that name in this folder, or a shared library where it has such a
    name, linked with these, which are built or are there, and with a text and lines of C in it. Its path."""
    monkeypatch.setenv("SLABMARK_BIN", str(tmp_path / "bin"))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    for name in ("bin", "lib", "plugins"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin" / "slabmark").touch(mode=0o755)

    def make(name, *libraries, text="", source="", flags=()):
        source += f'const char* text(void) {{ return "{text}"; }}\n'
        words = ["-shared", "-fPIC", f"-Wl,-soname,{os.path.basename(name)}"] if ".so" in name else []
        if not words:
            source += "int main(void) { return 0; }\n"
        needs = [library if os.path.isabs(library) else make(library) for library in libraries]
        subprocess.run(["cc", *words, *flags, "-o", name, "-x", "c", "-", "-Wl,--no-as-needed", "-x", "none", *needs], input=source, text=True,
                       check=True, cwd=tmp_path)
        return str(tmp_path / name)

    return make


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize(
    "libraries, text, culprit",
    [
        (["libhdf5_openmpi.so.103"], "", "linked with libhdf5_openmpi.so.103, and the connector libslablog.so with libhdf5.so.320"),
        (["libmodel.so"], "HDF5 library version: 1.10.8", "linked with libhdf5.a, and"),
        (["libhdf5.so.320", "libmpi.so.12"], "", "linked with libmpi.so.12, and libslablog.so with libmpi.so.40"),
        (["libhdf5.so.320", "libmpi.so.40"], "HDF5 library version: 2.2.0", None),
        (["libmodel.so"], "", None),
    ],
)
def test_a_program_of_another_hdf5_or_mpi_is_refused_where_the_connector_would_not_work(build, libraries, text, culprit):
    build("plugins/" + apply.PLUGIN, "libhdf5.so.320", "libmpi.so.40")
    words = ["env", "A=b", build("model", *libraries, text=text), "out.h5"]
    if culprit is None:
        return apply.check_programs(words, "canonical", dict(os.environ))
    with pytest.raises(InputError, match="/model' is " + culprit):
        apply.check_programs(words, "canonical", dict(os.environ))


@pytest.mark.long
@needs_compiler
def test_an_hdf5_that_takes_signed_plugins_only_gets_no_others(build, capfd):
    """It refuses them by itself, with ten lines of its own; a capture would keep the program from running."""
    plugin = build("plugins/" + apply.PLUGIN, "libhdf5.so.320")
    shutil.copy(plugin, pathlib.Path(plugin).with_name(capture.PLUGIN))
    build("libhdf5.so.320", text="revoked_signatures.txt")
    model = build("model", os.path.abspath(os.path.join(os.path.dirname(plugin), "../libhdf5.so.320")))
    with pytest.raises(InputError, match="libhdf5.so.320', the HDF5 of '.*/model', takes signed plugins only, and '.*libslablog.so' is not signed"):
        apply.check_programs([model], "canonical", dict(os.environ))
    variables, arguments = {capture.CONNECTOR: "slabcapture", "OTHER": "1"}, argparse.Namespace(intercept=None)
    assert capture.fitting(variables, [model], arguments) == {"OTHER": "1"} and "takes signed plugins only" in capfd.readouterr().err
    shutil.copy(model, os.path.join(os.path.dirname(plugin), "../bin/slabmark"))
    assert doctor.unsigned_plugins() == [plugin, plugin.replace(apply.PLUGIN, capture.PLUGIN)]
    for name in (apply.PLUGIN, capture.PLUGIN):
        with open(pathlib.Path(plugin).with_name(name), "ab") as file:
            file.write(b"signature" + b"\x03" + (9).to_bytes(4, "little") + b"\x89HPS\r\n\x1a\n" + b"\x01")
    apply.check_programs([model], "canonical", dict(os.environ))
    assert capture.fitting(variables, [model], arguments) == variables and doctor.unsigned_plugins() == []


@needs_compiler
def test_the_drop_in_is_not_put_into_a_program_of_another_mpi(build):
    build("lib/" + apply.LIBRARY, "libmpi.so.40")
    with pytest.raises(InputError, match="libmpi.so.12, and libslabmark_pnetcdf.so with libmpi.so.40"):
        apply.check_programs([build("model", "libmpi.so.12")], apply.PNETCDF, dict(os.environ))
    apply.check_programs([build("another", "libmpi.so.40", "libhdf5.so.103")], apply.PNETCDF, dict(os.environ))


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("levels", [None, "hdf5,posix", "posix"])
@pytest.mark.parametrize(
    "libraries, text, named",
    [
        (["libhdf5_openmpi.so.103"], "", "libhdf5_openmpi.so.103"),
        (["libmpi.so.40"], "HDF5 library version: 1.12.3", "libhdf5.a 1.12.3"),
        (["libhdf5.so.310"], "", None),
        (["libhdf5_openmpi_hl.so.100", "libhdf5_openmpi.so.310"], "HDF5 library version: 1.10.8", None),
        (["libmpi.so.40"], "HDF5 library version: 2.2.0-1", None),
    ],
)
def test_of_a_program_with_an_old_hdf5_all_but_its_hdf5_is_captured(build, capfd, levels, libraries, text, named):
    build("plugins/" + capture.PLUGIN)
    for name in capture.LIBRARIES.values():
        build(f"lib/{name}", "libmpi.so.40")
    arguments = argparse.Namespace(intercept=levels, posix="auto", only_files=None)
    variables = capture.settings("/out/run.pattern", arguments)
    words = ["mpiexec", build("model", *libraries, text=text), "out.h5"]
    if named and levels == "hdf5,posix":
        with pytest.raises(InputError, match=f"linked with {named}.*leave hdf5 out of --intercept"):
            capture.fitting(variables, words, arguments)
        return
    left = capture.fitting(variables, words, arguments)
    said = capfd.readouterr().err
    if not named or levels == "posix":
        assert left == variables and not said
    else:
        assert left == {name: value for name, value in variables.items() if not name.startswith("HDF5_")} and named in said


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("levels, refused", [(None, True), ("mpiio,posix", True), ("posix", False)])
def test_a_program_of_another_mpi_is_captured_only_by_what_needs_none(build, levels, refused):
    build("lib/" + capture.LIBRARIES["mpiio"], "libmpi.so.40")
    build("lib/" + capture.LIBRARIES["posix"])
    arguments = argparse.Namespace(intercept=levels, posix="auto", only_files=None)
    variables, model = capture.settings("/out/run.pattern", arguments), build("model", "libmpi.so.12")
    if not refused:
        assert capture.fitting(variables, [model], arguments) == variables
        return
    with pytest.raises(InputError, match="libmpi.so.12, and libslabcapture_mpiio.so with libmpi.so.40"):
        capture.fitting(variables, [model], arguments)


BINDING = """
int ncmpi_put_vara_all(int id) { return id + 1; }
int nfmpi_put_vara_all_(const int* id) { return ncmpi_put_vara_all(*id); }
"""


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("text", ["nfmpi_put_vara_all_", "__pnetcdf_MOD_nf90mpi_put_var", "ncmpi_put_vara_all"])
@pytest.mark.parametrize("flag", ["-Wl,-z,lazy", "-Wl,-z,now", "-fno-plt", "-Wl,-Bsymbolic-functions", "-Wl,-Bsymbolic"])
@pytest.mark.parametrize("place", ["in the program", "in a library of it"])
def test_calls_from_fortran_that_pnetcdf_binds_inside_are_said(build, capsys, text, flag, place):
    build("lib/" + apply.LIBRARY)
    build("lib/" + capture.LIBRARIES["pnetcdf"])
    pnetcdf = build("libpnetcdf.so.9", source=BINDING, flags=["-O0", flag])
    model = build("libphysics.so", pnetcdf, text=text) if place != "in the program" else pnetcdf
    model = build("model", pnetcdf, model, text=text if place == "in the program" else "")
    arguments = argparse.Namespace(intercept="pnetcdf", posix="auto", only_files=None)
    variables, words = capture.settings("/out/run.pattern", arguments), ["env", model]
    assert capture.fitting(variables, words, arguments) == variables
    said = capsys.readouterr().err
    if "symbolic" not in flag or text.startswith("ncmpi"):
        assert said == ""
        return apply.check_programs(words, apply.PNETCDF, dict(os.environ))
    assert f"'{model}' calls PnetCDF from Fortran, and '{pnetcdf}'" in said
    with pytest.raises(InputError, match=f"'{model}' calls PnetCDF from Fortran, and the calls within '{pnetcdf}'"):
        apply.check_programs(words, apply.PNETCDF, dict(os.environ))


@pytest.mark.parametrize("content", [b"", b"x", b"#!/bin/sh\n", b"\x7fELF", None])
def test_what_is_no_program_of_this_machine_is_linked_with_nothing(tmp_path, content):
    path = tmp_path / "model"
    if content is not None:
        path.write_bytes(content)
        path.chmod(0o755)
    assert linked.libraries(str(path), dict(os.environ)) == {} == linked.libraries(None, dict(os.environ))
    linked.check_pnetcdf(str(path))


def test_a_program_that_may_be_run_and_not_read_is_run(tmp_path, monkeypatch):
    program = tmp_path / "model"
    program.write_bytes(b"x")
    program.chmod(0o711)

    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", path)  # which root never gets

    monkeypatch.setattr(linked, "open", refuse, raising=False)
    linked.check_pnetcdf(str(program))


@needs_compiler
def test_libraries_of_a_program_are_found_without_its_sections_and_of_half_a_program_nothing_is_said(build, tmp_path):
    model = tmp_path / build("model", "libpnetcdf.so.9", text="PnetCDF library version 1.2.3")
    whole = model.read_bytes()
    assert "libpnetcdf.so.9" in linked.needed_libraries(whole)
    stripped = bytearray(whole)
    stripped[0x28:0x30], stripped[0x3C:0x40] = bytes(8), bytes(4)  # where sections are, and how many
    model.write_bytes(stripped)
    linked.check_pnetcdf(str(model))
    for length in (16, 50, 100, 500):
        model.write_bytes(whole[:length] + b"PnetCDF library version")
        linked.check_pnetcdf(str(model))
