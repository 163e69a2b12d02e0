#pragma once

#include <string>

namespace slabmark::mpiio {

/// Throws IoError with the call, the file, MPI's own text and a remedy if `code` is not
/// MPI_SUCCESS.
void check(int code, const char* call, const std::string& path);

}  // namespace slabmark::mpiio
