#include "bench/measure/order.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

using Round = std::vector<std::size_t>;

TEST(TrialOrders, AreTheSameOnEveryStandardLibrary) {
  // Worked out with a separate implementation of the generator and of the shuffle.
  TrialOrder order(5, 42);
  EXPECT_EQ(order.next_round(), (Round{2, 3, 4, 0, 1}));
  EXPECT_EQ(order.next_round(), (Round{2, 3, 4, 0, 1}));
  EXPECT_EQ(order.next_round(), (Round{2, 4, 3, 1, 0}));
}

TEST(TrialOrders, ChangeWithTheSeed) {
  TrialOrder one(20, 1);
  TrialOrder two(20, 2);
  EXPECT_NE(one.next_round(), two.next_round());
  EXPECT_EQ(one.seed(), 1u);
}

TEST(TrialOrders, GiveEveryCellOneTurnARound) {
  TrialOrder order(17, 3);
  for (int i = 0; i < 10; ++i) {
    Round round = order.next_round();
    std::sort(round.begin(), round.end());
    for (std::size_t cell = 0; cell < 17; ++cell) EXPECT_EQ(round[cell], cell);
  }
}

TEST(TrialOrders, PreferNoOrder) {
  TrialOrder order(3, 7);
  std::map<Round, int> counts;
  for (int i = 0; i < 6000; ++i) ++counts[order.next_round()];
  ASSERT_EQ(counts.size(), 6u);
  // 1000 each with a standard deviation of 29.
  for (const auto& [round, count] : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(TrialOrders, OfOneCellOrNoneAreTrivial) {
  EXPECT_EQ(TrialOrder(1, 9).next_round(), Round{0});
  EXPECT_TRUE(TrialOrder(0, 9).next_round().empty());
}

}  // namespace
}  // namespace slabmark
