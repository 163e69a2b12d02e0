#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/pattern/synthetic/i_decomposition.hpp"
#include "bench/pattern/synthetic_statistics.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::HasSubstr;

// The land of the shipped real case: 5663 of 96 x 144 cells.
LandMask f19_mask(std::uint64_t seed) { return make_land_mask(96, 144, 5663.0 / 13824.0, seed); }

TEST(LandMask, HasExactlyTheLandAskedForAndIsTheSameForTheSameSeed) {
  const LandMask mask = f19_mask(3);
  EXPECT_EQ(std::accumulate(mask.land.begin(), mask.land.end(), 0), 5663);
  EXPECT_EQ(mask.land, f19_mask(3).land);
  EXPECT_NE(mask.land, f19_mask(4).land);
}

TEST(LandMask, UsualFractionsAreThoseOfTheRealGrids) {
  EXPECT_EQ(std::llround(usual_land_fraction(96, 144) * 96 * 144), 5663);
  EXPECT_EQ(std::llround(usual_land_fraction(360, 720) * 360 * 720), 62482);
}

TEST(IDecomposition, EveryLandCellBelongsToOneRankAndNoOceanCellToAny) {
  const LandMask mask = f19_mask(1);
  for (const auto& map : make_i_decomposition(mask, 16).maps) {
    const auto statistics = statistics_of(map);
    const std::uint64_t levels = map.dims.size() == 2 ? 1 : map.dims[0];
    EXPECT_EQ(statistics.repeated, 0U) << map.name;
    EXPECT_EQ(statistics.missing, levels * (96 * 144 - 5663)) << map.name;
    for (std::uint64_t rank = 0; rank < map.ranks; ++rank) {
      for (const std::uint64_t entry : all_entries(map, rank)) {
        ASSERT_EQ(mask.land[(entry - 1) % mask.land.size()], 1);
      }
    }
  }
}

TEST(IDecomposition, LandCellsGoToRanksInSegmentsInTurn) {
  const LandMask mask = f19_mask(2);
  LandOptions options;
  options.clumps_per_rank = 2;
  const auto i = make_i_decomposition(mask, 16, options);
  std::vector<std::uint64_t> owner(mask.land.size(), 16);
  for (std::uint64_t rank = 0; rank < 16; ++rank) {
    for (const std::uint64_t entry : all_entries(i.maps[0], rank)) owner[entry - 1] = rank;
  }
  // 20 segments for each of 32 clumps. In whole numbers: 5663 and 640 have no common factor, so no
  // cell lies just on the border of two segments.
  std::uint64_t g = 0;
  for (std::size_t cell = 0; cell < mask.land.size(); ++cell) {
    if (mask.land[cell] == 0) continue;
    EXPECT_EQ(owner[cell], g * 640 / 5663 % 16) << "land cell " << g;
    ++g;
  }
}

TEST(IDecomposition, ARanksListIsClumpByClumpWithLevelsOutermost) {
  LandMask mask = {1, 90, std::vector<std::uint8_t>(90, 1)};
  mask.land[0] = 0;
  for (std::size_t cell = 81; cell < 90; ++cell) mask.land[cell] = 0;
  LandOptions options;
  options.clumps_per_rank = 2;
  options.levels = {2, 1, 1, 1};
  // 80 cells in 80 segments over the 4 clumps of 2 ranks: rank 1 has clumps 1 and 3.
  const auto i = make_i_decomposition(mask, 2, options);
  const auto flat = all_entries(i.maps[0], 1);
  ASSERT_EQ(flat.size(), 40U);
  EXPECT_EQ(flat[0], 3U);  // land cell 1 is grid cell 2
  EXPECT_EQ(flat[1], 7U);
  EXPECT_EQ(flat[20], 5U);  // second clump
  const auto deep = all_entries(i.maps[1], 1);
  ASSERT_EQ(deep.size(), 80U);
  for (std::size_t k = 0; k < 40; ++k) {
    EXPECT_EQ(deep[k], flat[k]);
    EXPECT_EQ(deep[40 + k], flat[k] + 90);
  }
  EXPECT_EQ(i.maps[1].entry_count(1), 80U);
  EXPECT_EQ(i.maps[1].dims, (Extent{2, 1, 90}));
}

