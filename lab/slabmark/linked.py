"""What a program is linked with, and whether a library of ours can work in it."""

import mmap
import os
import re
import shutil
import struct
import subprocess
import sys

from slabmark.errors import InputError

# Sonames of the library itself, not of what is built on it (libmpi_mpifh, libhdf5_openmpi_hl). Two go together if their groups
# are the same: of MPI the number of the ABI, which MPICH has in common with its relatives, whose names may end in a compiler.
MPI = re.compile(r"libmpi(?:ch|(_abi)|_(?:cray|gnu|intel|amd|nvidia)\w*)?\.so\.(\d+)[.\d]*")
HDF5 = re.compile(r"(libhdf5(?!\w*(?:hl|cpp|fortran|f90|java|tools))\w*\.(?:a|so))(?:\.(\d+)[.\d]*)?")
FIRST_OF_1_14 = 310  # the number that HDF5 1.14.0 has there; 1.12 has 200
# What a file has in it that one of these is linked into, whatever else was stripped from it.
TEXT_OF_PNETCDF, TEXT_OF_DROPIN = b"PnetCDF library version", b"SLABMARK_DROPIN"
TEXT_OF_HDF5 = re.compile(rb"HDF5 library version: (\d+\.\d+[.\d]*)")


def check_pnetcdf(word):
    """InputError if the word names a program in which nothing can stand in for PnetCDF: one that has it inside. Words that
    name no program, or one that may be run and not read, and scripts, are good."""
    image = image_of(shutil.which(word))
    if image.find(TEXT_OF_PNETCDF) < 0:
        return
    if image.find(TEXT_OF_DROPIN) >= 0:
        raise InputError(f"'{word}' has the drop-in inside already: run it as it is.")
    try:
        needed = needed_libraries(image)
    except (struct.error, ValueError):
        return  # cut short, or of another machine: the system says what is wrong with it
    if not any(name.startswith("libpnetcdf.") for name in needed):
        raise InputError(
            f"'{word}' is linked with a static PnetCDF (libpnetcdf.a), for which nothing that is preloaded can stand "
            "in: link it with the shared library, or with libslabmark_pnetcdf_wrap.a (docs/pnetcdf-drop-in.md)."
        )


def check_mpi(word, theirs, own, ours):
    """InputError if the program of this word and our library `own`, which are linked with `theirs` and `ours`, have
    another MPI each."""
    if other := _other(MPI, theirs, ours):
        raise InputError(f"'{word}' is linked with {other[0]}, and {os.path.basename(own)} with {other[1]}, which is another MPI: "
                         "build one of them with the MPI of the other (docs/building.md).")


def other_hdf5(word, theirs, own, ours):
    """What to say of them if they have another HDF5 each: HDF5 takes no connector of another one. Else nothing."""
    if not any(map(HDF5.fullmatch, theirs)) and static_hdf5(word):
        theirs = {"libhdf5.a"}
    other = _other(HDF5, theirs, ours)
    return f"'{word}' is linked with {other[0]}, and the connector {os.path.basename(own)} with {other[1]}" if other else None


def hdf5_before_1_14(word, theirs):
    """What to call the HDF5 of the program of this word, which is linked with `theirs`, if it is older than HDF5's connectors are
    what they are. Else nothing."""
    shared = [(int(found[2] or 0), name) for name in theirs if (found := HDF5.fullmatch(name))]
    if shared:
        number, name = max(shared)
        return name if number < FIRST_OF_1_14 else None
    version = static_hdf5(word)
    return f"libhdf5.a {version}" if version and tuple(map(int, version.split(".")[:2])) < (1, 14) else None


def static_hdf5(word):
    """Version of the HDF5 that is inside the program of this word, if one is."""
    found = TEXT_OF_HDF5.search(image_of(shutil.which(word)))
    return found[1].decode() if found else None


def _other(kind, theirs, ours):
    theirs, ours = ({name: found.groups() for name in names if (found := kind.fullmatch(name))} for names in (theirs, ours))
    if not theirs or not ours or set(theirs.values()) & set(ours.values()):
        return None
    return min(theirs), min(ours)


def libraries(path, environment):
    """Names of the shared libraries that the system loads with a program or a library; none where it does not say, as of
    scripts, of what is linked statically and of what is of another machine."""
    if not image_of(path):
        return set()
    try:
        said = subprocess.run(["ldd", os.path.abspath(path)], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return set()
    return {os.path.basename(line.split()[0]) for line in said.stdout.splitlines() if line.strip()}


def image_of(path):
    """The bytes of an ELF file; none of what is no such file, or cannot be read."""
    try:
        if not path or os.path.getsize(path) == 0:  # pipes, too, which would keep a reader waiting
            return b""
        with open(path, "rb") as file:
            image = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError:
        return b""
    return image if image[:4] == b"\x7fELF" else b""


def needed_libraries(image):
    """Of an ELF file of this machine: the names in its dynamic section, found as the loader does, since sections may have been
    stripped. ValueError or struct.error for what is none or is cut short."""
    if image[4:6] != bytes([2, 1 if sys.byteorder == "little" else 2]):
        raise ValueError("not of this machine")
    read = lambda form, at: struct.unpack_from("=" + form, image, at)
    (first,) = read("Q", 0x20)
    size, count = read("HH", 0x36)
    segments = [read("IIQQQQ", first + number * size) for number in range(count)]  # kind, flags, offset, address, -, length
    tags = []
    for kind, _, offset, _, _, length in segments:
        if kind == 2:  # PT_DYNAMIC
            tags += [read("QQ", at) for at in range(offset, offset + length, 16)]
    if not (names := [value for tag, value in tags if tag == 1]):  # DT_NEEDED
        return []
    texts = next((value for tag, value in tags if tag == 5), -1)  # DT_STRTAB, an address
    for kind, _, offset, address, _, length in segments:
        if kind == 1 and address <= texts < address + length:  # PT_LOAD
            begins = [texts - address + offset + name for name in names]
            return [image[begin : image.find(b"\0", begin)].decode(errors="replace") for begin in begins]
    raise ValueError("its names are in none of its segments")
