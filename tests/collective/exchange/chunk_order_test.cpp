#include "collective/exchange/chunk_order.hpp"

#include <gmock/gmock.h>

namespace slabmark {
namespace {

std::vector<std::vector<std::uint64_t>> listed(std::span<const Piece> pieces) {
  std::vector<std::vector<std::uint64_t>> all;
  for (const Piece& piece : pieces) all.push_back({piece.file, piece.buffer, piece.length});
  return all;
}

// An array of 3 x 6 in chunks of 2 x 4.
TEST(ChunkOrder, CutsPiecesAtChunksAndSortsThem) {
  const ChunkGrid grid({3, 6}, {2, 4});
  const std::vector<Piece> pieces = {{2, 100, 6}, {12, 106, 6}};
  EXPECT_THAT(listed(in_chunk_order(pieces, grid)),
              testing::ElementsAre(
                  std::vector<std::uint64_t>{2, 100, 2}, std::vector<std::uint64_t>{4, 104, 2},
                  std::vector<std::uint64_t>{8, 102, 2}, std::vector<std::uint64_t>{16, 106, 4},
                  std::vector<std::uint64_t>{24, 110, 2}));
}

TEST(ChunkOrder, MergesWhatTouchesInTheChunkAndInTheBuffer) {
  const ChunkGrid grid({2, 4}, {2, 2});
  const std::vector<Piece> pieces = {{0, 0, 2}, {4, 2, 2}};
  EXPECT_THAT(listed(in_chunk_order(pieces, grid)),
              testing::ElementsAre(std::vector<std::uint64_t>{0, 0, 4}));
}

TEST(ChunkOrder, KeepsPiecesWhereTheLineIsTheArray) {
  const ChunkGrid grid({5, 4}, {2, 4});
  const std::vector<Piece> pieces = {{1, 7, 9}, {15, 16, 5}};
  EXPECT_EQ(listed(in_chunk_order(pieces, grid)), listed(pieces));
}

}  // namespace
}  // namespace slabmark
