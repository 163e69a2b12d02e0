#pragma once

#include <string>

#include "bench/harness/cell.hpp"
#include "bench/pattern/pattern.hpp"
#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Collective. Throws an agreed IoError if the file at `path`, which holds `pattern`, does not fit
/// into what its file system has left, or under a rank's file size limit (ulimit -f): found out
/// beforehand, since most libraries wait for ever for a rank whose write fails.
void require_space(const Comm& comm, const Cell& cell, const Pattern& pattern,
                   const std::string& path);

/// Collective. Throws an agreed IoError if the finished file at `path`, with its companions, is
/// shorter than what was written to it, or has fewer bytes on a disk that is full: Open MPI's OMPIO
/// (4.1.4) reports success for what did not fit. `effective` is what the method says of itself. For
/// files that nobody reads back.
void require_stored(const Comm& comm, const Cell& cell, const Pattern& pattern,
                    const std::string& path, const Json& effective);

}  // namespace slabmark
