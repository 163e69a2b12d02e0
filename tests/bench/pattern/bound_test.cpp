#include "bench/pattern/bound.hpp"

#include <gtest/gtest.h>

#include "bench/pattern/runs_of.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

TEST(Bounds, AreOneRunOfBytesARound) {
  const Pattern bound =
      make_bound("decomposition", std::vector<BoundRound>{{10, 5, 40}, {0, 7, 7}});
  EXPECT_EQ(bound.rounds, 2u);
  ASSERT_EQ(bound.datasets.size(), 1u);
  EXPECT_EQ(bound.datasets[0].name, "bound");
  EXPECT_EQ(bound.datasets[0].type, ElementType::uint8);
  EXPECT_EQ(bound.datasets[0].extent(), (Extent{47}));
  EXPECT_EQ(runs_of(bound.transfers(0).at(0).file), (RunList{{10, 5}}));
  EXPECT_EQ(runs_of(bound.transfers(1).at(0).file), (RunList{{40, 7}}));
  EXPECT_EQ(moved_bytes(bound), 12u);
  EXPECT_EQ(bound.settings.at("of"), "decomposition");
}

TEST(Bounds, SelectNothingOnARankWithoutBytes) {
  const Pattern bound = make_bound("x", std::vector<BoundRound>{{40, 0, 40}, {3, 0, 9}});
  for (const std::uint64_t round : {0, 1}) {
    ASSERT_EQ(bound.transfers(round).size(), 1u);
    EXPECT_EQ(bound.transfers(round)[0].file->hyperslab_count(), 0u);
  }
}

TEST(Bounds, OfNothingStillHaveAnArray) {
  const Pattern bound = make_bound("x", std::vector<BoundRound>{{0, 0, 0}});
  EXPECT_EQ(bound.datasets[0].extent(), (Extent{1}));
  EXPECT_EQ(moved_bytes(bound), 0u);
}

TEST(Bounds, AreRefusedIfTheBytesOfARankExceedTheirTotal) {
  EXPECT_THROW(make_bound("x", std::vector<BoundRound>{{10, 5, 14}}), InputError);
  EXPECT_THROW(make_bound("x", std::vector<BoundRound>{{15, 0, 14}}), InputError);
}

TEST(Bounds, GoBeyondFourGibibytes) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  const Pattern bound = make_bound("x", std::vector<BoundRound>{{5 * gib, 3 * gib, 9 * gib}});
  EXPECT_EQ(runs_of(bound.transfers(0)[0].file), (RunList{{5 * gib, 3 * gib}}));
}

}  // namespace
}  // namespace slabmark
