#include "bench/measure/stopping.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

struct Outcome {
  std::size_t trials;
  StopReason reason;

  bool operator==(const Outcome&) const = default;
};

void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << outcome.trials << " trials, " << name_of(outcome.reason);
}

/// Hands out `drawn` one by one, each taking its own seconds, until the rule stops.
Outcome play(const StoppingRule& rule, const std::vector<double>& drawn) {
  double elapsed = 0.0;
  for (std::size_t trials = 1; trials <= drawn.size(); ++trials) {
    elapsed += drawn[trials - 1];
    const auto reason = rule.reason_to_stop(std::span(drawn).first(trials), elapsed);
    if (reason) return {trials, *reason};
  }
  ADD_FAILURE() << "the rule went on beyond the drawn trials";
  return {};
}

std::vector<double> alternating(std::size_t count, double a, double b) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(i % 2 == 0 ? a : b);
  return values;
}

TEST(StoppingRules, StopSteadyTimesAtTheLeastNumberOfTrials) {
  const Outcome expected{10, StopReason::precise};
  EXPECT_EQ(play(StoppingRule{}, alternating(40, 1.0, 1.01)), expected);
}

TEST(StoppingRules, GoOnUntilTheIntervalIsNarrow) {
  // Ten times 1.0 and 1.2 in turn, then always 1.1. Sorted: five 1.0, some 1.1, five 1.2. The
  // interval leaves out its first five values only from 20 trials on, where it is x(6) to x(15).
  std::vector<double> drawn = alternating(10, 1.0, 1.2);
  drawn.resize(40, 1.1);
  const Outcome expected{20, StopReason::precise};
  EXPECT_EQ(play(StoppingRule{}, drawn), expected);
}

TEST(StoppingRules, GiveUpOnScatteredTimesAtTheTrialLimit) {
  const Outcome expected{30, StopReason::trial_limit};
  EXPECT_EQ(play(StoppingRule{}, alternating(40, 1.0, 2.0)), expected);
}

TEST(StoppingRules, NeverCallARangePrecise) {
  const StoppingRule rule{.min_trials = 5};
  const Outcome expected{6, StopReason::precise};
  EXPECT_EQ(play(rule, std::vector<double>(40, 1.0)), expected);
}

TEST(StoppingRules, StopAtTheTimeBudget) {
  const StoppingRule rule{.time_budget = 11.5};
  // Trials of 1 and 2 s: 7 trials take 10 s, 8 take 12 s.
  const Outcome expected{8, StopReason::time_budget};
  EXPECT_EQ(play(rule, alternating(40, 1.0, 2.0)), expected);
}

TEST(StoppingRules, GrantFiveTrialsWhateverTheBudget) {
  const StoppingRule rule{.time_budget = 0.5};
  const Outcome expected{5, StopReason::time_budget};
  EXPECT_EQ(play(rule, alternating(40, 1.0, 2.0)), expected);
}

TEST(StoppingRules, PreferPrecisionToOtherReasonsThatHoldAsWell) {
  // At the sixth trial the limit is reached and the budget is spent.
  const StoppingRule rule{.min_trials = 5, .max_trials = 6, .time_budget = 5.5};
  const Outcome precise{6, StopReason::precise};
  EXPECT_EQ(play(rule, {1, 1, 1, 1, 1, 1}), precise);
  const Outcome limit{6, StopReason::trial_limit};
  EXPECT_EQ(play(rule, {1, 1, 1, 1, 1, 1.4}), limit);
}

TEST(StoppingRules, RunAFixedNumberHoweverSteadyAndSlow) {
  StoppingRule rule = fixed_trials(3);
  rule.time_budget = 0.1;
  const Outcome expected{3, StopReason::fixed};
  EXPECT_EQ(play(rule, {1, 1, 1, 1}), expected);
  EXPECT_EQ(play(fixed_trials(12), std::vector<double>(20, 1.0)), (Outcome{12, StopReason::fixed}));
}

TEST(StoppingRules, ExpectAtLeastTheLeastNumberOfTrials) {
  EXPECT_EQ(StoppingRule{}.seconds_left(std::vector<double>(4, 1.0), 8.0, 2.0), 12.0);
  EXPECT_EQ(fixed_trials(3).seconds_left(std::vector<double>(1, 1.0), 2.0, 2.0), 4.0);
  EXPECT_EQ(fixed_trials(3).seconds_left({}, 0.0, 2.0), 6.0);
}

TEST(StoppingRules, ExpectAsManyTrialsAsNarrowTheInterval) {
  // The interval of 10 trials is [1.0, 1.2], 9.1 % of its median to either side.
  const StoppingRule rule{.precision = 0.08};
  EXPECT_NEAR(rule.seconds_left(alternating(10, 1.0, 1.2), 20.0, 2.0), 2.0 * (12.9 - 10), 0.1);
  EXPECT_EQ(StoppingRule{}.seconds_left(alternating(10, 1.0, 4.0), 20.0, 2.0), 2.0 * (30 - 10));
}

TEST(StoppingRules, ExpectNoMoreThanTheTimeBudget) {
  const StoppingRule rule{.time_budget = 20.0};
  EXPECT_EQ(rule.seconds_left(std::vector<double>(6, 1.0), 18.0, 3.0), 2.0);
  EXPECT_EQ(rule.seconds_left(std::vector<double>(3, 1.0), 21.0, 7.0), 14.0);
}

TEST(StoppingRules, ThatCannotWorkAreRefused) {
  EXPECT_NO_THROW(check(StoppingRule{}));
  EXPECT_NO_THROW(check(fixed_trials(1)));
  EXPECT_THROW(check(fixed_trials(0)), InputError);
  EXPECT_THROW(check(StoppingRule{.min_trials = 31}), InputError);
  EXPECT_THROW(check(StoppingRule{.min_trials = 4}), InputError);
  EXPECT_THROW(check(StoppingRule{.precision = 0.0}), InputError);
  EXPECT_THROW(check(StoppingRule{.time_budget = -1.0}), InputError);
}

}  // namespace
}  // namespace slabmark
