#include "collective/exchange/run_exchange.hpp"

#include <gtest/gtest.h>

namespace slabmark {
namespace {

/// What rank `from` sends to rank `to`: a list that only these two have, empty for some pairs.
RunList message(int from, int to) {
  RunList runs;
  const auto count = static_cast<std::uint64_t>((from * 5 + to * 3) % 7);
  for (std::uint64_t i = 0; i < count; ++i) {
    runs.push_back({static_cast<std::uint64_t>(1000 * from + 100 * to) + i, i + 1});
  }
  return runs;
}

/// Brings the messages of this rank to `exchange_runs` and expects those of the others.
void expect_delivery(const Comm& comm, std::uint64_t most_per_message) {
  std::vector<RunList> outgoing, expected;
  for (int r = 0; r < comm.size(); ++r) {
    outgoing.push_back(message(comm.rank(), r));
    expected.push_back(message(r, comm.rank()));
  }
  EXPECT_EQ(exchange_runs(comm, outgoing, most_per_message), expected);
}

TEST(RunExchange, DeliversTheListOfEachSender) { expect_delivery(Comm(MPI_COMM_WORLD), 1000); }

TEST(RunExchange, DeliversListsOfMoreThanAMessage) {
  const Comm comm(MPI_COMM_WORLD);
  for (const std::uint64_t most : {1, 2, 3}) expect_delivery(comm, most);
}

TEST(RunExchange, OfNothingDeliversNothing) {
  const Comm comm(MPI_COMM_WORLD);
  const std::vector<RunList> none(static_cast<std::size_t>(comm.size()));
  EXPECT_EQ(exchange_runs(comm, none), none);
}

}  // namespace
}  // namespace slabmark
