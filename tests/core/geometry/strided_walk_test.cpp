#include "core/geometry/strided_walk.hpp"

#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slabmark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Positions = std::vector<std::int64_t>;

struct Axis {
  std::uint64_t count;
  std::int64_t step;
};

Positions positions_of(StridedWalk& walk, std::int64_t first, const std::vector<Axis>& axes) {
  walk.restart(first);
  for (const Axis& axis : axes) walk.add(axis.count, axis.step);
  Positions all;
  walk.for_each([&](std::int64_t position) { all.push_back(position); });
  EXPECT_TRUE(walk.done());
  return all;
}

TEST(StridedWalks, GoThroughTheLastAxisFirst) {
  StridedWalk walk;
  EXPECT_THAT(positions_of(walk, 5, {{2, 10}, {3, 1}}), ElementsAre(5, 6, 7, 15, 16, 17));
}

TEST(StridedWalks, TakeNegativeStepsAndSteps0) {
  StridedWalk walk;
  EXPECT_THAT(positions_of(walk, 0, {{2, -4}, {2, 0}}), ElementsAre(0, 0, -4, -4));
}

TEST(StridedWalks, HaveOnePositionWithoutAxesAndNoneWhereAnAxisIsEmpty) {
  StridedWalk walk;
  EXPECT_TRUE(walk.done());
  EXPECT_THAT(positions_of(walk, 7, {}), ElementsAre(7));
  EXPECT_THAT(positions_of(walk, 7, {{1, 3}}), ElementsAre(7));
  EXPECT_THAT(positions_of(walk, 7, {{3, 1}, {0, 1}, {2, 1}}), IsEmpty());
  walk.clear();
  EXPECT_TRUE(walk.done());
}

Positions rows_of(const Extent& start, const Extent& count, const Extent& extent) {
  StridedWalk walk;
  walk.restart_at_rows(start.data(), count.data(), extent);
  Positions all;
  walk.for_each([&](std::int64_t position) { all.push_back(position); });
  return all;
}

TEST(StridedWalks, GoThroughTheRowsOfABox) {
  EXPECT_THAT(rows_of({1, 0, 2}, {2, 2, 3}, {3, 4, 5}), ElementsAre(22, 27, 42, 47));
  EXPECT_THAT(rows_of({3}, {2}, {5}), ElementsAre(3));
  EXPECT_THAT(rows_of({}, {}, {}), ElementsAre(0));
  EXPECT_THAT(rows_of({1, 0}, {2, 0}, {3, 4}), IsEmpty());
  EXPECT_THAT(rows_of({1, 0}, {0, 2}, {3, 4}), IsEmpty());
  EXPECT_THAT(rows_of({0, 0}, {0, 0}, {3, 0}), IsEmpty());
}

/// The definition, dimension by dimension.
Positions expected(std::int64_t first, const std::vector<Axis>& axes) {
  Positions all = {first};
  for (const Axis& axis : axes) {
    Positions finer;
    for (const std::int64_t position : all) {
      for (std::uint64_t i = 0; i < axis.count; ++i) {
        finer.push_back(position + static_cast<std::int64_t>(i) * axis.step);
      }
    }
    all = finer;
  }
  return all;
}

TEST(StridedWalks, EqualTheirDefinitionForRandomAxes) {
  std::mt19937_64 random(46);
  StridedWalk walk;
  for (int round = 0; round < 500; ++round) {
    std::vector<Axis> axes(random() % 5);
    for (Axis& axis : axes) axis = {random() % 5, static_cast<std::int64_t>(random() % 41) - 20};
    const auto first = static_cast<std::int64_t>(random() % 100) - 50;
    EXPECT_EQ(positions_of(walk, first, axes), expected(first, axes)) << "round " << round;
  }
}

}  // namespace
}  // namespace slabmark
