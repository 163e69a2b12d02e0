#pragma once

#include <string>

#include "core/parallel/comm.hpp"

namespace slabmark {

/// Makes every node forget the cached pages of `path` (fdatasync, then posix_fadvise DONTNEED) and
/// looks whether they are gone. Collective. False if some stayed: a file in memory (tmpfs), or
/// pages that others use; what is read then is labelled warm.
bool drop_cached_pages(const Comm& comm, const std::string& path);

}  // namespace slabmark
