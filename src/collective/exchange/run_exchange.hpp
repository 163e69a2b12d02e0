#pragma once

#include <cstdint>
#include <vector>

#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Collective. Tells each rank r the number counts[r]; returns what the ranks told this one.
std::vector<std::uint64_t> exchange_counts(const Comm& comm,
                                           const std::vector<std::uint64_t>& counts);

/// Collective. Sends each rank r the runs outgoing[r]; returns what the ranks sent to this one, by
/// rank. Only ranks that have something for each other talk, in messages of at most
/// `most_per_message` (> 0) runs, since MPI's own counts end at 2^31.
std::vector<RunList> exchange_runs(const Comm& comm, const std::vector<RunList>& outgoing,
                                   std::uint64_t most_per_message = std::uint64_t{1} << 26);

}  // namespace slabmark
