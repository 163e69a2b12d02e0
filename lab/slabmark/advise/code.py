"""The lines of C that do what a method does, for an application to paste."""

import jinja2

# Types of the variables that the lines use but do not declare, for the reader and for the test that compiles them.
CONTEXT = {
    "mpiio": "MPI_Comm comm; const char *path; MPI_Datatype file_type; const double *buffer; int elements;",
    "pnetcdf": "MPI_Comm comm; const char *path; int file, variable, pieces; MPI_Offset **starts, **counts; "
    "MPI_Datatype file_type; const double *buffer; MPI_Offset elements;",
    "hdf5": "MPI_Comm comm; const char *path; hid_t dataset, file_space, memory_space; const double *buffer; hsize_t pieces, "
    "elements, (*starts)[2], (*counts)[2], *points;",
    "posix": "int file; const char *buffer; size_t pieces, *lengths; off_t *offsets;",
}


def for_candidate(candidate):
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("slabmark.advise", "."),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    library = candidate.method.split("-")[0]
    return (
        environment.get_template("code.c.j2")
        .render(
            method=candidate.method,
            library=library,
            options=dict(candidate.options),
            hints=dict(candidate.hints),
            context=CONTEXT.get(library, ""),
        )
        .strip()
        + "\n"
    )
