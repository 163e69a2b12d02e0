#pragma once

#include <cstdint>
#include <vector>

#include "geometry/run.hpp"
#include "parallel/comm.hpp"

namespace slabmark {

/// Collective. Tells each rank r the number counts[r]; returns what the ranks told this one.
std::vector<std::uint64_t> exchange_counts(const Comm& comm,
                                           const std::vector<std::uint64_t>& counts);

/// Collective. Sends each rank its part of `outgoing`, which lies in the order of the ranks,
/// `counts[r]` runs for rank r. Returns what the ranks sent to this one, in the order of the ranks.
/// Only ranks that have something for each other talk, in messages of at most `most_per_message` (>
/// 0) runs, since MPI's own counts end at 2^31.
RunList exchange_runs(const Comm& comm, const RunList& outgoing,
                      const std::vector<std::uint64_t>& counts,
                      std::uint64_t most_per_message = std::uint64_t{1} << 26);

}  // namespace slabmark
