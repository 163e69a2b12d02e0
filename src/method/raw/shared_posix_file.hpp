#pragma once

#include <string>

#include "parallel/comm.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {

/// Collective: makes a file that does not exist yet, and opens it for writing on every rank.
posix::File create_shared(const Comm& comm, const std::string& path);

}  // namespace slabmark
