#include "exchange/run_exchange.hpp"

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
  RunList outgoing, expected;
  std::vector<std::uint64_t> counts;
  for (int r = 0; r < comm.size(); ++r) {
    const RunList sent = message(comm.rank(), r);
    counts.push_back(sent.size());
    outgoing.insert(outgoing.end(), sent.begin(), sent.end());
    const RunList due = message(r, comm.rank());
    expected.insert(expected.end(), due.begin(), due.end());
  }
  EXPECT_EQ(exchange_runs(comm, outgoing, counts, most_per_message), expected);
}

TEST(RunExchange, DeliversTheListsInTheOrderOfTheirSenders) {
  expect_delivery(Comm(MPI_COMM_WORLD), 1000);
}

TEST(RunExchange, DeliversListsOfMoreThanAMessage) {
  const Comm comm(MPI_COMM_WORLD);
  for (const std::uint64_t most : {1, 2, 3}) expect_delivery(comm, most);
}

TEST(RunExchange, OfNothingDeliversNothing) {
  const Comm comm(MPI_COMM_WORLD);
  const std::vector<std::uint64_t> none(static_cast<std::size_t>(comm.size()), 0);
  EXPECT_TRUE(exchange_runs(comm, {}, none).empty());
}

}  // namespace
}  // namespace slabmark
