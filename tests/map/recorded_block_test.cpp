#include <gtest/gtest.h>

#include "map/decomposition.hpp"

namespace slabmark {
namespace {

TEST(RecordedBlocks, FirstRanksTakeOneMoreWhereTheyDoNotDivide) {
  std::vector<std::uint64_t> counts;
  std::uint64_t next = 0;
  for (int rank = 0; rank < 5; ++rank) {
    const RecordedBlock block = recorded_block(13, rank, 5);
    EXPECT_EQ(block.first, next);
    next += block.count;
    counts.push_back(block.count);
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{3, 3, 3, 2, 2}));
  EXPECT_EQ(next, 13);
}

TEST(RecordedBlocks, RanksBeyondTheRecordedOnesHaveNothing) {
  EXPECT_EQ(recorded_block(16, 15, 20).count, 1);
  EXPECT_EQ(recorded_block(16, 16, 20).count, 0);
  EXPECT_EQ(recorded_block(16, 19, 20).first, 16);
}

}  // namespace
}  // namespace slabmark
