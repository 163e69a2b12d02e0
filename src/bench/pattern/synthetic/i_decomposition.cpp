#include "bench/pattern/synthetic/i_decomposition.hpp"

#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "bench/pattern/synthetic/rank_lists.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

constexpr std::uint64_t segments_per_clump = 20;

/// Cells of the grid by clump, and which clumps a rank has: r, r + ranks, r + 2 ranks, ...
struct LandModel {
  std::uint64_t grid_cells;
  std::uint64_t ranks;
  std::vector<std::uint32_t> land;  ///< grid cells that are land, ascending
  RankLists clumps;                 ///< positions in `land` of each clump

  std::uint64_t cells_of(std::uint64_t rank) const {
    std::uint64_t cells = 0;
    for (std::uint64_t c = rank; c < clumps.ranks(); c += ranks) cells += clumps.items(c).size();
    return cells;
  }
};

std::vector<std::uint32_t> land_cells(const LandMask& mask) {
  std::vector<std::uint32_t> cells;
  for (std::uint64_t cell = 0; cell < mask.land.size(); ++cell) {
    if (mask.land[cell] != 0) cells.push_back(static_cast<std::uint32_t>(cell));
  }
  return cells;
}

/// Clump of each land cell. In floating point as the model has it: where g * segments / n is whole,
/// rounding decides to which side the cell falls.
std::vector<std::uint32_t> clump_of_land_cells(std::uint64_t n, std::uint64_t clumps) {
  const auto segments = static_cast<double>(segments_per_clump * clumps);
  std::vector<std::uint32_t> clump(n);
  for (std::uint64_t g = 0; g < n; ++g) {
    const double segment = std::floor(static_cast<double>(g) / static_cast<double>(n) * segments);
    clump[g] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(segment) % clumps);
  }
  return clump;
}

void visit_land(const LandModel& model, std::uint64_t levels, std::uint64_t rank,
                const EntryVisitor& visit) {
  std::vector<std::uint64_t> entries;
  entries.reserve(model.cells_of(rank));
  for (std::uint64_t clump = rank; clump < model.clumps.ranks(); clump += model.ranks) {
    for (const std::uint32_t g : model.clumps.items(clump)) {
      entries.push_back(std::uint64_t{model.land[g]} + 1);
    }
  }
  for (std::uint64_t level = 0; level < levels; ++level) {
    visit(entries);
    for (std::uint64_t& entry : entries) entry += model.grid_cells;
  }
}

SyntheticMap land_map(std::string name, Extent dims, std::uint64_t levels,
                      std::shared_ptr<const LandModel> model) {
  element_count(dims);  // throws if offsets would not fit
  return {std::move(name), std::move(dims), model->ranks,
          [model, levels](std::uint64_t rank) { return model->cells_of(rank) * levels; },
          [model, levels](std::uint64_t rank, const EntryVisitor& visit) {
            visit_land(*model, levels, rank, visit);
          }};
}

void require_valid(const LandMask& mask, std::uint64_t ranks, const LandOptions& options) {
  if (mask.land.size() != element_count({mask.nlat, mask.nlon})) {
    throw InputError(fmt::format("The land mask has {} cells, but its grid is {} x {}.",
                                 mask.land.size(), mask.nlat, mask.nlon));
  }
  if (mask.land.size() >> 32 != 0) {
    throw InputError(fmt::format("The land grid of {} x {} has more than 2^32 - 1 cells.",
                                 mask.nlat, mask.nlon));
  }
  if (ranks == 0) throw InputError("A decomposition needs at least 1 rank, not 0.");
  if (options.clumps_per_rank == 0) throw InputError("A rank needs at least 1 clump, not 0.");
  for (const std::uint64_t levels : options.levels) {
    if (levels == 0) throw InputError("A land map needs at least 1 level, not 0.");
  }
}

void require_cells(std::uint64_t land, std::uint64_t ranks, std::uint64_t clumps_per_rank) {
  // Divided, since the product may not fit.
  if (ranks > land / clumps_per_rank) {
    throw InputError(fmt::format(
        "{} ranks with {} clumps each do not work: the grid has only {} land cells and every clump "
        "needs one; ask for fewer ranks or a larger grid.",
        ranks, clumps_per_rank, land));
  }
}

}  // namespace

SyntheticDecomposition make_i_decomposition(const LandMask& mask, std::uint64_t ranks,
                                            const LandOptions& options) {
  require_valid(mask, ranks, options);
  std::vector<std::uint32_t> land = land_cells(mask);
  require_cells(land.size(), ranks, options.clumps_per_rank);
  const std::uint64_t clumps = ranks * options.clumps_per_rank;
  RankLists lists(clump_of_land_cells(land.size(), clumps), clumps);
  const auto model = std::make_shared<const LandModel>(
      LandModel{mask.land.size(), ranks, std::move(land), std::move(lists)});

  SyntheticDecomposition result;
  result.name = fmt::format("I {}x{}", mask.nlat, mask.nlon);
  result.ranks = ranks;
  result.maps.push_back(land_map("D1", {mask.nlat, mask.nlon}, 1, model));
  for (std::size_t k = 0; k < options.levels.size(); ++k) {
    result.maps.push_back(land_map(fmt::format("D{}", k + 2),
                                   {options.levels[k], mask.nlat, mask.nlon}, options.levels[k],
                                   model));
  }
  return result;
}

SyntheticDecomposition make_i_decomposition(std::uint64_t nlat, std::uint64_t nlon,
                                            std::uint64_t ranks, double land_fraction,
                                            std::uint64_t seed, const LandOptions& options) {
  return make_i_decomposition(make_land_mask(nlat, nlon, land_fraction, seed), ranks, options);
}

}  // namespace slabmark
