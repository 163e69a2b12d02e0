#pragma once

#include <cstdint>
#include <vector>

namespace slabmark {

/// The cells of a regular latitude-longitude grid that are land.
struct LandMask {
  std::uint64_t nlat = 0;
  std::uint64_t nlon = 0;
  std::vector<std::uint8_t> land;  ///< nlat rows of nlon cells, south to north; 1 land, 0 ocean
};

/// Share of land cells in the grids that E3SM's land model runs on: 0.41 where a cell with any land
/// counts as land and Antarctica takes part (5663 of 96 x 144), 0.241 on grids of half a degree or
/// finer, which leave Antarctica out (62482 of 360 x 720).
double usual_land_fraction(std::uint64_t nlat, std::uint64_t nlon);

/// Random continents, islands and coasts on a sphere, of which round(fraction * nlat * nlon) cells
/// are land; the same for the same arguments. Throws InputError unless both lengths are at least 1,
/// the grid has fewer than 2^32 cells, and 0 < fraction <= 1 leaves at least one land cell.
LandMask make_land_mask(std::uint64_t nlat, std::uint64_t nlon, double fraction,
                        std::uint64_t seed = 1);

}  // namespace slabmark
