#pragma once

#include "bench/pattern/pattern.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// The pattern that moves, in each round, as many bytes of each rank as `pattern` does,
/// contiguously in the file and in memory. Collective: a rank's place follows from what the ranks
/// before it move.
/// `of_next_rank` asks for what it is on rank (r + 1) mod size: for reading what another one wrote.
Pattern bound_of(const Comm& comm, const Pattern& pattern, bool of_next_rank = false);

}  // namespace slabmark
