#include "parallel/comm.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace slabmark {
namespace {

TEST(Comm, IsADuplicateOfWhatItIsGiven) {
  const Comm comm(MPI_COMM_WORLD);
  int relation = 0;
  MPI_Comm_compare(comm.get(), MPI_COMM_WORLD, &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT);
}

TEST(Comm, SumBeforeCountsTheLowerRanksOnly) {
  const Comm comm(MPI_COMM_WORLD);
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  EXPECT_EQ(comm.sum_before(10), 10 * rank);
}

TEST(Comm, ReductionsKeep64Bits) {
  const Comm comm(MPI_COMM_WORLD);
  const std::uint64_t large = 1ull << 60;
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  EXPECT_EQ(comm.max(large + rank), large + static_cast<std::uint64_t>(comm.size()) - 1);
  EXPECT_EQ(comm.min(large + rank), large);
}

TEST(Comm, GatherKeepsTheOrderOfRanksAndTextOfAnyLength) {
  const Comm comm(MPI_COMM_WORLD);
  const std::vector<std::string> all =
      comm.gather(std::string(static_cast<std::size_t>(comm.rank()), 'x'));
  if (!comm.is_root()) {
    EXPECT_TRUE(all.empty());
    return;
  }
  ASSERT_EQ(all.size(), static_cast<std::size_t>(comm.size()));
  for (std::size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r], std::string(r, 'x'));
}

TEST(Comm, BroadcastCarriesTextThatOtherRanksDoNotKnowTheLengthOf) {
  const Comm comm(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  EXPECT_EQ(comm.broadcast(comm.rank() == last ? "a sentence" : "", last), "a sentence");
}

TEST(Comm, AnMpiErrorBecomesASentenceWithTheCall) {
  const Comm comm(MPI_COMM_WORLD);
  int value = 0;
  try {
    check_mpi(MPI_Bcast(&value, 1, MPI_INT, comm.size(), comm.get()), "MPI_Bcast");
    FAIL() << "a root beyond the ranks was accepted";
  } catch (const IoError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("MPI_Bcast failed: ")) << error.what();
  }
}

}  // namespace
}  // namespace slabmark
