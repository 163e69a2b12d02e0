#include "collective/exchange/move_elements.hpp"

#include <numeric>
#include <vector>

#include <gmock/gmock.h>

namespace slabmark {
namespace {

using testing::ElementsAre;

const std::vector<Piece> pieces = {{2, 3, 2}, {10, 0, 3}, {20, 5, 1}};

std::byte* bytes_of(std::vector<std::uint32_t>& words) {
  return reinterpret_cast<std::byte*>(words.data());
}

TEST(MoveElements, StoresTheElementsOfAPartWhereTheyBelong) {
  std::vector<std::uint32_t> buffer = {1, 2, 3, 4, 5, 6};
  std::vector<std::uint32_t> place(9, 0);
  // Elements 3 to 11: the second of the first piece, the first two of the second.
  move_in_place(pieces, {3, 9}, {4, false, Flow::to_file}, bytes_of(buffer), bytes_of(place));
  EXPECT_THAT(place, ElementsAre(5, 0, 0, 0, 0, 0, 0, 1, 2));
}

TEST(MoveElements, PacksThemWithoutGapsInTheOtherByteOrder) {
  std::vector<std::uint32_t> buffer = {1, 2, 3, 4, 5, 6};
  std::vector<std::uint32_t> packed(4, 0);
  const auto* end =
      move_packed(pieces, {3, 17}, {4, true, Flow::to_file}, bytes_of(buffer), bytes_of(packed));
  EXPECT_EQ(end, bytes_of(packed) + 16);
  EXPECT_THAT(packed, ElementsAre(5u << 24, 1u << 24, 2u << 24, 3u << 24));
  EXPECT_EQ(count_in(pieces, {3, 17}), 4u);
}

TEST(MoveElements, BringsBackWhatItStored) {
  std::vector<std::uint32_t> buffer(6, 9);
  std::vector<std::uint32_t> place(21);
  std::iota(place.begin(), place.end(), 100);
  move_in_place(pieces, {0, 21}, {4, false, Flow::from_file}, bytes_of(buffer), bytes_of(place));
  EXPECT_THAT(buffer, ElementsAre(110, 111, 112, 102, 103, 120));
}

TEST(MoveElements, PlacesWhatAnotherRankPacked) {
  const RunList runs = {{100, 2}, {105, 1}, {110, 4}};
  std::vector<std::uint32_t> packed = {1, 2, 3};
  std::vector<std::uint32_t> place(10, 0);
  move_runs(runs, {101, 10}, {4, false, Flow::to_file}, bytes_of(packed), bytes_of(place));
  EXPECT_THAT(place, ElementsAre(1, 0, 0, 0, 2, 0, 0, 0, 0, 3));
  EXPECT_EQ(count_in(runs, {101, 10}), 3u);
}

}  // namespace
}  // namespace slabmark
