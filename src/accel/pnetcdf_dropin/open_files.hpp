#pragma once

#include <mpi.h>

namespace slabmark::dropin {

class NetcdfFile;

/// True if a file of these ranks can be taken at all.
bool is_known_to_mpi(MPI_Comm comm);

/// The file of an id. Null where there is none, where it is left to PnetCDF altogether, or where
/// PnetCDF makes the call itself.
NetcdfFile* open_file(int ncid);

/// Before PnetCDF opens a file or makes one of this name, which the program may have open already.
void opening(const char* path);
/// Collective over `comm`, whatever `error` PnetCDF's call returned: makes the file known unless it
/// is to be left to PnetCDF. `name`: the program's, of the file that PnetCDF opened at `path`.
void opened(MPI_Comm comm, const char* name, const char* path, MPI_Info info, int mode,
            bool created, int error, const int* ncid);
void forget(int ncid);

}  // namespace slabmark::dropin
