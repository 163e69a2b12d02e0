#include "capture/record/streams/list_coder.hpp"

#include <random>

#include <gmock/gmock.h>

#include "capture/read/box_lists.hpp"

namespace slabmark {
namespace {

using capture::Boxes;
using capture::ListCoder;
using Numbers = std::vector<std::int64_t>;
using testing::ElementsAre;
using testing::IsEmpty;

/// A list as the reader has it.
BoxArray read_back(const Boxes& boxes, bool is_memory) {
  capture::Bytes bytes;
  ListCoder(boxes).put(bytes, is_memory);
  const BoxLists lists(bytes, "The lists");
  EXPECT_EQ(lists.size(), 1);
  return lists.get(0);
}

void add(Boxes& boxes, const Numbers& start, const Numbers& count) {
  boxes.add(start.data(), count.data());
}

TEST(ListCoder, ASelectionInAFileIsToldFromItsFirstBoxOn) {
  Boxes boxes(2);
  add(boxes, {7, 3}, {1, 5});
  add(boxes, {9, 0}, {1, 2});
  const BoxArray list = read_back(boxes, false);
  EXPECT_THAT(list.starts, ElementsAre(0, 0, 2, -3));
  EXPECT_THAT(list.counts, ElementsAre(1, 5, 1, 2));
  EXPECT_THAT(list.origin, IsEmpty());
  EXPECT_THAT(list.strides, IsEmpty());
  EXPECT_EQ(list.elements(), 7);
}

TEST(ListCoder, AListOfMemoryHasItsOriginAndExtent) {
  Boxes boxes(2);
  add(boxes, {7, 3}, {1, 5});
  add(boxes, {9, 0}, {1, 2});
  const std::int64_t extent[] = {20, 8};
  boxes.set_extent(extent);
  const BoxArray list = read_back(boxes, true);
  EXPECT_THAT(list.origin, ElementsAre(7, 3));
  EXPECT_THAT(list.extent, ElementsAre(20, 8));
  EXPECT_THAT(list.starts, ElementsAre(0, 0, 2, -3));
}

TEST(ListCoder, StridesThatNameABoxInOtherWordsAreNotKept) {
  const Numbers start{4}, count{3}, stride{2}, block{2};
  Boxes boxes(1);
  boxes.add(start.data(), stride.data(), count.data(), block.data());
  EXPECT_TRUE(ListCoder(boxes).is_one_box());
  EXPECT_THAT(read_back(boxes, false).counts, ElementsAre(6));
}

TEST(ListCoder, ABoxWithStridesGivesThoseBeforeItStridesOfOne) {
  const Numbers start{10}, count{3}, stride{5}, block{2};
  Boxes boxes(1);
  add(boxes, {0}, {4});
  boxes.add(start.data(), stride.data(), count.data(), block.data());
  const BoxArray list = read_back(boxes, false);
  EXPECT_THAT(list.strides, ElementsAre(1, 5));
  EXPECT_THAT(list.blocks, ElementsAre(1, 2));
  EXPECT_EQ(list.elements(), 10);
}

TEST(ListCoder, AMapHasDistancesInPlaceOfStarts) {
  const Numbers distance{1, 8}, count{2, 3};
  Boxes boxes(2);
  boxes.set_map(distance.data(), count.data());
  const BoxArray list = read_back(boxes, true);
  EXPECT_TRUE(list.is_map);
  EXPECT_THAT(list.starts, ElementsAre(1, 8));
  EXPECT_THAT(list.origin, IsEmpty());
}

TEST(ListCoder, RowsOfTheCallerAreTheListThatTheirCopiesAre) {
  const Numbers starts[] = {{3, 4}, {5, 6}, {1, 1}}, counts[] = {{1, 2}, {1, 9}, {1, 1}};
  Boxes copies(2), rows(2);
  std::vector<const std::int64_t*> start_of, count_of;
  for (std::size_t i = 0; i < 3; ++i) {
    add(copies, starts[i], counts[i]);
    start_of.push_back(starts[i].data());
    count_of.push_back(counts[i].data());
  }
  rows.set_rows(3, start_of.data(), count_of.data());
  EXPECT_EQ(ListCoder(rows).hash(false), ListCoder(copies).hash(false));
  EXPECT_EQ(read_back(rows, false).starts, read_back(copies, false).starts);
}

/// Any boxes, strided or not.
Boxes draw(std::mt19937_64& random) {
  const auto number = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  const auto rank = static_cast<std::size_t>(1 + number(3));
  Boxes boxes(rank);
  const bool strided = number(2) == 0;
  for (std::int64_t i = 1 + number(40); i > 0; --i) {
    Numbers start, count, stride, block;
    for (std::size_t d = 0; d < rank; ++d) {
      start.push_back(number(std::int64_t{1} << 40));
      count.push_back(number(4));
      block.push_back(1 + number(3));
      stride.push_back(block.back() + number(3));
    }
    if (strided) {
      boxes.add(start.data(), stride.data(), count.data(), block.data());
    } else {
      boxes.add(start.data(), count.data());
    }
  }
  return boxes;
}

TEST(ListCoder, ListsThatAreCodedAlikeHaveOneHashAndOthersHaveNot) {
  std::mt19937_64 random(7);
  std::map<capture::Bytes, capture::Hash> known;
  for (int i = 0; i < 2000; ++i) {
    const Boxes boxes = draw(random);
    for (const bool is_memory : {false, true}) {
      capture::Bytes coded;
      ListCoder(boxes).put(coded, is_memory);
      const capture::Hash hash = ListCoder(boxes).hash(is_memory);
      EXPECT_EQ(known.try_emplace(coded, hash).first->second, hash);
    }
  }
  std::set<std::pair<std::uint64_t, std::uint64_t>> hashes;
  for (const auto& [coded, hash] : known) hashes.emplace(hash.low, hash.high);
  EXPECT_EQ(hashes.size(), known.size());
}

TEST(ListCoder, ListsFollowEachOtherByTheirLengths) {
  std::mt19937_64 random(8);
  capture::Bytes bytes;
  std::vector<BoxArray> expected;
  for (int i = 0; i < 50; ++i) {
    const Boxes boxes = draw(random);
    expected.push_back(read_back(boxes, i % 2 == 0));
    ListCoder(boxes).put(bytes, i % 2 == 0);
  }
  const BoxLists lists(bytes, "The lists");
  ASSERT_EQ(lists.size(), expected.size());
  for (std::size_t i = expected.size(); i-- > 0;) {
    const BoxArray list = lists.get(i);
    EXPECT_EQ(list.starts, expected[i].starts);
    EXPECT_EQ(list.counts, expected[i].counts);
    EXPECT_EQ(list.strides, expected[i].strides);
    EXPECT_EQ(list.origin, expected[i].origin);
  }
}

}  // namespace
}  // namespace slabmark
