#include "bench/method/raw/file_order.hpp"

#include <gtest/gtest.h>

#include "bench/method/shared/selection_cache.hpp"

namespace slabmark {
namespace {

Pattern two_vectors() {
  Pattern pattern;
  pattern.datasets = {{"a", ElementType::uint8, {{"x", 100}}, false, std::nullopt},
                      {"b", ElementType::uint8, {{"x", 100}}, false, std::nullopt}};
  return pattern;
}

std::vector<FilePart> parts_of(const FileOrder& order, std::span<std::byte* const> buffers) {
  std::vector<FilePart> parts;
  order.for_each_part(buffers, [&](const FilePart& part) { parts.push_back(part); });
  return parts;
}

class FileOrders : public testing::Test {
 protected:
  FileOrder order(const std::vector<Transfer>& transfers) {
    return order_in_file(two_vectors(), transfers, cache,
                         [](const Transfer& transfer) { return 100 * transfer.dataset; });
  }

  SelectionCache<FilePieces> cache;
  std::vector<std::byte> memory = std::vector<std::byte>(200);
  std::vector<std::byte*> buffers = {memory.data(), memory.data() + 100};
};

TEST_F(FileOrders, TransfersAreVisitedAscendingInTheFileWhateverTheirOrder) {
  const auto runs = select_row_runs({100}, {{10, 5}, {30, 5}});
  const auto ordered = order({{1, 0, runs, nullptr}, {0, 0, runs, nullptr}});
  const auto parts = parts_of(ordered, buffers);
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[0].offset, 10u);
  EXPECT_EQ(parts[0].memory, buffers[1]);
  EXPECT_EQ(parts[2].offset, 110u);
  EXPECT_EQ(parts[2].memory, buffers[0]);
  EXPECT_FALSE(ordered.interleaved());
  EXPECT_EQ(ordered.bytes(), 20u);
}

TEST_F(FileOrders, PartialRequestsThatLieBetweenOneAnotherAreSortedPieceByPiece) {
  const auto even = select_row_runs({100}, {{0, 10}, {20, 10}});
  const auto odd = select_row_runs({100}, {{10, 10}, {30, 10}});
  const auto ordered = order({{0, 0, even, nullptr}, {0, 0, odd, nullptr}});
  EXPECT_TRUE(ordered.interleaved());
  const auto parts = parts_of(ordered, buffers);
  ASSERT_EQ(parts.size(), 4u);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].offset, 10 * i);
    EXPECT_EQ(parts[i].memory, buffers[i % 2] + 10 * (i / 2));
  }
}

TEST_F(FileOrders, ASelectionOutOfOrderIsPutInOrderTogetherWithItsMemory) {
  const auto parts =
      parts_of(order({{0, 0, select_row_runs({100}, {{50, 5}, {20, 5}}), nullptr}}), buffers);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].offset, 20u);
  EXPECT_EQ(parts[0].memory, buffers[0] + 5);
  EXPECT_EQ(parts[1].memory, buffers[0]);
}

TEST_F(FileOrders, WholeNeighbouringDatasetsAreContiguousAndOnesWithHolesAreNot) {
  const auto all = select_all({100});
  EXPECT_TRUE(order({{0, 0, all, nullptr}, {1, 0, all, nullptr}}).contiguous());
  EXPECT_FALSE(order({{0, 0, select_row_runs({100}, {{0, 40}, {50, 50}}), nullptr}}).contiguous());
  EXPECT_FALSE(order({{0, 0, select_none({100}), nullptr}}).contiguous());
}

TEST_F(FileOrders, MemoryThatIsReadInOneGoIsOneBlockHoweverManyPiecesTheFileHas) {
  const auto runs = select_row_runs({100}, {{10, 5}, {30, 5}, {60, 10}});
  std::vector<std::pair<std::byte*, std::uint64_t>> blocks;
  order({{0, 0, runs, nullptr}})
      .for_each_memory_block(buffers, [&](std::byte* block, std::uint64_t bytes) {
        blocks.emplace_back(block, bytes);
      });
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].first, buffers[0]);
  EXPECT_EQ(blocks[0].second, 20u);
}

TEST(SelectionCaches, ShareOneObjectPerPairAndVariantAndForgetWhatRoundsDoNotUse) {
  int built = 0;
  const auto build = [&] { return ++built; };
  SelectionCache<int> cache;
  const auto a = select_all({4});
  const auto b = select_all({4});
  cache.get(a, nullptr, 0, build);
  cache.get(a, nullptr, 0, build);
  EXPECT_EQ(built, 1);
  cache.get(b, nullptr, 0, build);
  cache.get(a, b, 0, build);
  cache.get(a, nullptr, 8, build);
  EXPECT_EQ(built, 4);

  EXPECT_EQ(b.use_count(), 3) << "kept alive by the two entries that it is part of";
  for (int round = 0; round < 3; ++round) {
    cache.next_round();
    cache.get(a, nullptr, 0, build);
  }
  EXPECT_EQ(built, 4);
  EXPECT_EQ(b.use_count(), 1);
}

}  // namespace
}  // namespace slabmark
