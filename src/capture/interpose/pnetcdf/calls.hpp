#pragma once

#include "core/base/function_ref.hpp"
#include "storage/pnetcdf/calls/call.hpp"

namespace slabmark::capture {

// PnetCDF's functions that move data go here. Each makes PnetCDF's own call, `native`, and records
// it. Others may wait for this rank in it, so it is made also where memory is short: a reference is
// to be passed as `native`, since a copy could need some.

/// put, get of all ranks, and of each for itself.
int move_collectively(int ncid, const pnetcdf::Call& call, FunctionRef<int()> native);
int move_alone(int ncid, const pnetcdf::Call& call, FunctionRef<int()> native);

/// mput, mget.
int move_several_collectively(int ncid, int count, FunctionRef<pnetcdf::Call(int)> call_of,
                              FunctionRef<int()> native);
int move_several_alone(int ncid, int count, FunctionRef<pnetcdf::Call(int)> call_of,
                       FunctionRef<int()> native);

/// iput, iget, bput.
int post(int ncid, const pnetcdf::Call& call, int* id, FunctionRef<int(int*)> native);

/// The calls that end requests. `name` is that of the function.
int wait(int ncid, const char* name, unsigned flags, int count, const int* ids,
         FunctionRef<int()> native);

/// The calls by an MPI datatype of the file: ncmpi_put_vard and its like.
int move_by_filetype(int ncid, const char* name, const pnetcdf::Call& call, MPI_Datatype filetype,
                     unsigned flags, FunctionRef<int()> native);

}  // namespace slabmark::capture
