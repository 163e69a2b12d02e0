#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/pattern/synthetic/g_decomposition.hpp"
#include "bench/pattern/synthetic_statistics.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::HasSubstr;

// The real mesh oQU120 on 16 ranks: 28,571 cells, 87,980 edges, 59,329 vertices, 100 levels.
constexpr std::uint64_t real_cells = 28571;

SyntheticDecomposition like_oqu120(std::uint64_t seed = OceanOptions{}.seed,
                                   Locality locality = Locality::local) {
  OceanOptions options;
  options.levels = 100;
  options.seed = seed;
  options.locality = locality;
  return make_g_decomposition(real_cells, 16, options);
}

double per_cell(const SyntheticDecomposition& g, std::size_t map) {
  return static_cast<double>(g.maps[map].dims[0]) / static_cast<double>(g.maps[0].dims[0]);
}

std::vector<std::uint64_t> rows_of_ranks(const SyntheticMap& map) {
  std::vector<std::uint64_t> rows;
  for (std::uint64_t rank = 0; rank < map.ranks; ++rank) {
    rows.push_back(map.entry_count(rank) / (map.dims.size() == 1 ? 1 : map.dims.back()));
  }
  return rows;
}

/// Stretches of neighbouring rows in the ranks' sorted lists.
std::uint64_t rows_apart(const SyntheticMap& map) {
  std::uint64_t stretches = 0;
  for (std::uint64_t rank = 0; rank < map.ranks; ++rank) {
    stretches += merged_runs(map, rank, 1, element_count(map.dims)).size();
  }
  return stretches;
}

TEST(GDecomposition, EveryElementOfEveryMapBelongsToExactlyOneRank) {
  for (const Locality locality : {Locality::local, Locality::scattered}) {
    OceanOptions options;
    options.levels = 3;
    options.locality = locality;
    const auto g = make_g_decomposition(2000, 7, options);
    ASSERT_EQ(g.maps.size(), 6U);
    for (const auto& map : g.maps) {
      const auto statistics = statistics_of(map);
      EXPECT_EQ(statistics.missing, 0U) << map.name;
      EXPECT_EQ(statistics.repeated, 0U) << map.name;
      for (std::uint64_t rank = 0; rank < map.ranks; ++rank) {
        EXPECT_EQ(statistics.elements[rank], map.entry_count(rank)) << map.name;
      }
    }
  }
}

TEST(GDecomposition, MapsHaveTheShapesOfTheModelsFields) {
  const auto g = like_oqu120();
  const std::uint64_t edges = g.maps[1].dims[0];
  EXPECT_EQ(g.maps[0].dims, (Extent{real_cells}));
  EXPECT_EQ(g.maps[2].dims, (Extent{real_cells, 100}));
  EXPECT_EQ(g.maps[3].dims, (Extent{edges, 100}));
  EXPECT_EQ(g.maps[4].dims.size(), 2U);
  EXPECT_EQ(g.maps[5].dims, (Extent{real_cells, 101}));
}

TEST(GDecomposition, LevelMapsAreTheRowsOfTheFlatOnes) {
  const auto g = make_g_decomposition(500, 4);
  const std::array<std::pair<std::size_t, std::size_t>, 3> flat_and_deep = {
      {{0, 2}, {1, 3}, {0, 5}}};
  for (const auto& [flat, deep] : flat_and_deep) {
    const std::uint64_t levels = g.maps[deep].dims[1];
    const auto items = all_entries(g.maps[flat], 2);
    const auto rows = all_entries(g.maps[deep], 2);
    ASSERT_EQ(rows.size(), items.size() * levels);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i], (items[i / levels] - 1) * levels + i % levels + 1);
    }
  }
}

TEST(GDecomposition, CellsAreListedInAscendingOrderAndEdgesAreNot) {
  const auto g = like_oqu120();
  const auto cells = all_entries(g.maps[0], 3);
  const auto edges = all_entries(g.maps[1], 3);
  EXPECT_TRUE(std::is_sorted(cells.begin(), cells.end()));
  EXPECT_FALSE(std::is_sorted(edges.begin(), edges.end()));
}

// The tolerances below are what 16 seeds vary by: a single mesh, like the real one, is one draw.
TEST(GDecomposition, CoastsAddEdgesAndVerticesAsInTheRealMesh) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto g = like_oqu120(seed);
    EXPECT_NEAR(per_cell(g, 1), 3.0794, 0.025) << "seed " << seed;
    EXPECT_NEAR(per_cell(g, 4), 2.0765, 0.025) << "seed " << seed;
  }
}

TEST(GDecomposition, CoastsMatterLessInLargerMeshes) {
  // 3.015 and 2.015 with 3,693,225 cells; a tenth of that, which a test can afford, lies between.
  const auto g = make_g_decomposition(369323, 16);
  EXPECT_NEAR(per_cell(g, 1), 3.037, 0.015);
  EXPECT_NEAR(per_cell(g, 4), 2.037, 0.015);
}

