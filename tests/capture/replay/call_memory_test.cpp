#include "capture/replay/call_memory.hpp"

#include <numeric>

#include <gmock/gmock.h>

namespace slabmark {
namespace {

using testing::ElementsAre;
using Bytes = std::vector<std::uint8_t>;

/// The bytes [begin, end) of `memory` after elements 1, 2, ... of one byte were laid out in it.
Bytes laid_out(const BoxArray& boxes, std::ptrdiff_t begin, std::ptrdiff_t end) {
  std::vector<std::byte> dense(boxes.elements());
  for (std::size_t i = 0; i < dense.size(); ++i) dense[i] = std::byte(i + 1);
  CallMemory memory(boxes, 1);
  memory.fill(dense.data());
  Bytes found;
  for (std::ptrdiff_t at = begin; at < end; ++at) {
    found.push_back(std::to_integer<std::uint8_t>(memory.address()[at]));
  }
  std::vector<std::byte> back(dense.size());
  memory.empty(back.data());
  EXPECT_EQ(back, dense);
  return found;
}

TEST(CallMemory, RunsLieWhereTheyAre) {
  const BoxArray boxes{.rank = 1, .count = 2, .starts = {3, 0}, .counts = {2, 1}};
  EXPECT_THAT(laid_out(boxes, 0, 5), ElementsAre(3, 0, 0, 1, 2));
}

TEST(CallMemory, RunsMayLieBeforeTheAddress) {
  const BoxArray boxes{.rank = 1, .count = 2, .starts = {0, 3}, .counts = {1, 2}, .origin = {-2}};
  EXPECT_THAT(laid_out(boxes, -2, 3), ElementsAre(1, 0, 0, 2, 3));
}

TEST(CallMemory, BoxesLieInTheirArray) {
  const BoxArray boxes{.rank = 2, .count = 1, .starts = {1, 1}, .counts = {2, 2}, .extent = {3, 4}};
  EXPECT_THAT(laid_out(boxes, 0, 12), ElementsAre(0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0));
}

TEST(CallMemory, ARowOfAllBlocksComesBeforeTheNext) {
  const BoxArray boxes{.rank = 2,
                       .count = 1,
                       .starts = {0, 0},
                       .counts = {1, 2},
                       .strides = {1, 3},
                       .blocks = {2, 2},
                       .extent = {2, 5}};
  EXPECT_THAT(laid_out(boxes, 0, 10), ElementsAre(1, 2, 0, 3, 4, 5, 6, 0, 7, 8));
}

TEST(CallMemory, AMapIsWalkedByItsDistances) {
  const BoxArray boxes{.rank = 2, .count = 1, .starts = {1, 2}, .counts = {2, 3}, .is_map = true};
  EXPECT_THAT(laid_out(boxes, 0, 6), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(CallMemory, ElementsOfSeveralBytesStayTogether) {
  const BoxArray boxes{.rank = 1, .count = 2, .starts = {1, 0}, .counts = {1, 1}};
  const std::uint32_t dense[] = {0x01020304, 0x05060708};
  CallMemory memory(boxes, sizeof(std::uint32_t));
  memory.fill(reinterpret_cast<const std::byte*>(dense));
  const auto* const there = reinterpret_cast<const std::uint32_t*>(memory.address());
  EXPECT_THAT(std::vector(there, there + 2), ElementsAre(dense[1], dense[0]));
}

}  // namespace
}  // namespace slabmark
