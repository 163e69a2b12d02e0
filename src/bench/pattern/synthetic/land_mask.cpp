#include "bench/pattern/synthetic/land_mask.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "bench/pattern/synthetic/noise.hpp"
#include "core/base/error.hpp"
#include "core/geometry/extent.hpp"

namespace slabmark {
namespace {

// Fitted to the number of requests that real land masks give (see the test): continents as large as
// Africa, and coasts ragged enough for 3.5 stretches of land in a row of 144 cells.
constexpr double hills_per_radius = 1.6;
constexpr int land_octaves = 6;
constexpr double land_roughness = 0.5;

}  // namespace

double usual_land_fraction(std::uint64_t nlat, std::uint64_t nlon) {
  return nlat >= 360 && nlon >= 720 ? 0.241057 : 0.40965;
}

LandMask make_land_mask(std::uint64_t nlat, std::uint64_t nlon, double fraction,
                        std::uint64_t seed) {
  const std::uint64_t cells = element_count({nlat, nlon});
  if (cells == 0 || cells >> 32 != 0) {
    throw InputError(fmt::format(
        "A land grid of {} x {} cells does not work: it needs between 1 and 2^32 - 1 cells.", nlat,
        nlon));
  }
  const double land_cells = std::round(fraction * static_cast<double>(cells));
  if (!(fraction > 0.0 && fraction <= 1.0) || land_cells < 1.0) {
    throw InputError(fmt::format(
        "A land fraction of {} does not work on {} x {} cells: it must be at most 1 and leave at "
        "least one cell of land.",
        fraction, nlat, nlon));
  }

  const FractalNoise noise(seed, land_octaves, land_roughness);
  std::vector<float> height(cells);
  for (std::uint64_t row = 0; row < nlat; ++row) {
    const double latitude =
        std::numbers::pi * ((static_cast<double>(row) + 0.5) / static_cast<double>(nlat) - 0.5);
    const double distance = std::cos(latitude) * hills_per_radius;
    const double z = std::sin(latitude) * hills_per_radius;
    for (std::uint64_t column = 0; column < nlon; ++column) {
      const double longitude =
          2.0 * std::numbers::pi * static_cast<double>(column) / static_cast<double>(nlon);
      height[row * nlon + column] = static_cast<float>(
          noise.at(distance * std::cos(longitude), distance * std::sin(longitude), z));
    }
  }
  return {nlat, nlon, mark_greatest(height, static_cast<std::uint64_t>(land_cells))};
}

}  // namespace slabmark
