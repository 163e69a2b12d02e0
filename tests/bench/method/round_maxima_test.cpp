#include "bench/method/shared/round_maxima.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

/// Two transfers in even rounds, one in odd ones; rank r selects r + round elements first.
Pattern growing(const Comm& comm) {
  Pattern pattern;
  pattern.datasets = {{"a", ElementType::uint8, {{"x", 100}}, false, std::nullopt}};
  pattern.rounds = 3;
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  pattern.transfers = [rank](std::uint64_t round) {
    std::vector<Transfer> transfers;
    const auto elements = rank + round;
    transfers.push_back(
        {0, 0, elements == 0 ? select_none({100}) : select_row_runs({100}, {{0, elements}}),
         nullptr});
    if (round % 2 == 0) transfers.push_back({0, 0, select_all({100}), nullptr});
    return transfers;
  };
  return pattern;
}

void of_each_transfer(const std::vector<Transfer>& transfers, std::vector<std::uint64_t>& out) {
  for (const auto& transfer : transfers) out.push_back(transfer.file->element_count());
}

TEST(RoundMaxima, EachNumberIsTheLargestOverTheRanks) {
  const Comm comm(MPI_COMM_WORLD);
  const RoundMaxima maxima(comm, growing(comm), of_each_transfer);
  const auto last = static_cast<std::uint64_t>(comm.size() - 1);
  for (std::uint64_t round = 0; round < 3; ++round) EXPECT_EQ(maxima.at(round, 0), last + round);
  EXPECT_EQ(maxima.at(0, 1), 100u);
  EXPECT_EQ(maxima.at(2, 1), 100u);
}

TEST(RoundMaxima, RanksWithDifferentTransfersAreAnErrorInsteadOfAHang) {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "one rank cannot differ from itself";
  auto pattern = growing(comm);
  pattern.rounds = comm.is_root() ? 2 : 3;
  EXPECT_THROW(RoundMaxima(comm, pattern, of_each_transfer), IoError);
}

}  // namespace
}  // namespace slabmark
