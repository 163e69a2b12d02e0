"""The lines of C that do what a method does, for an application to paste. Templates of them lie in `lines/`."""

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
    "rearranged": "MPI_File file; MPI_Offset range_begin; const char *window; int window_bytes;",
}


def for_candidate(candidate):
    """The lines, or None where a method is nothing that an application can call."""
    if (name := family(candidate.method)) not in CONTEXT:
        return None
    loader = jinja2.PackageLoader("slabmark.advise", "lines")
    environment = jinja2.Environment(
        loader=loader, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    lines = environment.get_template(f"{name}.c.j2").render(
        method=candidate.method,
        library=library(candidate.method),
        options=dict(candidate.options),
        hints=dict(candidate.hints),
    )
    return lines.strip() + "\n"
