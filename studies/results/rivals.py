"""Builds the libraries that Slabmark is compared with, from sources that variables name, once for each version."""

import os
import pathlib
import re
import shutil
import subprocess


class RivalError(Exception):
    """A rival that cannot be built."""


def variable(name):
    """(folder, None) or (None, a sentence that says what is absent)."""
    folder = os.environ.get(name)
    if not folder:
        return None, f"{name} is not set"
    if not pathlib.Path(folder).is_dir():
        raise RivalError(f"Cannot build a rival: {name}={folder} is not a folder. Name the unpacked source.")
    return pathlib.Path(folder).resolve(), None


def run(words, log, **more):
    with open(log, "a", encoding="utf-8") as out:
        if subprocess.run(list(map(str, words)), stdout=out, stderr=subprocess.STDOUT, **more).returncode:
            raise RivalError(f"Cannot build a rival: '{' '.join(map(str, words))}' failed. {log} has its output.")


def fresh_copy(source, build):
    shutil.rmtree(build, ignore_errors=True)
    build.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, build, symlinks=True)


def pnetcdf(folder, jobs):
    """({"pnetcdf": library, "pnetcdf_version": version}, None), or (None, what is absent)."""
    source, absent = variable("PNETCDF_SOURCE")
    if absent:
        return None, f"PnetCDF as a rival: {absent}"
    build, prefix = folder / "pnetcdf-source", folder / "pnetcdf"
    library = prefix / "lib/libpnetcdf.so"
    if not library.exists() or (prefix / "source").read_text() != str(source):
        print(f"Building PnetCDF of {source}", flush=True)
        fresh_copy(source, build)
        log = folder / "pnetcdf.log"
        if not (build / "configure").exists():
            run(["autoreconf", "-i"], log, cwd=build)
        run(["./configure", f"--prefix={prefix}", "--enable-shared", "--disable-static", "--disable-fortran", "--disable-cxx",
             "MPICC=mpicc"], log, cwd=build)
        run(["make", f"-j{jobs}", "-C", "src"], log, cwd=build)
        run(["make", "-C", "src", "install"], log, cwd=build)
        (prefix / "source").write_text(str(source))
    version = re.search(rb"PNETCDF_VERSION\s+\"([^\"]+)", (prefix / "include/pnetcdf.h").read_bytes())
    version = version[1].decode() if version else "of unknown version"
    gio = b"gio" in library.read_bytes()
    return {"pnetcdf": library, "pnetcdf_version": f"{version}, {'driver GIO' if gio else 'without GIO'}"}, None


def scorpio(folder, jobs):
    """({"scorpio": program that writes a file}, None), or (None, what is absent)."""
    source, absent = variable("SCORPIO_SOURCE")
    if absent:
        return None, f"SCORPIO as a rival: {absent}"
    program = folder / "scorpio_file"
    mark = folder / "scorpio.source"
    if not program.exists() or mark.read_text() != str(source):
        print(f"Building SCORPIO of {source}", flush=True)
        copy, build, log = folder / "scorpio-source", folder / "scorpio-build", folder / "scorpio.log"
        fresh_copy(source, copy)
        shutil.rmtree(build, ignore_errors=True)
        # MPI 3 no longer has the function.
        for path in copy.glob("src/clib/core/rearr/*.cpp"):
            path.write_text(re.sub(r"\bMPI_Type_hvector\b", "MPI_Type_create_hvector", path.read_text()))
        (folder / "fortran.cmake").write_text("enable_language(Fortran)\n")
        pnetcdf_folder = one_folder(folder / "scorpio-pnetcdf")
        run(["cmake", "-S", copy, "-B", build, "-D", f"CMAKE_PROJECT_INCLUDE={folder}/fortran.cmake", "-D", "CMAKE_BUILD_TYPE=Release",
             *(word for name in ("FORTRAN", "TIMING", "DOC", "TOOLS") for word in ("-D", f"PIO_ENABLE_{name}=OFF")),
             "-D", "WITH_NETCDF=OFF", "-D", f"PnetCDF_PATH={pnetcdf_folder}"], log,
            env={**os.environ, "CC": "mpicc", "CXX": "mpicxx", "FC": "mpif90"})
        run(["cmake", "--build", build, "-j", jobs], log)
        study = pathlib.Path(__file__).resolve().parents[1] / "cluster/scorpio_file.cpp"
        run(["mpicxx", "-std=c++17", "-O2", "-I", copy / "src/clib", "-I", build / "src/clib", study,
             *sorted(build.glob("src/**/*.o")), f"-L{pnetcdf_folder}/lib", "-lpnetcdf", "-o", program], log)
        mark.write_text(str(source))
    return {"scorpio": program}, None


def one_folder(folder):
    """The installed PnetCDF as SCORPIO looks for it: headers and library in one folder."""
    prefix = pathlib.Path(os.environ.get("PNETCDF_DIR", "/usr"))
    for name in ("include/pnetcdf.h", "lib/libpnetcdf.so"):
        places = [prefix / name, prefix / name.replace("lib/", f"lib/{os.uname().machine}-linux-gnu/")]
        target = next((place for place in places if place.exists()), None)
        if not target:
            raise RivalError(f"Cannot build SCORPIO: {prefix} has no {name}. Name the folder of PnetCDF with PNETCDF_DIR.")
        link = folder / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    return folder
