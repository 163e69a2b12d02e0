// Waits for what was posted, and drops it.
#include "accel/pnetcdf_dropin/calls.hpp"
#include "core/base/function_ref.hpp"
#include "storage/pnetcdf/calls/native.hpp"

extern "C" {

int ncmpi_wait_all(int ncid, int count, int* ids, int* statuses) {
  const auto native = [&](int* native_ids) {
    return SLABMARK_NATIVE(ncmpi_wait_all)(ncid, count, native_ids, statuses);
  };
  return slabmark::dropin::wait_all(ncid, count, ids, statuses, native);
}

int ncmpi_wait(int ncid, int count, int* ids, int* statuses) {
  const auto native = [&](int* native_ids) {
    return SLABMARK_NATIVE(ncmpi_wait)(ncid, count, native_ids, statuses);
  };
  return slabmark::dropin::wait(ncid, count, ids, native);
}

int ncmpi_cancel(int ncid, int count, int* ids, int* statuses) {
  const auto native = [&](int* native_ids, int* native_statuses) {
    return SLABMARK_NATIVE(ncmpi_cancel)(ncid, count, native_ids, native_statuses);
  };
  return slabmark::dropin::cancel(ncid, count, ids, statuses, native);
}

}  // extern "C"
