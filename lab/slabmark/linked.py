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
# Strings that a file contains if one of these is linked into it, also after it was stripped.
TEXT_OF_PNETCDF, TEXT_OF_DROPIN = b"PnetCDF library version", b"SLABMARK_DROPIN"
TEXT_OF_HDF5 = re.compile(rb"HDF5 library version: (\d+\.\d+[.\d]*)")
# What is in an HDF5 that was built with HDF5_REQUIRE_SIGNED_PLUGINS (H5PLsig.c), and the end of a plugin that is signed, of which
# bytes 5 to 12 say so (H5PLsig.h).
TEXT_OF_SIGNING, SIGNED, BYTES_AT_THE_END = b"revoked_signatures.txt", b"\x89HPS\r\n\x1a\n", 14
CALLS_FROM_FORTRAN = b"nfmpi_", b"nf90mpi_"  # in the names of PnetCDF's functions for Fortran 77 and 90


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
            "in: link it with the shared library, or with libslabmark_pnetcdf_wrap.a (docs/reference/pnetcdf-drop-in.md)."
        )


def bound_pnetcdf(word, theirs):
    """Path of the PnetCDF that the program of this word, which is linked with `theirs`, calls from Fortran, if that was linked so
    that its functions for Fortran call those for C without the dynamic linker (-Bsymbolic-functions, as Ubuntu's packages are):
    nothing that is preloaded can stand in for these. Else nothing."""
    pnetcdf = next((path for name, path in theirs.items() if name.startswith("libpnetcdf.")), None)
    own = [shutil.which(word), *(path for path in theirs.values() if path != pnetcdf)]
    if not pnetcdf or not any(image_of(path).find(text) >= 0 for path in own for text in CALLS_FROM_FORTRAN):
        return None
    try:
        bound = not any(name.startswith("ncmpi_put_") for name in _Dynamic(image_of(pnetcdf)).asked_of_linker())
    except (struct.error, ValueError):
        return None
    return pnetcdf if bound else None


def check_mpi(word, theirs, own, ours):
    """InputError if the program of this word and our library `own`, which are linked with `theirs` and `ours`, have
    another MPI each."""
    if other := _other(MPI, theirs, ours):
        raise InputError(f"'{word}' is linked with {other[0]}, and {os.path.basename(own)} with {other[1]}, which is another MPI: "
                         "build one of them with the MPI of the other (docs/how-to/install.md).")


def other_hdf5(word, theirs, own, ours):
    """What to say of them if they have another HDF5 each: HDF5 takes no connector of another one. Else nothing."""
    if not any(map(HDF5.fullmatch, theirs)) and static_hdf5(word):
        theirs = {"libhdf5.a"}
    other = _other(HDF5, theirs, ours)
    return f"'{word}' is linked with {other[0]}, and the connector {os.path.basename(own)} with {other[1]}" if other else None


def hdf5_beside(theirs, ours):
    """The names of two shared libraries of HDF5 that go together in no process, if there are such. Else nothing."""
    return _other(HDF5, {name: path for name, path in theirs.items() if ".so" in name}, ours)


def hdf5_of_signed_plugins(word, theirs):
    """Path of the HDF5 of the program of this word, which is linked with `theirs`, if it takes signed plugins only. Else nothing."""
    places = [shutil.which(word), *(path for name, path in theirs.items() if HDF5.fullmatch(name))]
    return next((path for path in places if path and image_of(path).find(TEXT_OF_SIGNING) >= 0), None)


def is_signed(plugin):
    return image_of(plugin)[-BYTES_AT_THE_END:][5:13] == SIGNED


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
    """The shared libraries that the system loads with a program or a library, paths by their names; none where it does not say,
    as of scripts, of what is linked statically and of what is of another machine."""
    if not image_of(path):
        return {}
    try:
        said = subprocess.run(["ldd", os.path.abspath(path)], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    lines = [line.split() for line in said.stdout.splitlines() if line.strip()]  # name => path (address), or path (address)
    return {os.path.basename(words[0]): words[2] if words[1:2] == ["=>"] else words[0] for words in lines}


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
    """Of an ELF file of this machine: the names in its dynamic section. ValueError or struct.error for what is none or is cut
    short."""
    return _Dynamic(image).needed()


class _Dynamic:
    """The dynamic section of an ELF file of this machine, found as the loader does, since sections may have been stripped."""

    NEEDED, PLT_BYTES, TEXTS, SYMBOLS, RELOCATIONS, RELOCATIONS_BYTES, PLT = 1, 2, 5, 6, 7, 8, 23  # tags of elf.h (DT_*)

    def __init__(self, image):
        if image[4:6] != bytes([2, 1 if sys.byteorder == "little" else 2]):
            raise ValueError("not of this machine")
        self.image = image
        (first,) = self._read("Q", 0x20)
        size, count = self._read("HH", 0x36)
        # kind, flags, offset, address, -, length
        self.segments = [self._read("IIQQQQ", first + number * size) for number in range(count)]
        self.needs, self.values = [], {}
        for kind, _, offset, _, _, length in self.segments:
            if kind == 2:  # PT_DYNAMIC
                for tag, value in (self._read("QQ", at) for at in range(offset, offset + length, 16)):
                    self.values[tag] = value
                    self.needs += [value] * (tag == self.NEEDED)

    def needed(self):
        return [self._text(at) for at in self.needs]

    def asked_of_linker(self):
        """Names of symbols for which the dynamic linker looks when the file is loaded."""
        for table, length in ((self.PLT, self.PLT_BYTES), (self.RELOCATIONS, self.RELOCATIONS_BYTES)):
            first = self._place(self.values[table]) if table in self.values else 0
            for at in range(first, first + self.values.get(length, 0), 24):
                if symbol := self._read("QQq", at)[1] >> 32:
                    (name,) = self._read("I", self._place(self.values.get(self.SYMBOLS, -1)) + 24 * symbol)
                    yield self._text(name)

    def _read(self, form, at):
        return struct.unpack_from("=" + form, self.image, at)

    def _place(self, address):
        """Where in the file stands what is loaded to that address."""
        for kind, _, offset, begin, _, length in self.segments:
            if kind == 1 and begin <= address < begin + length:  # PT_LOAD
                return address - begin + offset
        raise ValueError("an address is in none of the segments")

    def _text(self, at):
        begin = self._place(self.values.get(self.TEXTS, -1)) + at
        return self.image[begin : self.image.find(b"\0", begin)].decode(errors="replace")
