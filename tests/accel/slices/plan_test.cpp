#include "accel/slices/plan.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace slabmark::slice {
namespace {

BlockedField field_of(std::array<std::uint64_t, 3> processes) {
  BlockedField field;
  field.points = {24, 20, 16};
  field.processes = processes;
  field.halo = 1;
  return field;
}

Slice plane(const BlockedField& field, std::size_t normal, std::uint64_t position) {
  return plane_of(whole_field(field), normal, position);
}

/// Bytes that change ranks in one output.
std::uint64_t moved(const BlockedField& field, const Slice& slice, const std::vector<int>& writers,
                    std::uint64_t ranks) {
  std::uint64_t bytes = 0;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    bytes += make_plan(field, slice, 1, ElementType::float64, writers, rank).send_bytes;
  }
  return bytes;
}

TEST(Writers, OfAPlaneThatOneRankOwnsIsThatRankWhicheverFileItIs) {
  const auto field = field_of({4, 1, 1});
  for (std::uint64_t first = 0; first < 4; ++first) {
    const auto slice = plane(field, 0, 13);  // in the block of rank 2
    const auto writers = choose_writers(field, slice, 1, 1, first);
    EXPECT_EQ(writers, std::vector<int>{2});
    EXPECT_EQ(moved(field, slice, writers, 4), 0U);
  }
}

TEST(Writers, AreDifferentForFilesWhosePlanesAllRanksShare) {
  const auto field = field_of({4, 1, 1});
  std::set<int> writers;
  for (std::uint64_t first = 0; first < 4; ++first) {
    writers.insert(choose_writers(field, plane(field, 2, 3), 1, 1, first).front());
  }
  EXPECT_EQ(writers.size(), 4U);
}

TEST(Writers, HaveTheirOwnPartWhereAllRanksWriteWholeRows) {
  const auto field = field_of({1, 4, 1});
  for (std::uint64_t first = 0; first < 3; ++first) {
    const auto slice = plane(field, 2, 3);
    const auto writers = choose_writers(field, slice, 1, 4, first);
    EXPECT_EQ(moved(field, slice, writers, 4), 0U) << "file " << first;
  }
}

TEST(Writers, AreAllDifferentAlsoWhereFewRanksOwnThePlane) {
  const auto field = field_of({2, 2, 2});
  for (std::uint64_t count = 1; count <= 8; ++count) {
    for (std::size_t normal = 0; normal < 3; ++normal) {
      const auto writers = choose_writers(field, plane(field, normal, 15), 3, count, 1);
      EXPECT_EQ(std::set<int>(writers.begin(), writers.end()).size(), count);
    }
  }
}

TEST(Writers, AreSpreadOverTheRanksThatShareThePlane) {
  const auto field = field_of({8, 1, 1});
  auto writers = choose_writers(field, plane(field, 2, 3), 1, 2, 0);
  std::sort(writers.begin(), writers.end());
  EXPECT_EQ(writers, (std::vector<int>{0, 4})) << "neighbours are often on one node";
}

TEST(Writers, OfMoreThanThereAreRowsAreStillRanks) {
  const auto field = field_of({4, 1, 1});
  auto line = plane(field, 2, 3);
  line.ranges[1] = {7, 8, 1};
  auto writers = choose_writers(field, line, 1, 4, 0);
  std::sort(writers.begin(), writers.end());
  std::vector<int> all(4);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(writers, all);
}

}  // namespace
}  // namespace slabmark::slice
