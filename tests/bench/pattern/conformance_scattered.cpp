#include <algorithm>

#include "bench/pattern/conformance_cases.hpp"
#include "bench/pattern/decomposition_pattern.hpp"

namespace slabmark::conformance {
namespace {

constexpr std::uint64_t columns = 137;  // a prime, hence any step visits all columns
constexpr std::uint64_t levels = 6;

/// Owner of a column: short runs of 1 to 4 columns that change hands irregularly.
std::uint64_t owner(std::uint64_t column, Share share) {
  return (column / 2 * 37 + column / 5 * 11) % share.size;
}

RunList owned_columns(Share share) {
  RunList runs;
  for (std::uint64_t c = 0; c < columns; ++c) {
    if (owner(c, share) == share.rank) runs.push_back({c, 1});
  }
  coalesce(runs);
  return runs;
}

/// The same columns on every level.
RunList on_all_levels(const RunList& runs) {
  RunList all;
  for (std::uint64_t level = 0; level < levels; ++level) {
    for (const Run& run : runs) all.push_back({level * columns + run.offset, run.length});
  }
  return all;
}

/// Variables of all types that share two maps, some with a time dimension, in two rounds.
Pattern atmosphere(Share share) {
  const RunList runs = owned_columns(share);
  const std::vector<DecompositionMap> maps = {
      {{{"ncol", columns}}, select_row_runs({columns}, runs)},
      {{{"lev", levels}, {"ncol", columns}},
       select_row_runs({levels, columns}, on_all_levels(runs))}};
  Pattern pattern = make_decomposition_pattern(maps,
                                               {{"area", ElementType::float64, 0, false},
                                                {"T", ElementType::float32, 1, true},
                                                {"mask", ElementType::uint8, 0, false},
                                                {"Q", ElementType::float64, 1, true},
                                                {"step", ElementType::int32, 0, true},
                                                {"id", ElementType::int64, 1, false},
                                                {"symbol", ElementType::character, 1, false},
                                                {"flag", ElementType::character, 0, true}},
                                               2);
  pattern.name = "scattered runs, eight variables of two maps";
  return pattern;
}

/// Element by element, chunks of four columns going down all levels, as a model keeps them.
Pattern single_elements_in_model_order(Share share) {
  RunList elements;
  for (std::uint64_t chunk = 0; chunk < columns; chunk += 4) {
    for (std::uint64_t level = 0; level < levels; ++level) {
      for (std::uint64_t i = chunk; i < std::min(chunk + 4, columns); ++i) {
        const std::uint64_t column = i * 53 % columns;
        if (owner(column, share) == share.rank) elements.push_back({level * columns + column, 1});
      }
    }
  }
  return make_case("single elements in model order",
                   {fixed("T", ElementType::float64, {{"lev", levels}, {"ncol", columns}})},
                   {{{0, 0, select_row_runs({levels, columns}, std::move(elements)), nullptr}}});
}

/// Cells with all their levels, as an ocean model has them: each run is a row, and rows that touch
/// are still requests of their own.
Pattern whole_rows(Share share) {
  RunList rows;
  for (const Run& run : owned_columns(share)) {
    for (std::uint64_t cell = run.offset; cell < run.end(); ++cell) rows.push_back({cell * 10, 10});
  }
  const SelectionPtr mine = select_row_runs({columns, 10}, std::move(rows));
  const std::vector<Dimension> dimensions = {{"nCells", columns}, {"nVertLevels", 10}};
  return make_case("scattered whole rows",
                   {with_time("salinity", ElementType::float64, dimensions),
                    with_time("layerThickness", ElementType::float32, dimensions)},
                   {{{0, 0, mine, nullptr}, {1, 0, mine, nullptr}}});
}

/// Two thirds of the array belong to nobody, as the sea of a land model.
Pattern land_with_holes(Share share) {
  const Extent extent = {3, 8, 12};
  RunList land;
  for (std::uint64_t run = 0; run < 3 * 8 * 2; ++run) {
    if (run % share.size == share.rank) land.push_back({6 * run + run % 3, 2});
  }
  return make_case("land, most of the array uncovered",
                   {fixed("soil", ElementType::float32, {{"lev", 3}, {"lat", 8}, {"lon", 12}})},
                   {{{0, 0, select_row_runs(extent, std::move(land)), nullptr}}});
}

/// The selection is computed, and each rank's elements are a stride apart.
Pattern generated_elements(Share share) {
  const std::uint64_t length = 40 * share.size;
  const auto element = [share](std::uint64_t i, Hyperslab& slab) {
    slab = make_box({i * share.size + share.rank}, {1});
  };
  return make_case("single elements dealt out like cards",
                   {fixed("v", ElementType::int64, {{"x", length}})},
                   {{{0, 0, select_generated({length}, 40, element), nullptr}}});
}

}  // namespace

std::vector<Pattern> scattered_cases(Share share) {
  return {atmosphere(share), single_elements_in_model_order(share), whole_rows(share),
          land_with_holes(share), generated_elements(share)};
}

}  // namespace slabmark::conformance
