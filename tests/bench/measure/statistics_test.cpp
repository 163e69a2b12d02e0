#include "bench/measure/statistics.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<double> counting(std::uint64_t count) {
  std::vector<double> values;
  for (std::uint64_t i = 1; i <= count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median(std::vector{3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median(std::vector{4.0, 1.0, 2.0, 3.0}), 2.5);
  EXPECT_EQ(median({}), 0.0);
}

TEST(RankSummaries, MatchACaseComputedByHand) {
  const RankSummary summary = summarise_ranks(std::vector{2.0, 10.0, 4.0, 4.0});
  EXPECT_EQ(summary.ranks, 4u);
  EXPECT_EQ(summary.min, 2.0);
  EXPECT_EQ(summary.median, 4.0);
  EXPECT_EQ(summary.mean, 5.0);
  EXPECT_EQ(summary.max, 10.0);
  EXPECT_EQ(summary.variance, 9.0);  // (9 + 25 + 1 + 1) / 4: by the ranks, not by one less
  EXPECT_EQ(summary.slowest, 1u);
  EXPECT_EQ(summary.imbalance, 2.0);
}

TEST(RankSummaries, NameTheLowestOfEquallySlowRanks) {
  EXPECT_EQ(summarise_ranks(std::vector{1.0, 7.0, 7.0, 7.0}).slowest, 1u);
}

TEST(RankSummaries, CallRanksThatSpentNothingBalanced) {
  const RankSummary summary = summarise_ranks(std::vector{0.0, 0.0});
  EXPECT_EQ(summary.imbalance, 1.0);
  EXPECT_EQ(summary.ranks, 2u);
}

TEST(MedianIntervals, AreTheTabulatedOrderStatistics) {
  struct Row {
    std::uint64_t count, first, last;
    double coverage;
  };
  // Coverages are 1 - 2 P(Binomial(count, 1/2) < first), worked out with exact fractions.
  for (const Row& row : {Row{5, 1, 5, 0.9375}, Row{6, 1, 6, 0.96875}, Row{9, 2, 8, 0.9609375},
                         Row{10, 2, 9, 0.978515625}, Row{20, 6, 15, 0.9586105346679688},
                         Row{30, 10, 21, 0.9572260547429323}}) {
    const MedianInterval interval = median_interval(row.count);
    EXPECT_EQ(interval.first, row.first) << row.count;
    EXPECT_EQ(interval.last, row.last) << row.count;
    EXPECT_NEAR(interval.coverage, row.coverage, 1e-12) << row.count;
  }
}

TEST(MedianIntervals, WorkWhereTwoToTheMinusCountUnderflows) {
  const MedianInterval interval = median_interval(5000);
  EXPECT_GE(interval.coverage, 0.95);
  EXPECT_LT(interval.coverage, 0.955);
  // The normal approximation, n/2 - 1.96 sqrt(n)/2, gives 2430.7.
  EXPECT_NEAR(static_cast<double>(interval.first), 2430.7, 1.5);
  EXPECT_EQ(interval.last, 5001 - interval.first);
}

TEST(MedianIntervals, CoverTheTrueMedianAsOftenAsTheySay) {
  // Exponential times are as skewed as I/O gets; their median is ln 2. Inversion by hand, since the
  // standard's distributions differ between libraries.
  std::mt19937_64 random(20260131);
  const auto exponential = [&random] {
    return -std::log((static_cast<double>(random() >> 11) + 0.5) * 0x1p-53);
  };
  constexpr int experiments = 20000;
  int covered = 0;
  for (int i = 0; i < experiments; ++i) {
    std::vector<double> times;
    for (int t = 0; t < 10; ++t) times.push_back(exponential());
    const TrialSummary summary = summarise_trials(times);
    if (summary.low <= std::log(2.0) && std::log(2.0) <= summary.high) ++covered;
  }
  // One standard error is 0.001.
  EXPECT_NEAR(static_cast<double>(covered) / experiments, 0.9785, 0.004);
}

TEST(TrialSummaries, MatchACaseComputedByHand) {
  const TrialSummary summary = summarise_trials(counting(10));
  EXPECT_EQ(summary.trials, 10u);
  EXPECT_EQ(summary.min, 1.0);
  EXPECT_EQ(summary.median, 5.5);
  EXPECT_EQ(summary.mean, 5.5);
  EXPECT_EQ(summary.max, 10.0);
  EXPECT_EQ(summary.low, 2.0);
  EXPECT_EQ(summary.high, 9.0);
  EXPECT_FALSE(summary.is_range);
  EXPECT_DOUBLE_EQ(summary.half_width, 3.5 / 5.5);
  EXPECT_DOUBLE_EQ(summary.variation, std::sqrt(8.25) / 5.5);
  EXPECT_TRUE(summary.outliers.empty());
}

TEST(TrialSummaries, DoNotDependOnTheOrderOfTheTrials) {
  const std::vector<double> shuffled = {7, 1, 9, 3, 5, 10, 2, 8, 4, 6};
  EXPECT_EQ(summarise_trials(shuffled), summarise_trials(counting(10)));
}

TEST(TrialSummaries, OfFewerThanSixTrialsGiveTheRangeAndSaySo) {
  const TrialSummary five = summarise_trials(counting(5));
  EXPECT_TRUE(five.is_range);
  EXPECT_EQ(five.low, 1.0);
  EXPECT_EQ(five.high, 5.0);
  EXPECT_LT(five.coverage, 0.95);
  EXPECT_FALSE(summarise_trials(counting(6)).is_range);
}

TEST(TrialSummaries, OfOneTrialHaveNoWidthAndCoverNothing) {
  const TrialSummary one = summarise_trials(std::vector{2.0});
  EXPECT_EQ(one.low, 2.0);
  EXPECT_EQ(one.high, 2.0);
  EXPECT_EQ(one.half_width, 0.0);
  EXPECT_EQ(one.coverage, 0.0);
}

TEST(TrialSummaries, OfAMedianOfZeroHaveNoFiniteRelativeWidth) {
  EXPECT_EQ(summarise_trials(std::vector{0.0, 0.0, 1.0}).half_width, infinite);
  EXPECT_EQ(summarise_trials(std::vector{0.0, 0.0, 0.0}).half_width, 0.0);
}

TEST(Outliers, AreFlaggedAboveTheThresholdAndKept) {
  // Median 1.025; distances 0.025, 0.075, 0.125, 0.025, 0.075 and that of the last value, hence a
  // median absolute deviation of 0.075. A last value of 2.0 scores 13, one of 3.0 scores 26.3.
  EXPECT_TRUE(summarise_trials(std::vector{1.0, 1.1, 0.9, 1.05, 0.95, 2.0}).outliers.empty());
  const TrialSummary summary = summarise_trials(std::vector{1.0, 1.1, 3.0, 0.9, 1.05, 0.95});
  EXPECT_EQ(summary.outliers, std::vector<std::uint64_t>{2}) << "the trial's own number";
  EXPECT_EQ(summary.max, 3.0);
  EXPECT_EQ(summary.trials, 6u);
}

TEST(Outliers, AreWhateverDiffersWhereMostValuesAreEqual) {
  EXPECT_EQ(modified_z_scores(std::vector{1.0, 1.0, 1.0, 1.0, 2.0}),
            (std::vector{0.0, 0.0, 0.0, 0.0, infinite}));
  EXPECT_TRUE(summarise_trials(std::vector{1.0, 1.0, 1.0}).outliers.empty());
}

TEST(Rates, AreBytesByMedianSecondsWithTheIntervalTurnedRound) {
  const std::optional<Rate> rate = rate_of(90, summarise_trials(counting(10)));
  ASSERT_TRUE(rate.has_value());
  EXPECT_DOUBLE_EQ(rate->median, 90 / 5.5);
  EXPECT_DOUBLE_EQ(rate->low, 10.0);
  EXPECT_DOUBLE_EQ(rate->high, 45.0);
}

TEST(Rates, AreNotTheMeanOfTheTrialsRates) {
  // 1 s and 3 s for 6 bytes: 6 and 2 bytes a second average to 4, but 2 s is the middle.
  EXPECT_DOUBLE_EQ(rate_of(6, summarise_trials(std::vector{1.0, 3.0}))->median, 3.0);
}

TEST(Rates, DoNotExistForWhatTookNoTime) {
  EXPECT_FALSE(rate_of(8, summarise_trials(std::vector{0.0, 1.0})).has_value());
  EXPECT_FALSE(rate_of(8, TrialSummary{}).has_value());
}

}  // namespace
}  // namespace slabmark
