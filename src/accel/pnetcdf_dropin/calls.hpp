#pragma once

#include "core/base/function_ref.hpp"
#include "storage/pnetcdf/calls/call.hpp"

namespace slabmark::dropin {

using pnetcdf::Call;

// A call of the program becomes a request that is accepted, or the same call of PnetCDF's own,
// `native`.

/// iput, bput, iget.
int nonblocking(int ncid, const Call& call, int* id, FunctionRef<int(int*)> native);

/// The collective calls that move one part of a variable.
int blocking(int ncid, const Call& call, FunctionRef<int()> native);

/// The collective calls that move parts of `count` variables: mput, mget.
int several(int ncid, int count, FunctionRef<Call(int)> call_of, FunctionRef<int()> native);

/// The other collective calls that read or write data, or may once they have returned.
int unsupported(int ncid, FunctionRef<int()> native);

int wait_all(int ncid, int count, int* ids, int* statuses, FunctionRef<int(int*)> native);
int wait(int ncid, int count, int* ids, FunctionRef<int(int*)> native);
int cancel(int ncid, int count, int* ids, int* statuses, FunctionRef<int(int*, int*)> native);

/// ncmpi_close, ncmpi_abort.
int close(int ncid, FunctionRef<int()> native);

}  // namespace slabmark::dropin
