#pragma once

#include <vector>

#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// Small patterns that between them show everything that a method must move, each with a telling
/// name: one to four dimensions and scalars, all element types, shared selections, unordered and
/// strided hyperslabs, gaps in memory and in the file, records, rounds and ranks without data.
/// Ranks never overlap. The files take well under 1 MiB each on up to 64 ranks. `rank` counts from
/// 0 below `size`.
std::vector<Pattern> conformance_patterns(int rank, int size);

}  // namespace slabmark
