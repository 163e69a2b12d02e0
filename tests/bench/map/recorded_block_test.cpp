#include <gtest/gtest.h>

#include "bench/map/decomposition.hpp"

namespace slabmark {
namespace {

TEST(RecordedBlocks, FirstRanksTakeOneMoreWhereTheyDoNotDivide) {
  std::vector<std::uint64_t> counts;
  std::uint64_t next = 0;
  for (int rank = 0; rank < 5; ++rank) {
    const auto block = recorded_block(13, rank, 5);
    EXPECT_EQ(block.offset, next);
    next += block.length;
    counts.push_back(block.length);
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{3, 3, 3, 2, 2}));
  EXPECT_EQ(next, 13);
}

TEST(RecordedBlocks, RanksBeyondTheRecordedOnesHaveNothing) {
  EXPECT_EQ(recorded_block(16, 15, 20).length, 1);
  EXPECT_EQ(recorded_block(16, 16, 20).length, 0);
  EXPECT_EQ(recorded_block(16, 19, 20).offset, 16);
}

}  // namespace
}  // namespace slabmark
