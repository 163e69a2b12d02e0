#pragma once

#include <cstdint>
#include <vector>

#include "bench/pattern/synthetic/hex_mesh.hpp"
#include "bench/pattern/synthetic/noise.hpp"

namespace slabmark {

/// How far the numbers of a mesh follow the places.
enum class Locality {
  local,      ///< neighbours have close numbers, as in small MPAS meshes
  scattered,  ///< numbers at random, as they look to the many ranks of a production run
};

/// The order in which cells at `points` get their numbers. `local` numbers small tiles of the plane
/// one after the other, so that the runs of a compact set of n cells lie along its border, half of
/// them no longer than 5 cells: about 3.8 sqrt(n) runs on few ranks, where many borders are coast,
/// and up to 5.5 sqrt(n) on many.
std::vector<std::uint32_t> order_cells(const std::vector<Point>& points, Locality locality,
                                       RandomStream& random);

/// Puts the edges, given cell by cell in the order of the cells, into the order of their numbers.
/// `local` keeps a third of them in stretches of four and scatters the rest, as real meshes have
/// it: 85 % of a rank's runs are single edges, and a run has 1.4 on average.
void order_edges(std::vector<std::uint64_t>& edges, Locality locality, RandomStream& random);

/// The same for vertices, which in `local` meshes stay as they are.
void order_vertices(std::vector<std::uint64_t>& vertices, Locality locality, RandomStream& random);

}  // namespace slabmark
