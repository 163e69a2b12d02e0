#include "core/parallel/agree.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "core/base/host_name.hpp"

namespace slabmark {
namespace {

// The InputError (2) or IoError (1) that `stage` ends in on this rank, as "2: message".
std::string outcome(const Comm& comm, const std::function<void()>& stage) {
  try {
    agreed(comm, stage);
  } catch (const InputError& error) {
    return std::string("2: ") + error.what();
  } catch (const IoError& error) {
    return std::string("1: ") + error.what();
  }
  return "well";
}

TEST(Agree, ReturnsIfEveryRankIsWell) {
  const Comm comm(MPI_COMM_WORLD);
  EXPECT_EQ(outcome(comm, [] {}), "well");
}

TEST(Agree, EveryRankThrowsTheErrorOfTheOneThatFailed) {
  const Comm comm(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  const std::string result = outcome(comm, [&] {
    if (comm.rank() == last) throw InputError("The map is torn.");
  });
  const std::string who =
      last == 0 ? "" : "rank " + std::to_string(last) + " on host " + host_name() + ": ";
  EXPECT_EQ(result, "2: " + who + "The map is torn.");
}

TEST(Agree, TheLowestFailingRankSpeaksForAll) {
  const Comm comm(MPI_COMM_WORLD);
  const std::string result =
      outcome(comm, [&] { throw IoError("This is rank " + std::to_string(comm.rank()) + "."); });
  EXPECT_EQ(result, "1: This is rank 0.");
}

TEST(Agree, AnExceptionThatIsNotOursCountsAsFailed) {
  const Comm comm(MPI_COMM_WORLD);
  const std::string result = outcome(comm, [] { throw std::out_of_range("index 7"); });
  EXPECT_EQ(result, "1: Internal error: index 7.");
}

TEST(Agree, LaterStagesWorkAfterAFailedOne) {
  const Comm comm(MPI_COMM_WORLD);
  outcome(comm, [] { throw IoError("first"); });
  EXPECT_EQ(outcome(comm, [] {}), "well");
}

}  // namespace
}  // namespace slabmark