TEST(GDecomposition, RanksAreAsUnequalAsInTheRealPartition) {
  const auto g = like_oqu120();
  EXPECT_NEAR(imbalance_of(rows_of_ranks(g.maps[0])), 1.03, 0.001);
  EXPECT_NEAR(imbalance_of(rows_of_ranks(g.maps[1])), 1.067, 0.02);
  EXPECT_NEAR(imbalance_of(rows_of_ranks(g.maps[4])), 1.097, 0.02);
  const Spread cells = spread_of(rows_of_ranks(g.maps[0]));
  EXPECT_NEAR(static_cast<double>(cells.min), 1758.0, 15.0);
  EXPECT_NEAR(static_cast<double>(cells.median), 1779.0, 15.0);
}

TEST(GDecomposition, ImbalanceIsAsAskedFor) {
  for (const double imbalance : {0.0, 0.07}) {
    OceanOptions options;
    options.imbalance = imbalance;
    const auto g = make_g_decomposition(20000, 10, options);
    EXPECT_NEAR(imbalance_of(rows_of_ranks(g.maps[0])), 1.0 + imbalance, 0.001);
  }
}

TEST(GDecomposition, LocalNumbersGiveTheRequestsOfTheRealMesh) {
  const auto g = like_oqu120();
  const auto cells = statistics_of(g.maps[0]);
  // Real: 94, 160 and 184 runs a rank, which is 3.8 sqrt(1786), with lengths of 6 (median) and 11.3
  // (mean), 17 % of them 1.
  EXPECT_NEAR(static_cast<double>(spread_of(cells.runs).median), 160.0, 25.0);
  EXPECT_NEAR(static_cast<double>(real_cells) / static_cast<double>(cells.total_runs), 11.3, 1.7);
  EXPECT_NEAR(static_cast<double>(cells.median_length()), 6.0, 2.0);
  EXPECT_NEAR(static_cast<double>(cells.lengths.at(1)) / static_cast<double>(cells.total_runs),
              0.17, 0.04);

  // Real: 3737, 3897 and 4214 runs a rank, 1.41 edges each, 85 % of them 1.
  const auto edges = statistics_of(g.maps[1]);
  EXPECT_NEAR(static_cast<double>(spread_of(edges.runs).median), 3897.0, 120.0);
  EXPECT_NEAR(static_cast<double>(edges.lengths.at(1)) / static_cast<double>(edges.total_runs),
              0.85, 0.03);
}

TEST(GDecomposition, RowsOfLevelsAreOneRequestEach) {
  const auto g = like_oqu120();
  for (const std::size_t k : {2, 3, 4, 5}) {
    const auto statistics = statistics_of(g.maps[k]);
    const std::uint64_t levels = g.maps[k].dims[1];
    EXPECT_EQ(statistics.total_runs, g.maps[k].dims[0]);
    EXPECT_EQ(statistics.lengths.size(), 1U);
    EXPECT_EQ(statistics.lengths.begin()->first, levels);
  }
}

TEST(GDecomposition, ScatteredNumbersMakeNearlyEveryItemARequestOfItsOwn) {
  // On 16 ranks one successor in 16 lands on the same rank; on the 9600 of production none does.
  const auto few = like_oqu120(1, Locality::scattered);
  const auto statistics = statistics_of(few.maps[0]);
  EXPECT_NEAR(static_cast<double>(statistics.total_runs) / real_cells, 15.0 / 16.0, 0.01);

  OceanOptions options;
  options.locality = Locality::scattered;
  const auto many = make_g_decomposition(real_cells, 1000, options);
  for (const std::size_t k : {0, 1, 4}) {
    EXPECT_GT(static_cast<double>(rows_apart(many.maps[k])),
              0.99 * static_cast<double>(many.maps[k].dims[0]))
        << many.maps[k].name;
  }
}

TEST(GDecomposition, TheSameSeedGivesTheSameMaps) {
  const auto a = make_g_decomposition(1000, 5);
  const auto b = make_g_decomposition(1000, 5);
  OceanOptions other;
  other.seed = 99;
  const auto c = make_g_decomposition(1000, 5, other);
  EXPECT_EQ(all_entries(a.maps[1], 2), all_entries(b.maps[1], 2));
  EXPECT_NE(all_entries(a.maps[1], 2), all_entries(c.maps[1], 2));
}

std::string refusal(std::uint64_t cells, std::uint64_t ranks, const OceanOptions& options = {}) {
  try {
    make_g_decomposition(cells, ranks, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(GDecomposition, ImpossibleRequestsAreRefusedWithTheReason) {
  EXPECT_EQ(refusal(20, 10), "");
  EXPECT_EQ(refusal(2, 1), "");
  EXPECT_THAT(refusal(20, 11), HasSubstr("at most 10 ranks"));
  EXPECT_THAT(refusal(20, 0), HasSubstr("at least 1 rank"));
  EXPECT_THAT(refusal(std::uint64_t{1} << 29, 16), HasSubstr("too large"));
  OceanOptions flat;
  flat.levels = 0;
  EXPECT_THAT(refusal(20, 2, flat), HasSubstr("level"));
  OceanOptions askew;
  askew.imbalance = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(20, 2, askew), HasSubstr("imbalance"));
}

}  // namespace
}  // namespace slabmark
