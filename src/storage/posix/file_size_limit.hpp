#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slabmark::posix {

/// Throws IoError if this process may not make a file as large as `bytes` (`ulimit -f`); `what` is
/// the file in the sentence that says so.
/// For libraries that do not say so themselves: where one rank meets the limit while others wait
/// for it, OMPIO (Open MPI 4.1.4) and HDF5's subfiling driver (2.2.0) hang.
void require_file_size_allowed(const std::string& what, std::uint64_t bytes);

/// Bytes that the file system of `path`, whose directory is there, has left; nothing where it does
/// not say. One of no size at all does not: many user space ones, MooseFS (3.0.117) while its chunk
/// servers come.
std::optional<std::uint64_t> space_left(const std::string& path);

/// Throws IoError if `space_left(path)` is less than `bytes`.
void require_space(const std::string& path, std::uint64_t bytes);

}  // namespace slabmark::posix
