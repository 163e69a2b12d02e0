#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/geometry/hyperslab.hpp"

namespace slabmark {
namespace {

using testing::ElementsAre;

std::vector<Hyperslab> row_boxes(const RunList& runs, const Extent& extent) {
  std::vector<Hyperslab> boxes;
  for_each_row_box(runs, extent, [&](const Hyperslab& box) { boxes.push_back(box); });
  return boxes;
}

RunList runs_of(const std::vector<Hyperslab>& boxes, const Extent& extent) {
  RunList runs;
  for (const auto& box : boxes) for_each_run(box, extent, [&](Run run) { runs.push_back(run); });
  sort_runs(runs);
  return runs;
}

TEST(RowBoxes, SpanNeighbouringRowsThatTakeTheSameColumns) {
  EXPECT_THAT(row_boxes({{11, 2}, {17, 3}, {21, 2}, {27, 3}, {31, 2}, {37, 3}}, {5, 10}),
              ElementsAre(make_box({1, 1}, {3, 2}), make_box({1, 7}, {3, 3})));
}

TEST(RowBoxes, SpanRowsAlsoWhereTheLastColumnGoesOnInTheFirstOfTheNextRow) {
  EXPECT_THAT(
      row_boxes({{0, 1}, {9, 2}, {19, 3}, {29, 2}, {39, 1}}, {4, 10}),
      ElementsAre(make_box({0, 0}, {2, 1}), make_box({0, 9}, {2, 1}), make_box({2, 0}, {1, 2}),
                  make_box({2, 9}, {1, 1}), make_box({3, 0}, {1, 1}), make_box({3, 9}, {1, 1})));
  EXPECT_THAT(row_boxes({{0, 1}, {9, 2}, {19, 2}, {29, 2}, {39, 1}}, {4, 10}),
              ElementsAre(make_box({0, 0}, {4, 1}), make_box({0, 9}, {4, 1})));
}

TEST(RowBoxes, EndWhereTheColumnsDiffer) {
  EXPECT_THAT(row_boxes({{1, 2}, {11, 2}, {21, 3}}, {5, 10}),
              ElementsAre(make_box({0, 1}, {2, 2}), make_box({2, 1}, {1, 3})));
  EXPECT_THAT(
      row_boxes({{1, 2}, {11, 2}, {15, 1}}, {5, 10}),
      ElementsAre(make_box({0, 1}, {1, 2}), make_box({1, 1}, {1, 2}), make_box({1, 5}, {1, 1})));
}

TEST(RowBoxes, EndWhereARowIsLeftOut) {
  EXPECT_THAT(row_boxes({{1, 2}, {21, 2}}, {5, 10}),
              ElementsAre(make_box({0, 1}, {1, 2}), make_box({2, 1}, {1, 2})));
}

TEST(RowBoxes, NeverSpanTheThirdFastestDimension) {
  EXPECT_THAT(row_boxes({{3, 1}, {8, 1}, {13, 1}}, {2, 2, 5}),
              ElementsAre(make_box({0, 0, 3}, {1, 2, 1}), make_box({1, 0, 3}, {1, 1, 1})));
}

TEST(RowBoxes, OfOneDimensionAreTheRuns) {
  EXPECT_THAT(row_boxes({{1, 2}, {11, 2}}, {20}),
              ElementsAre(make_box({1}, {2}), make_box({11}, {2})));
}

TEST(RowBoxes, TogetherHoldEveryElementOnceAndNoOther) {
  std::mt19937 random(7);
  const std::vector<Extent> extents = {{}, {40}, {6, 7}, {3, 4, 5}, {7, 1}, {1, 9}, {2, 3, 2, 4}};
  for (int i = 0; i < 400; ++i) {
    const auto& extent = extents[random() % extents.size()];
    RunList runs;
    // Half of the elements, or nearly all: rows that are whole cross into the next.
    const unsigned out_of_eight = i % 2 == 0 ? 4 : 7;
    for (std::uint64_t e = 0; e < element_count(extent); ++e) {
      if (random() % 8 < out_of_eight) runs.push_back({e, 1});
    }
    coalesce(runs);
    const auto boxes = row_boxes(runs, extent);
    for (const auto& box : boxes) ASSERT_FALSE(outside(box, extent));
    auto covered = runs_of(boxes, extent);
    EXPECT_FALSE(find_overlap(covered));
    coalesce(covered);
    EXPECT_EQ(covered, runs) << to_string(extent) << " in trial " << i;
  }
}

}  // namespace
}  // namespace slabmark
