#include "bench/pattern/synthetic/numbering.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace slabmark {
namespace {

// Tiles are numbered row by row, in cells. Their rows are thinner than those of the mesh and turned
// against it, so that a border of the partition cuts nearly each of them and hardly ever runs along
// them. The sizes were fitted to a real mesh, where 1786 cells a rank fall into 160 runs: a tile
// within a rank makes one run of about a hundred, its rows at a border one of a few cells each.
constexpr double tile_width = 20.0;
constexpr double tile_height = 5.0;
constexpr double row_height = 0.4;
constexpr double turn = 0.5;  // radians

constexpr std::uint64_t stretch = 4;
constexpr double share_in_stretches = 1.0 / 3.0;

/// Cells are numbered in the order of these keys.
struct Key {
  std::uint64_t tile;  ///< random, so that tiles follow each other in no order
  std::int64_t row;
  double x;
  std::uint32_t cell;

  bool operator<(const Key& other) const {
    return std::tie(tile, row, x, cell) < std::tie(other.tile, other.row, other.x, other.cell);
  }
};

Key key_of(std::uint32_t cell, const Point& point, std::uint64_t seed) {
  const double x = point.x * std::cos(turn) - point.y * std::sin(turn);
  const double y = point.x * std::sin(turn) + point.y * std::cos(turn);
  const auto tile_x = static_cast<std::int64_t>(std::floor(x / tile_width));
  const auto tile_y = static_cast<std::int64_t>(std::floor(y / tile_height));
  const std::uint64_t tile =
      (static_cast<std::uint64_t>(tile_x) << 32U) + static_cast<std::uint64_t>(tile_y);
  return {RandomStream(seed + tile).next(), static_cast<std::int64_t>(std::floor(y / row_height)),
          x, cell};
}

}  // namespace

std::vector<std::uint32_t> order_cells(const std::vector<Point>& points, Locality locality,
                                       RandomStream& random) {
  std::vector<std::uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0U);
  if (locality == Locality::scattered) {
    random.shuffle(order);
    return order;
  }
  const std::uint64_t seed = random.next();
  std::vector<Key> keys;
  keys.reserve(points.size());
  for (std::uint32_t cell = 0; cell < points.size(); ++cell) {
    keys.push_back(key_of(cell, points[cell], seed));
  }
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].cell;
  return order;
}

void order_edges(std::vector<std::uint64_t>& edges, Locality locality, RandomStream& random) {
  if (locality == Locality::scattered) {
    random.shuffle(edges);
    return;
  }
  // A stretch starts at a given edge with this probability, so that the share comes out.
  constexpr double start =
      share_in_stretches / (stretch * (1.0 - share_in_stretches) + share_in_stretches);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;  // begin, end
  for (std::uint64_t begin = 0; begin < edges.size();) {
    const std::uint64_t length = random.unit() < start ? stretch : 1;
    const std::uint64_t end = std::min<std::uint64_t>(begin + length, edges.size());
    pieces.emplace_back(begin, end);
    begin = end;
  }
  random.shuffle(pieces);

  std::vector<std::uint64_t> ordered;
  ordered.reserve(edges.size());
  for (const auto& [begin, end] : pieces) {
    ordered.insert(ordered.end(), edges.begin() + static_cast<std::ptrdiff_t>(begin),
                   edges.begin() + static_cast<std::ptrdiff_t>(end));
  }
  edges = std::move(ordered);
}

void order_vertices(std::vector<std::uint64_t>& vertices, Locality locality, RandomStream& random) {
  if (locality == Locality::scattered) random.shuffle(vertices);
}

}  // namespace slabmark
