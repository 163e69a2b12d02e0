#include "core/parallel/subset.hpp"

#include <chrono>
#include <ctime>
#include <thread>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(FirstRanks, AreTheLowestInTheirOrderAndTheOthersGetNone) {
  const Comm comm(MPI_COMM_WORLD);
  for (int count = 1; count <= comm.size(); ++count) {
    const auto part = first_ranks(comm, count);
    ASSERT_EQ(part != nullptr, comm.rank() < count);
    if (!part) continue;
    EXPECT_EQ(part->size(), count);
    EXPECT_EQ(part->rank(), comm.rank());
    EXPECT_EQ(part->sum(1), static_cast<std::uint64_t>(count));
  }
}

TEST(SleepingBarriers, HoldEveryRankUntilTheLastComes) {
  const Comm comm(MPI_COMM_WORLD);
  comm.barrier();
  const auto start = std::chrono::steady_clock::now();
  if (comm.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  sleeping_barrier(comm);
  const double waited =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GE(comm.max(waited), 0.1);
}

TEST(SleepingBarriers, LeaveTheCoreToThoseThatWork) {
  const Comm comm(MPI_COMM_WORLD);
  comm.barrier();
  const double before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  if (comm.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  sleeping_barrier(comm);
  const double used = cpu_seconds() - before;
  const double waited =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(used, waited / 2) << "a rank that spins uses as much processor time as it waits";
}

}  // namespace
}  // namespace slabmark
