#include <gtest/gtest.h>

#include "bench/map/decomposition.hpp"

namespace slabmark {
namespace {

const MapHeader header{.dims = {4, 25}, .recorded_ranks = 1};

TEST(Coverages, OfAMapDealtOutInTurnIsComplete) {
  const Comm comm(MPI_COMM_WORLD);
  RunList runs;
  for (auto i = static_cast<std::uint64_t>(comm.rank()); i < 20; i += comm.size()) {
    runs.push_back({5 * i, 5});
  }
  const Coverage found = coverage(comm, header, runs);
  EXPECT_EQ(found.elements, 100);
  EXPECT_EQ(found.covered, 100);
  EXPECT_EQ(found.overlaps, 0);
}

TEST(Coverages, AnElementOfAllRanksCountsOnceAsOverlapAndOnceAsCovered) {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "one rank cannot overlap with another";
  const Coverage found = coverage(comm, header, {{40, 3}});
  EXPECT_EQ(found.covered, 3);
  EXPECT_EQ(found.overlaps, 3);
  EXPECT_EQ(found.first_overlap, 40);
}

TEST(Coverages, OverlapsWithinARankAreCountedElementByElement) {
  const Comm comm(MPI_COMM_WORLD);
  // 10..19 holds 12..13 and 15..24; 16..17 is owned three times.
  const RunList runs = {{10, 10}, {12, 2}, {15, 10}, {16, 2}};
  const Coverage found = coverage(comm, header, comm.is_root() ? runs : RunList{});
  EXPECT_EQ(found.covered, 15);
  EXPECT_EQ(found.overlaps, 2 + 5);
  EXPECT_EQ(found.first_overlap, 12);
}

TEST(Coverages, HolesAreNotCovered) {
  const Comm comm(MPI_COMM_WORLD);
  const Coverage found =
      coverage(comm, header, comm.is_root() ? RunList{{0, 1}, {99, 1}} : RunList{});
  EXPECT_EQ(found.covered, 2);
  EXPECT_EQ(found.overlaps, 0);
}

}  // namespace
}  // namespace slabmark
