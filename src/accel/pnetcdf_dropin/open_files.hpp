#pragma once

#include <mpi.h>

namespace slabmark::dropin {

class NetcdfFile;

/// The file of an id. Null where there is none, where it is left to PnetCDF altogether, or where
/// PnetCDF makes the call itself.
NetcdfFile* open_file(int ncid);

/// Collective over `comm`, whatever `error` PnetCDF's call returned: makes the file known unless it
/// is to be left to PnetCDF.
void opened(MPI_Comm comm, const char* path, MPI_Info info, int mode, bool created, int error,
            const int* ncid);
void forget(int ncid);

}  // namespace slabmark::dropin
