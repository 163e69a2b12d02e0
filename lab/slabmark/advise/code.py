"""The lines of C or Fortran that do what a method does, for an application to paste. Templates of them lie in `lines/`."""

import jinja2

from slabmark.advise.candidates import NO_CALLS, family, library

# By the name of a type of elements: what it is called in C and Fortran, by MPI, and in memory by HDF5.
TYPES = {
    "float64": ("double", "real(real64)", "MPI_DOUBLE", "H5T_NATIVE_DOUBLE"),
    "float32": ("float", "real(real32)", "MPI_FLOAT", "H5T_NATIVE_FLOAT"),
    "int64": ("int64_t", "integer(int64)", "MPI_INT64_T", "H5T_NATIVE_INT64"),
    "uint64": ("uint64_t", "integer(int64)", "MPI_UINT64_T", "H5T_NATIVE_UINT64"),
    "int32": ("int32_t", "integer(int32)", "MPI_INT32_T", "H5T_NATIVE_INT32"),
    "uint32": ("uint32_t", "integer(int32)", "MPI_UINT32_T", "H5T_NATIVE_UINT32"),
    "int16": ("int16_t", "integer(int16)", "MPI_INT16_T", "H5T_NATIVE_INT16"),
    "uint16": ("uint16_t", "integer(int16)", "MPI_UINT16_T", "H5T_NATIVE_UINT16"),
    "int8": ("int8_t", "integer(int8)", "MPI_INT8_T", "H5T_NATIVE_INT8"),
    "uint8": ("uint8_t", "integer(int8)", "MPI_UINT8_T", "H5T_NATIVE_UINT8"),
}
# Types of the variables that the lines use but do not declare, for the reader and for the test that compiles them.
CONTEXT = {
    "mpiio": "MPI_Comm comm; const char *path; MPI_Datatype file_type; const {c} *buffer; int elements;",
    "pnetcdf": "MPI_Comm comm; const char *path; int file, variable, pieces; MPI_Offset **starts, **counts; "
    "MPI_Datatype file_type; const {c} *buffer; MPI_Offset elements;",
    "hdf5": "MPI_Comm comm; const char *path; hid_t dataset, file_space; {c} *buffer; hsize_t pieces, "
    "elements, **starts, **counts, *points;",
    "posix": "int file; const char *buffer; size_t pieces, *lengths; off_t *offsets;",
    "rearranged": "MPI_Comm comm; const char *path, *name; int dims; int64_t count, elements, offset, record_bytes, record, "
    "*extents, *offsets; {c} *buffer;",
}
# The same in Fortran.
FORTRAN_CONTEXT = """integer :: comm, info, code, system, decomp, file, variable
integer(int64) :: elements, offset, record_bytes, record
integer(int64), allocatable :: extents(:), offsets(:)
{fortran}, allocatable, target :: buffer(:, :)
character(len=80) :: path, name
"""


def for_candidate(candidate, type="float64"):
    """The lines of C for variables of this type, or None where a method is nothing that an application can call."""
    name = family(candidate.method)
    has_calls = name in CONTEXT and library(candidate.method) not in NO_CALLS
    return _lines(f"{name}.c.j2", candidate, type) if has_calls else None


def in_fortran(candidate, type="float64"):
    """The lines of Fortran, or None for all but the rearranged methods: what other libraries want of Fortran is in their
    manuals."""
    has_calls = family(candidate.method) == "rearranged" and library(candidate.method) not in NO_CALLS
    return _lines("rearranged.f90.j2", candidate, type) if has_calls else None


def _lines(template, candidate, type):
    of_mpi, of_hdf5 = TYPES[type][2:]
    loader = jinja2.PackageLoader("slabmark.advise", "lines")
    environment = jinja2.Environment(
        loader=loader, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    lines = environment.get_template(template).render(
        method=candidate.method,
        library=library(candidate.method),
        options=dict(candidate.options),
        hints=dict(candidate.hints),
        type=type,
        of_mpi=of_mpi,
        of_hdf5=of_hdf5,
    )
    return lines.strip() + "\n"
