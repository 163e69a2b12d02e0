#include "bench/pattern/box_list.hpp"

#include <gtest/gtest.h>

namespace slabmark {
namespace {

TEST(BoxList, PartsHoldAtMostTheGivenElementsAndAllBoxesInOrder) {
  const auto selection = select_row_runs({4, 10}, {{0, 3}, {5, 4}, {12, 8}, {30, 10}});
  const BoxList<std::int64_t> list(*selection, false, 8);
  std::uint64_t elements = 0;
  std::size_t next = 0;
  for (const auto& part : list.parts()) {
    EXPECT_EQ(part.first, next);
    EXPECT_LE(part.elements, 8u);
    next = part.end;
    elements += part.elements;
  }
  EXPECT_EQ(next, list.size());
  EXPECT_EQ(elements, 25u);
  // 3 + 4, 8, and the run of 10 cut into 8 + 2.
  EXPECT_EQ(list.parts().size(), 4u);
}

TEST(BoxList, TimeStandsBeforeTheOtherDimensionsAndCanBeMoved) {
  const auto selection = select_row_runs({4, 10}, {{12, 3}});
  BoxList<std::int64_t> list(*selection, true, 100);
  list.set_time(7);
  const std::vector<std::int64_t> start(list.starts(0)[0], list.starts(0)[0] + 3);
  const std::vector<std::int64_t> count(list.counts(0)[0], list.counts(0)[0] + 3);
  EXPECT_EQ(start, (std::vector<std::int64_t>{7, 1, 2}));
  EXPECT_EQ(count, (std::vector<std::int64_t>{1, 1, 3}));
  EXPECT_EQ(list.elements(0), 3u);
}

}  // namespace
}  // namespace slabmark
