#pragma once

#include <array>
#include <cstdint>

#include "bench/pattern/synthetic/decomposition.hpp"
#include "bench/pattern/synthetic/land_mask.hpp"

namespace slabmark {

struct LandOptions {
  /// Of D2 to D5: soil layers, lake layers, land unit types, plant types.
  std::array<std::uint64_t, 4> levels = {15, 10, 9, 17};
  std::uint64_t clumps_per_rank = 1;  ///< as a rule one a thread
};

/// The decomposition of E3SM's land model (I cases) for a given mask, exactly as the model makes
/// it. The land cells, numbered in row-major order, are cut in 20 segments for each clump, which go
/// to the clumps in turn, and the clumps to the ranks in turn. A rank's entries are its clumps in
/// ascending order, each with its cells in ascending order.
///
/// D1 {nlat, nlon} is that list, D2 to D5 {levels, nlat, nlon} repeat it on each level. Ocean cells
/// are in no rank's list. Memory: 4 bytes a land cell.
///
/// Throws InputError if the mask has another size than its grid, if there are no ranks or clumps,
/// fewer land cells than clumps, or no levels.
SyntheticDecomposition make_i_decomposition(const LandMask& mask, std::uint64_t ranks,
                                            const LandOptions& options = {});

/// The same for make_land_mask(nlat, nlon, land_fraction, seed).
SyntheticDecomposition make_i_decomposition(std::uint64_t nlat, std::uint64_t nlon,
                                            std::uint64_t ranks, double land_fraction,
                                            std::uint64_t seed = 1,
                                            const LandOptions& options = {});

}  // namespace slabmark
