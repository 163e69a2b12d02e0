#include "bench/pattern/decomposition_pattern.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

std::vector<DecompositionMap> two_maps() {
  return {{{{"ncol", 6}}, select_row_runs({6}, {{1, 2}})},
          {{{"lev", 2}, {"ncol", 6}}, select_row_runs({2, 6}, {{1, 2}, {7, 2}})}};
}

TEST(DecompositionPatterns, ShareOneSelectionBetweenTheVariablesOfAMap) {
  const auto maps = two_maps();
  const Pattern pattern = make_decomposition_pattern(maps, {{"T", ElementType::float64, 1},
                                                            {"PS", ElementType::float32, 0},
                                                            {"Q", ElementType::float64, 1}});
  const auto transfers = pattern.transfers(0);
  ASSERT_EQ(transfers.size(), 3u);
  EXPECT_EQ(transfers[0].file, maps[1].selection);
  EXPECT_EQ(transfers[1].file, maps[0].selection);
  EXPECT_EQ(transfers[2].file, transfers[0].file);
  EXPECT_EQ(pattern.datasets[0].extent(), (Extent{2, 6}));
  EXPECT_EQ(pattern.datasets[1].name, "PS");
  EXPECT_EQ(moved_bytes(pattern), 2u * 4u * 8u + 2u * 4u);
  EXPECT_EQ(request_count(pattern), 5u);
}

TEST(DecompositionPatterns, WriteARecordARoundAndFixedVariablesOnce) {
  const Pattern pattern = make_decomposition_pattern(
      two_maps(), {{"T", ElementType::float64, 1, true}, {"area", ElementType::float32, 0, false}},
      3);
  EXPECT_EQ(pattern.rounds, 3u);
  EXPECT_TRUE(pattern.datasets[0].has_time);
  EXPECT_EQ(pattern.transfers(0).size(), 2u);
  for (const std::uint64_t round : {1, 2}) {
    const auto transfers = pattern.transfers(round);
    ASSERT_EQ(transfers.size(), 1u);
    EXPECT_EQ(transfers[0].dataset, 0u);
    EXPECT_EQ(transfers[0].time, round);
  }
}

TEST(DecompositionPatterns, WithoutTimeMoveNothingAfterTheFirstRound) {
  const Pattern pattern =
      make_decomposition_pattern(two_maps(), {{"area", ElementType::float32, 0}}, 2);
  EXPECT_EQ(pattern.transfers(0).size(), 1u);
  EXPECT_TRUE(pattern.transfers(1).empty());
}

TEST(DecompositionPatterns, TellWhatTheyWereMadeFrom) {
  const Pattern pattern =
      make_decomposition_pattern(two_maps(), {{"area", ElementType::float32, 0}});
  EXPECT_EQ(pattern.name, "decomposition");
  EXPECT_EQ(pattern.settings.at("maps"), "2");
  EXPECT_EQ(pattern.settings.at("variables"), "1");
  EXPECT_EQ(pattern.settings.at("rounds"), "1");
}

TEST(DecompositionPatterns, AreRefusedIfTheirPartsDoNotFit) {
  EXPECT_THROW(make_decomposition_pattern(two_maps(), {{"T", ElementType::int32, 2}}), InputError);
  EXPECT_THROW(make_decomposition_pattern(two_maps(), {{"T", ElementType::int32, 0}}, 0),
               InputError);
  auto maps = two_maps();
  maps[1].dimensions[0].length = 3;
  EXPECT_THROW(make_decomposition_pattern(maps, {{"T", ElementType::int32, 0}}), InputError);
}

}  // namespace
}  // namespace slabmark
