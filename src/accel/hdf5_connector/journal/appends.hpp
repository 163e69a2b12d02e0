#pragma once

#include <cstdint>
#include <string>

#include "accel/hdf5_connector/ranks.hpp"

namespace slabmark::slablog {

/// Collective: throws IoError on all ranks if they are on several nodes and the file system at
/// `path` does not let them append to one file, as those do that keep a journal. It leaves nothing.
void require_appends(const Ranks& ranks, const std::string& path);

/// How many bytes get lost of what ranks append to the file at `path`: rank 0 and all others that
/// take part open it while it is empty; then rank 0 appends, then the others do, then all at once.
/// Collective; the file is made, and removed.
std::uint64_t bytes_lost_in_appends(const Ranks& ranks, const std::string& path, bool takes_part);

}  // namespace slabmark::slablog
