#include "core/parallel/comm.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

TEST(Comm, IsADuplicateOfWhatItIsGiven) {
  const Comm comm(MPI_COMM_WORLD);
  int relation = 0;
  MPI_Comm_compare(comm.get(), MPI_COMM_WORLD, &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT);
}

// The program's functions to free it may not work any more when ours goes.
TEST(Comm, HasNothingOfWhatIsAttachedToTheOther) {
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int key = MPI_KEYVAL_INVALID, value = 1, is_there = 1;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(other, key, &value);
  {
    const Comm comm(other);
    void* found = nullptr;
    MPI_Comm_get_attr(comm.get(), key, &found, &is_there);
  }
  EXPECT_FALSE(is_there);
  MPI_Comm_free(&other);
  MPI_Comm_free_keyval(&key);
}

TEST(Comm, SumBeforeCountsTheLowerRanksOnly) {
  const Comm comm(MPI_COMM_WORLD);
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  EXPECT_EQ(comm.sum_before(10), 10 * rank);
}

TEST(Comm, ReducesEachOfManyValuesByItself) {
  const Comm comm(MPI_COMM_WORLD);
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  const auto last = static_cast<std::uint64_t>(comm.size()) - 1;
  std::vector<std::uint64_t> values = {rank, 100 - rank};
  comm.max(std::span(values));
  EXPECT_EQ(values, (std::vector<std::uint64_t>{last, 100}));
  std::vector<std::uint8_t> bytes = {static_cast<std::uint8_t>(1 << rank), 0};
  comm.bitwise_or(bytes);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{static_cast<std::uint8_t>((2 << last) - 1), 0}));
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
