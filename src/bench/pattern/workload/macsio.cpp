#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bench/pattern/workload/makers.hpp"
#include "core/base/error.hpp"

// A dump of MACSio to one shared file: function main_dump_sif of plugins/macsio_hdf5.c with the
// rectilinear parts in two dimensions and the variables of macsio/macsio_data.c. Neighboring parts
// both write the nodes between them, which therefore stand in the file twice. MACSio draws which
// ranks have a part more than others; here these are the first ones.

namespace slabmark::workload {

namespace {

struct MeshVariable {
  const char* name;
  bool on_nodes;
  ElementType type = ElementType::float64;
};

/// The variables take turns in this order.
constexpr std::array<MeshVariable, 8> cycle = {{{"constant", false},
                                                {"random", false},
                                                {"spherical", false},
                                                {"xramp", true},
                                                {"ysin", true},
                                                {"noise", true},
                                                {"noise_sum", true},
                                                {"xlayers", false, ElementType::int32}}};

/// Parts in columns and rows, and the nodes of each along x and y.
struct PartGrid {
  Factors parts;  ///< the smaller number along x
  Factors nodes;

  std::uint64_t count() const { return parts.smaller * parts.larger; }
};

PartGrid grid_of(const WorkloadSizes& sizes, std::uint64_t ranks) {
  if (sizes.parts < 1.0 || sizes.parts > 1e6) {
    throw InputError(fmt::format(
        "{} mesh parts per rank do not work; give --parts-per-rank a number from 1 to 1000000.",
        sizes.parts));
  }
  const double parts = std::round(sizes.parts * static_cast<double>(ranks));
  const std::uint64_t nodes = sizes.part_size / sizeof(double);
  const PartGrid grid = {nearest_factors(static_cast<std::uint64_t>(parts)),
                         nearest_factors(std::max<std::uint64_t>(nodes, 1))};
  if (grid.nodes.smaller < 2) {
    throw InputError(fmt::format(
        "A part of {} bytes has {} x {} nodes, and no zone between them; choose a --part-size that "
        "is 8 times a product of two numbers from 2 on.",
        sizes.part_size, grid.nodes.smaller, grid.nodes.larger));
  }
  return grid;
}

/// Parts number `mine` of an array of all nodes, or of all zones, which are one fewer along each
/// side of a part. Parts are numbered along y first, and rows of the array are along x.
SelectionPtr select_parts(const PartGrid& grid, Run mine, std::uint64_t fewer) {
  const std::uint64_t width = grid.nodes.smaller - fewer;
  const std::uint64_t height = grid.nodes.larger - fewer;
  const Extent extent = {grid.parts.larger * height, grid.parts.smaller * width};
  element_count(extent);  // throws where offsets would not fit
  std::vector<Hyperslab> slabs;
  for (std::uint64_t part = mine.offset; part < mine.end(); ++part) {
    slabs.push_back(make_box({part % grid.parts.larger * height, part / grid.parts.larger * width},
                             {height, width}));
  }
  return select_hyperslabs(extent, std::move(slabs));
}

std::string name_of_variable(std::uint64_t number) {
  const char* const name = cycle[number % cycle.size()].name;
  if (number < cycle.size()) return name;
  return fmt::format("{}_{:03}", name, (number - cycle.size()) / cycle.size());
}

}  // namespace

WorkloadParts macsio(const WorkloadSizes& sizes, std::uint64_t ranks) {
  const PartGrid grid = grid_of(sizes, ranks);
  return {[grid, ranks, count = sizes.variables](std::uint64_t rank) {
    const Run mine = equal_range(grid.count(), rank, ranks);
    const SelectionPtr nodes = select_parts(grid, mine, 0);
    const SelectionPtr zones = select_parts(grid, mine, 1);
    Pattern pattern;
    std::vector<Transfer> transfers;
    for (std::uint64_t number = 0; number < count; ++number) {
      const MeshVariable& variable = cycle[number % cycle.size()];
      const SelectionPtr& selection = variable.on_nodes ? nodes : zones;
      const char* const of = variable.on_nodes ? "nodes" : "zones";
      pattern.datasets.push_back({.name = name_of_variable(number),
                                  .type = variable.type,
                                  .dimensions = {{fmt::format("{}_y", of), selection->extent()[0]},
                                                 {fmt::format("{}_x", of), selection->extent()[1]}},
                                  .chunk = {}});
      transfers.push_back({static_cast<std::size_t>(number), 0, selection, nullptr});
    }
    pattern.transfers = [transfers = std::move(transfers)](std::uint64_t) { return transfers; };
    return pattern;
  }};
}

}  // namespace slabmark::workload
