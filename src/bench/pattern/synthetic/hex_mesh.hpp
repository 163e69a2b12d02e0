#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace slabmark {

/// A point of the plane, in units of the distance between neighbouring cells.
struct Point {
  double x = 0.0;
  double y = 0.0;
};

/// Hexagonal ocean cells on a plane, with land around and between them: the topology of an MPAS
/// mesh. Each cell has six neighbours, edges and vertices; inside the ocean that makes 3 edges and
/// 2 vertices a cell, and coasts add to both.
///
/// Places are positions on the hexagonal grid, ocean or not; a frame of land makes every place next
/// to an ocean cell exist. Edge and vertex indices follow from places (3 and 2 a place) and have
/// gaps on land. Cells have numbers, which are given after the ocean is made.
class HexMesh {
 public:
  static constexpr std::uint32_t land = std::numeric_limits<std::uint32_t>::max();

  /// An ocean of exactly `cells` cells (between 1 and 2^28) with random coasts, the same for the
  /// same seed. Cells are numbered row by row.
  HexMesh(std::uint64_t cells, std::uint64_t seed);

  std::uint64_t cell_count() const { return place_.size(); }
  std::uint64_t edge_index_end() const { return 3 * cell_at_.size(); }
  std::uint64_t vertex_index_end() const { return 2 * cell_at_.size(); }

  Point point(std::uint32_t cell) const;

  /// Gives cell `order[i]` the number i. `order` is a permutation of all cells.
  void renumber(const std::vector<std::uint32_t>& order);

  /// Calls `visit(index)` with each edge that belongs to `cell`: it belongs to the lower-numbered
  /// of the cells on its two sides.
  template <typename Visit>
  void for_each_owned_edge(std::uint32_t cell, Visit&& visit) const {
    const std::uint32_t place = place_[cell];
    const Neighbours around = neighbours(place);
    for (std::size_t d = 0; d < 6; ++d) {
      if (cell_at_[around[d]] < cell) continue;
      visit(std::uint64_t{d < 3 ? place : around[d]} * 3 + d % 3);
    }
  }

  /// The same for the vertices, which have three cells around them.
  template <typename Visit>
  void for_each_owned_vertex(std::uint32_t cell, Visit&& visit) const {
    const std::uint32_t place = place_[cell];
    const Neighbours around = neighbours(place);
    for (std::size_t d = 0; d < 6; ++d) {
      if (cell_at_[around[d]] < cell || cell_at_[around[(d + 1) % 6]] < cell) continue;
      visit(vertex_index(place, around, d));
    }
  }

 private:
  /// Counter-clockwise: east, north-east, north-west, west, south-west, south-east.
  using Neighbours = std::array<std::uint32_t, 6>;

  Neighbours neighbours(std::uint32_t place) const {
    // Odd rows are shifted by half a cell to the east.
    const std::uint32_t shift = place / width_ % 2;
    const std::uint32_t north = place + width_ + shift;
    const std::uint32_t south = place - width_ + shift;
    return {place + 1, north, north - 1, place - 1, south - 1, south};
  }

  /// Vertex between the neighbours d and d + 1. A place has the two vertices that lie between its
  /// first three neighbours; the other four of a cell are such vertices of a neighbour.
  static std::uint64_t vertex_index(std::uint32_t place, const Neighbours& around, std::size_t d) {
    const std::array<std::uint32_t, 6> of = {place,     place,     around[3],
                                             around[4], around[4], around[5]};
    constexpr std::array<std::uint64_t, 6> which = {0, 1, 0, 1, 0, 1};
    return std::uint64_t{of[d]} * 2 + which[d];
  }

  std::uint32_t width_ = 0;             ///< places a row, frame included
  std::vector<std::uint32_t> cell_at_;  ///< by place; `land` where there is none
  std::vector<std::uint32_t> place_;    ///< by cell
};

}  // namespace slabmark