TEST(IDecomposition, RanksOfTheShippedCaseHaveTheRealNumberOfCellsAndAboutTheRealRequests) {
  LandOptions options;
  options.clumps_per_rank = 2;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto i = make_i_decomposition(f19_mask(seed), 16, options);
    const auto d1 = statistics_of(i.maps[0]);
    EXPECT_EQ(spread_of(d1.elements), (Spread{353, 354, 354}));
    // 640 of the real 976 runs are segments, which do not depend on the mask; the coasts add the
    // others. 5 % of the total is 15 % of what the coasts decide.
    EXPECT_NEAR(static_cast<double>(d1.total_runs), 976.0, 0.05 * 976.0) << "seed " << seed;
    // Real: 54, 60 and 71 of a rank, each a sum of 40 segments' pieces.
    EXPECT_NEAR(static_cast<double>(spread_of(d1.runs).min), 54.0, 5.0) << "seed " << seed;
    EXPECT_NEAR(static_cast<double>(spread_of(d1.runs).median), 60.0, 5.0) << "seed " << seed;
    EXPECT_NEAR(static_cast<double>(spread_of(d1.runs).max), 71.0, 5.0) << "seed " << seed;
    EXPECT_EQ(d1.lengths.rbegin()->first, 9U);
    EXPECT_NEAR(static_cast<double>(d1.median_length()), 6.0, 2.0) << "seed " << seed;
    EXPECT_EQ(statistics_of(i.maps[1]).total_runs, 15 * d1.total_runs);
  }
}

TEST(IDecomposition, TheProductionCaseHasThePublishedRequestsPerRank) {
  // 33,120 to 41,400 requests are 20 to 25 runs for each of 1656 level slices. With 20 segments of
  // 2.3 cells a rank, 20 is certain; how many segments the coasts break depends on the mask.
  const auto i = make_i_decomposition(360, 720, 1344, usual_land_fraction(360, 720));
  const auto d1 = statistics_of(i.maps[0]);
  EXPECT_EQ(spread_of(d1.runs).min, 20U);
  EXPECT_GE(spread_of(d1.runs).max, 23U);
  EXPECT_LE(spread_of(d1.runs).max, 27U);
}

std::string refusal(const LandMask& mask, std::uint64_t ranks, const LandOptions& options = {}) {
  try {
    make_i_decomposition(mask, ranks, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(IDecomposition, ImpossibleRequestsAreRefusedWithTheReason) {
  const LandMask mask = {2, 3, {1, 0, 1, 1, 0, 1}};
  EXPECT_EQ(refusal(mask, 4), "");
  EXPECT_THAT(refusal(mask, 5), HasSubstr("only 4 land cells"));
  EXPECT_THAT(refusal(mask, std::numeric_limits<std::uint64_t>::max()), HasSubstr("only 4 land"));
  EXPECT_THAT(refusal(mask, 0), HasSubstr("at least 1 rank"));
  EXPECT_THAT(refusal({3, 3, mask.land}, 1), HasSubstr("6 cells, but its grid is 3 x 3"));
  LandOptions no_clump;
  no_clump.clumps_per_rank = 0;
  EXPECT_THAT(refusal(mask, 1, no_clump), HasSubstr("clump"));
  LandOptions no_level;
  no_level.levels[2] = 0;
  EXPECT_THAT(refusal(mask, 1, no_level), HasSubstr("level"));
  EXPECT_THROW(make_land_mask(96, 144, 0.0), InputError);
  EXPECT_THROW(make_land_mask(96, 144, 1.5), InputError);
  EXPECT_THROW(make_land_mask(96, 144, std::numeric_limits<double>::quiet_NaN()), InputError);
  EXPECT_THROW(make_land_mask(0, 144, 0.4), InputError);
  EXPECT_THROW(make_land_mask(1 << 20, 1 << 20, 0.4), InputError);
}

}  // namespace
}  // namespace slabmark
