#pragma once

#include <cstdint>
#include <vector>

#include "bench/pattern/synthetic/hex_mesh.hpp"
#include "bench/pattern/synthetic/noise.hpp"

namespace slabmark {

/// Partitions points into `ranks` compact pieces by recursive bisection across the longer side.
/// Entry [i] is the rank of point i. The largest piece is `imbalance` (0.03: 3 %) above the mean
/// and most are a little below it, as graph partitioners leave them. Needs 1 <= ranks <= points
/// / 2.
std::vector<std::uint32_t> bisect(const std::vector<Point>& points, std::uint64_t ranks,
                                  double imbalance, RandomStream& random);

}  // namespace slabmark
