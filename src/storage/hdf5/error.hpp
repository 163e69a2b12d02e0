#pragma once

#include <string>

#include <hdf5.h>

namespace slabmark::hdf5 {

/// A sentence with call, file and the innermost entry of HDF5's error stack, which it clears.
std::string failure_of(const char* call, const std::string& path);

/// Throws it as an IoError.
[[noreturn]] void fail(const char* call, const std::string& path);

/// Calls fail() for a negative status.
inline void check(herr_t status, const char* call, const std::string& path) {
  if (status < 0) fail(call, path);
}

/// Stops HDF5 from printing its error stacks; the wrappers report them. Cheap to call again.
void silence();

}  // namespace slabmark::hdf5
