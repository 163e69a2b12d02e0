#include "collective/exchange/last_writer.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

struct Held {
  RunList runs;
  std::vector<WriteOrder> orders;
};

/// The same on all ranks; most runs touch the next one, and few orders are equal.
Held drawn(std::mt19937_64& random, std::uint64_t total) {
  Held held;
  for (std::uint64_t at = random() % 4; at < total;) {
    const auto length = std::min(1 + random() % 5, total - at);
    held.runs.push_back({at, length});
    held.orders.push_back({random() % 3, random() % 3});
    at += length + (random() % 3 == 0 ? random() % 6 : 0);
  }
  return held;
}

TEST(LastWriter, LosesNoElementAndTheOthersAllThatTheyShareWithIt) {
  const Comm comm(MPI_COMM_WORLD);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t total = random() % 60;
    using Claim = std::tuple<WriteOrder, int>;
    std::map<std::uint64_t, Claim> last;
    std::map<std::uint64_t, int> holders;
    Held mine;
    for (int r = 0; r < comm.size(); ++r) {
      const Held held = drawn(random, total);
      if (r == comm.rank()) mine = held;
      for (std::size_t i = 0; i < held.runs.size(); ++i) {
        for (auto at = held.runs[i].offset; at < held.runs[i].end(); ++at) {
          last[at] = std::max(last[at], Claim{held.orders[i], r});
          ++holders[at];
        }
      }
    }
    RunList expected;
    for (const auto& run : mine.runs) {
      for (auto at = run.offset; at < run.end(); ++at) {
        if (std::get<int>(last[at]) != comm.rank()) append(expected, {at, 1});
      }
    }
    bool asked = false;
    const auto lost = overwritten_by_others(comm, mine.runs, total, [&](auto indices) {
      asked = true;
      std::vector<WriteOrder> orders;
      for (const auto i : indices) orders.push_back(mine.orders[i]);
      return orders;
    });
    EXPECT_EQ(lost, expected) << seed;
    const bool overlap =
        std::any_of(holders.begin(), holders.end(), [](const auto& one) { return one.second > 1; });
    EXPECT_EQ(asked, overlap) << seed;
    EXPECT_EQ(ranks_overlap(comm, mine.runs, total), overlap) << seed;
  }
}

}  // namespace
}  // namespace slabmark
