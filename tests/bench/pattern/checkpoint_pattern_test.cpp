#include "bench/pattern/checkpoint_pattern.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::ElementsAre;

CheckpointGrid small_grid() { return {{2, 1, 3}, {4, 2, 3}, {2, 2, 3}, 5}; }

SelectionPtr selection_of(const CheckpointGrid& grid, std::uint64_t rank, std::uint64_t size) {
  return make_checkpoint_pattern(grid, rank, size).transfers(0).front().file;
}

TEST(CheckpointPatterns, PutTheBlocksOfTheRanksInRowMajorOrder) {
  Hyperslab slab;
  selection_of(small_grid(), 4, 6)->hyperslab(0, slab);
  EXPECT_THAT(slab.start, ElementsAre(4, 0, 3));  // block (1, 0, 1)
  EXPECT_THAT(slab.block, ElementsAre(4, 2, 3));
  EXPECT_THAT(small_grid().block_at(4), ElementsAre(1, 0, 1));
  EXPECT_EQ(small_grid().block_number({1, 0, 1}), 4u);
}

TEST(CheckpointPatterns, WriteOneRecordOfOneChunkedDatasetARound) {
  const Pattern pattern = make_checkpoint_pattern(small_grid(), 0, 6);
  ASSERT_EQ(pattern.datasets.size(), 1u);
  EXPECT_EQ(pattern.datasets[0].name, "chunked");
  EXPECT_EQ(pattern.datasets[0].type, ElementType::float32);
  EXPECT_TRUE(pattern.datasets[0].has_time);
  EXPECT_EQ(pattern.datasets[0].extent(), (Extent{8, 2, 9}));
  EXPECT_EQ(pattern.datasets[0].chunk, (Extent{2, 2, 3}));
  EXPECT_EQ(pattern.rounds, 5u);
  EXPECT_EQ(pattern.transfers(3).front().time, 3u);
  EXPECT_EQ(pattern.transfers(3).front().file, pattern.transfers(0).front().file);
  EXPECT_EQ(moved_bytes(pattern), 5u * 4 * 2 * 3 * 4);
}

class CheckpointPatternsOnRanks : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CheckpointPatternsOnRanks, CoverEveryElementOnce) {
  std::set<std::uint64_t> seen;
  std::uint64_t most = 0;
  for (std::uint64_t rank = 0; rank < GetParam(); ++rank) {
    const SelectionPtr mine = selection_of(small_grid(), rank, GetParam());
    most = std::max(most, mine->element_count());
    mine->for_each_run([&](slabmark::Run run) {
      for (std::uint64_t i = run.offset; i < run.end(); ++i) EXPECT_TRUE(seen.insert(i).second);
    });
  }
  EXPECT_EQ(seen.size(), 8u * 2 * 9);
  if (GetParam() >= 12) {
    EXPECT_LT(most, 4u * 2 * 3) << "blocks are shared";
  }
}

// Fewer ranks than blocks, as many, more, and more than there are rows.
INSTANTIATE_TEST_SUITE_P(Ranks, CheckpointPatternsOnRanks,
                         testing::Values(1, 4, 5, 6, 7, 13, 48, 100));

TEST(CheckpointPatterns, WithoutAChunkLeaveItToTheMethod) {
  CheckpointGrid grid = small_grid();
  grid.chunk = {0, 0, 0};
  EXPECT_EQ(make_checkpoint_pattern(grid, 0, 6).datasets[0].chunk, std::nullopt);
}

TEST(CheckpointPatterns, AreRefusedWhereTheyMakeNoDataset) {
  const auto refused = [](const auto& change) {
    CheckpointGrid grid = small_grid();
    change(grid);
    EXPECT_THROW(make_checkpoint_pattern(grid, 0, 6), InputError);
  };
  refused([](CheckpointGrid& grid) { grid.processor[1] = 0; });
  refused([](CheckpointGrid& grid) { grid.domain[2] = 0; });
  refused([](CheckpointGrid& grid) { grid.chunk[0] = 0; });
  refused([](CheckpointGrid& grid) { grid.chunk[0] = 9; });
  refused([](CheckpointGrid& grid) { grid.steps = 0; });
  refused([](CheckpointGrid& grid) { grid.steps = std::uint64_t{1} << 60; });
  refused([](CheckpointGrid& grid) { grid.domain = {1u << 31, 1u << 31, 1u << 31}; });
}

}  // namespace
}  // namespace slabmark
