#include "bench/pattern/synthetic/hex_mesh.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bench/pattern/synthetic/noise.hpp"

namespace slabmark {
namespace {

constexpr double ocean_fraction = 0.7;
constexpr double row_distance = 0.8660254037844386;  // sqrt(3) / 2

// Fitted to two real meshes: 3.08 edges a cell with 28,571 cells and 3.015 with 3,693,225. Both
// follow from coasts of dimension 1.3, which a roughness of 2^-0.7 makes if the hills go down to
// the size of a cell.
constexpr double hills_per_width = 2.0;
constexpr double sea_roughness = 0.62;

}  // namespace

HexMesh::HexMesh(std::uint64_t cells, std::uint64_t seed) {
  const double places = static_cast<double>(cells) / ocean_fraction;
  const auto inner_width = static_cast<std::uint32_t>(std::ceil(std::sqrt(places * row_distance)));
  const auto inner_rows = static_cast<std::uint32_t>(std::ceil(places / inner_width));
  width_ = inner_width + 2;

  const int octaves = static_cast<int>(std::bit_width(inner_width));
  const FractalNoise noise(seed, octaves, sea_roughness);
  const double scale = hills_per_width / inner_width;
  std::vector<float> depth;
  depth.reserve(std::uint64_t{inner_width} * inner_rows);
  for (std::uint32_t row = 0; row < inner_rows; ++row) {
    for (std::uint32_t column = 0; column < inner_width; ++column) {
      const double x = column + 0.5 * ((row + 1) % 2);
      depth.push_back(static_cast<float>(noise.at(x * scale, row * row_distance * scale, 0.0)));
    }
  }

  const std::vector<std::uint8_t> ocean = mark_greatest(depth, cells);
  cell_at_.assign(std::uint64_t{width_} * (inner_rows + 2), land);
  place_.reserve(cells);
  for (std::uint32_t i = 0; i < ocean.size(); ++i) {
    if (ocean[i] == 0) continue;
    const std::uint32_t place = (i / inner_width + 1) * width_ + i % inner_width + 1;
    cell_at_[place] = static_cast<std::uint32_t>(place_.size());
    place_.push_back(place);
  }
}

Point HexMesh::point(std::uint32_t cell) const {
  const std::uint32_t row = place_[cell] / width_;
  return {place_[cell] % width_ + 0.5 * (row % 2), row * row_distance};
}

void HexMesh::renumber(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t number = 0; number < order.size(); ++number) {
    place[number] = place_[order[number]];
    cell_at_[place[number]] = number;
  }
  place_ = std::move(place);
}

}  // namespace slabmark
