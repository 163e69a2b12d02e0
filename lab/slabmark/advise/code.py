"""The lines of C or Fortran that do what a method does, for an application to paste. Templates of them lie in `lines/`."""

import jinja2

from slabmark.advise.candidates import family, library

# Types of the variables that the lines use but do not declare, for the reader and for the test that compiles them.
CONTEXT = {
    "mpiio": "MPI_Comm comm; const char *path; MPI_Datatype file_type; const double *buffer; int elements;",
    "pnetcdf": "MPI_Comm comm; const char *path; int file, variable, pieces; MPI_Offset **starts, **counts; "
    "MPI_Datatype file_type; const double *buffer; MPI_Offset elements;",
    "hdf5": "MPI_Comm comm; const char *path; hid_t dataset, file_space; double *buffer; hsize_t pieces, "
    "elements, **starts, **counts, *points;",
    "posix": "int file; const char *buffer; size_t pieces, *lengths; off_t *offsets;",
    "rearranged": "MPI_Comm comm; const char *path, *name; int dims; int64_t count, elements, offset, record_bytes, record, "
    "*extents, *offsets; double *buffer;",
}
# The same in Fortran.
FORTRAN_CONTEXT = """integer :: comm, info, code, system, decomp, file, variable
integer(int64) :: elements, offset, record_bytes, record
integer(int64), allocatable :: extents(:), offsets(:)
real(real64), allocatable, target :: buffer(:, :)
character(len=80) :: path, name
"""


def for_candidate(candidate):
    """The lines of C, or None where a method is nothing that an application can call."""
    name = family(candidate.method)
    return _lines(f"{name}.c.j2", candidate) if name in CONTEXT else None


def in_fortran(candidate):
    """The lines of Fortran, or None for all but the rearranged methods: what other libraries want of Fortran is in their
    manuals."""
    return _lines("rearranged.f90.j2", candidate) if family(candidate.method) == "rearranged" else None


def _lines(template, candidate):
    loader = jinja2.PackageLoader("slabmark.advise", "lines")
    environment = jinja2.Environment(
        loader=loader, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    lines = environment.get_template(template).render(
        method=candidate.method,
        library=library(candidate.method),
        options=dict(candidate.options),
        hints=dict(candidate.hints),
    )
    return lines.strip() + "\n"
