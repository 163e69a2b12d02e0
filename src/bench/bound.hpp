#pragma once

#include "parallel/comm.hpp"
#include "pattern/pattern.hpp"

namespace slabmark {

/// The pattern that moves, in each round, as many bytes of each rank as `pattern` does,
/// contiguously in the file and in memory. Collective: a rank's place follows from what the ranks
/// before it move.
Pattern bound_of(const Comm& comm, const Pattern& pattern);

/// What bound_of() gives the next rank, (r + 1) mod size: for reading back what another rank wrote.
Pattern neighbour_bound_of(const Comm& comm, const Pattern& pattern);

}  // namespace slabmark
