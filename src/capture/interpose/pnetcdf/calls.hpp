#pragma once

#include <functional>

#include "accel/pnetcdf_dropin/call.hpp"

// What the wrappers of the independent calls, which the drop-in leaves alone, go to; those of the
// others go to the functions of accel/pnetcdf_dropin/calls.hpp, which are defined here, too.

namespace slabmark::dropin {

int independent(int ncid, const Call& call, const std::function<int()>& native);
int several_independent(int ncid, int count, const std::function<Call(int)>& call_of,
                        const std::function<int()>& native);

}  // namespace slabmark::dropin

namespace slabmark::capture {

/// The calls by an MPI datatype of the file: ncmpi_put_vard and its like.
int move_by_filetype(int ncid, const char* name, const dropin::Call& call, MPI_Datatype filetype,
                     unsigned flags, const std::function<int()>& native);

}  // namespace slabmark::capture
