#include "collective/exchange/file_domain.hpp"

#include <gmock/gmock.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> begins(const FileDomain& domain) {
  std::vector<std::uint64_t> all;
  for (const auto& array : domain.arrays()) all.push_back(array.begin);
  return all;
}

TEST(FileDomain, PutsArraysInTheOrderOfTheFileAndLeavesOutLargeGaps) {
  // Bytes 100-139, a gap of 3, 143-150, a gap of 50, 201-208.
  const std::vector<ArrayPlace> places = {{201, 8, 1}, {100, 4, 10}, {143, 1, 8}};
  EXPECT_THAT(begins(FileDomain(places, 0)), ElementsAre(0, 40, 48));
  EXPECT_THAT(begins(FileDomain(places, 3)), ElementsAre(0, 43, 51));
}

TEST(FileDomain, TakesEqualPlacesForOneArrayAndForgetsEmptyOnes) {
  const std::vector<ArrayPlace> places = {{8, 8, 2}, {0, 8, 0}, {8, 8, 2}};
  const FileDomain domain(places, 0);
  EXPECT_EQ(domain.arrays().size(), 1u);
  EXPECT_EQ(domain.bytes(), 16u);
}

TEST(FileDomain, RefusesArraysThatShareABytes) {
  const std::vector<ArrayPlace> places = {{0, 8, 2}, {15, 1, 4}};
  EXPECT_THROW(FileDomain(places, 0), InputError);
}

TEST(FileDomain, CutsAtWholeElementsThatBeginAtMultiplesOfTheAlignment) {
  // 1000 doubles from byte 4 on: multiples of 64 bytes of the file lie 4 bytes before an element.
  const std::vector<ArrayPlace> places = {{4, 8, 1000}};
  const FileDomain domain(places, 0);
  const auto cuts = domain.cut(3, 64);
  ASSERT_EQ(cuts.size(), 4u);
  EXPECT_EQ(cuts.front(), 0u);
  EXPECT_EQ(cuts.back(), 8000u);
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(cuts[i] % 8, 0u);
    EXPECT_EQ((domain.file_offset(cuts[i]) - 4) % 64, 0u);
    EXPECT_NEAR(static_cast<double>(cuts[i]), 8000.0 * static_cast<double>(i) / 3, 72.0);
  }
}

TEST(FileDomain, CutsAmongSmallArraysAtMultiplesOfTheAlignmentToo) {
  std::vector<ArrayPlace> places;
  for (std::uint64_t i = 0; i < 1000; ++i) places.push_back({8 + 96 * i, 8, 12});
  const FileDomain domain(places, 0);
  const auto cuts = domain.cut(5, 4096);
  for (const std::size_t i : {1u, 2u, 3u, 4u}) {
    EXPECT_EQ(domain.file_offset(cuts[i]) % 4096, 0u);
    EXPECT_NEAR(static_cast<double>(cuts[i]), 96000.0 * static_cast<double>(i) / 5, 4096.0);
  }
}

TEST(FileDomain, CutsBehindAHoleOfTheFileWhereAMultipleOfTheAlignmentLiesInIt) {
  const std::vector<ArrayPlace> places = {{0, 1, 1000}, {5000, 1, 1000}};
  EXPECT_THAT(FileDomain(places, 0).cut(3, 4096), ElementsAre(0, 1000, 2000, 2000));
}

TEST(FileDomain, MorePartsThanBytesLeaveTheLastOnesEmpty) {
  const std::vector<ArrayPlace> places = {{0, 8, 1}};
  const auto cuts = FileDomain(places, 0).cut(4, 4096);
  EXPECT_THAT(cuts, ElementsAre(0, 8, 8, 8, 8));
}

TEST(FileDomain, NamesTheElementsOfEachArrayInARange) {
  const std::vector<ArrayPlace> places = {{0, 4, 10}, {40, 8, 10}, {120, 1, 10}};
  const FileDomain domain(places, 0);
  const auto parts = domain.parts_in(20, 56);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].array, 0u);
  EXPECT_EQ(parts[0].elements, (slabmark::Run{5, 5}));
  EXPECT_EQ(parts[1].array, 1u);
  EXPECT_EQ(parts[1].elements, (slabmark::Run{0, 2}));
  EXPECT_TRUE(domain.parts_in(20, 20).empty());
}

// Two chunks of 30 bytes that none may split, after ten elements that any may.
TEST(FileDomain, CutsAnArrayInUnitsAtWholeUnits) {
  const std::vector<ArrayPlace> places = {{8, 1, 10}, {beyond_file, 3, 20, 10}};
  const FileDomain domain(places, 0);
  EXPECT_EQ(domain.bytes(), 70u);
  EXPECT_EQ(domain.largest_unit(), 30u);
  EXPECT_EQ(domain.next_unit(5), 5u);
  EXPECT_EQ(domain.next_unit(11), 40u);
  EXPECT_EQ(domain.unit_begin(39), 10u);
  EXPECT_EQ(domain.unit_begin(40), 40u);
  for (const std::uint64_t cut : domain.cut(7, 1)) {
    EXPECT_TRUE(cut <= 10 || cut == 40 || cut == 70) << cut;
  }
}

}  // namespace
}  // namespace slabmark
