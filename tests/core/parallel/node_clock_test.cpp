#include "core/parallel/node_clock.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

TEST(NodeClock, IsTheSameOnOneNode) {
  const Comm comm(MPI_COMM_WORLD);
  std::uint64_t before = 0;  // each rank looks at it after the one before it has told
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto now = comm.broadcast(node_time(), rank);
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_EQ(clock_ahead_of_root(comm), 0);
}

TEST(NodeClock, OfOthersIsAheadByWhatItIs) {
  const Comm comm(MPI_COMM_WORLD);
  constexpr std::int64_t hour = 3600 * std::int64_t{1'000'000'000};
  const std::int64_t expected = (comm.rank() % 2 == 0 ? 1 : -1) * hour * comm.rank();
  const auto start = node_time();
  const auto ahead = clock_ahead_of_root(
      comm, [&] { return node_time() + static_cast<std::uint64_t>(20 * hour + expected); });
  // No message takes longer than all of them together.
  const auto took = static_cast<std::int64_t>(comm.max(node_time() - start));
  EXPECT_LE(std::abs(ahead - expected), took);
}

}  // namespace
}  // namespace slabmark
