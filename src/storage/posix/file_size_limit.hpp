#pragma once

#include <cstdint>
#include <string>

namespace slabmark::posix {

/// Throws IoError if this process may not make a file as large as `bytes` (`ulimit -f`); `what` is
/// the file in the sentence that says so.
/// For libraries that do not say so themselves: where one rank meets the limit while others wait
/// for it, OMPIO (Open MPI 4.1.4) and HDF5's subfiling driver (2.2.0) hang.
void require_file_size_allowed(const std::string& what, std::uint64_t bytes);

/// Throws IoError if the file system of `path`, whose directory is there, has less than `bytes`
/// left. A file system that does not say how much it has is taken to have enough.
void require_space(const std::string& path, std::uint64_t bytes);

}  // namespace slabmark::posix
