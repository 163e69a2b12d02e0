#include "bench/measure/stopping.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bench/measure/statistics.hpp"
#include "core/base/error.hpp"
#include "core/base/words.hpp"

namespace slabmark {

namespace {

bool is_fixed(const StoppingRule& rule) { return rule.min_trials == rule.max_trials; }

}  // namespace

std::string_view name_of(StopReason reason) {
  static constexpr Word<StopReason> reasons[] = {{"precise", StopReason::precise},
                                                 {"trial limit", StopReason::trial_limit},
                                                 {"time budget", StopReason::time_budget},
                                                 {"fixed", StopReason::fixed}};
  return word_for(reason, reasons);
}

std::optional<StopReason> StoppingRule::reason_to_stop(std::span<const double> seconds,
                                                       double elapsed) const {
  const std::uint64_t trials = seconds.size();
  if (is_fixed(*this) && trials >= max_trials) return StopReason::fixed;
  if (trials >= min_trials && trials >= fewest_for_interval &&
      summarise_trials(seconds).half_width < precision) {
    return StopReason::precise;
  }
  if (trials >= max_trials) return StopReason::trial_limit;
  if (trials >= least_trials && elapsed >= time_budget) return StopReason::time_budget;
  return std::nullopt;
}

double StoppingRule::seconds_left(std::span<const double> seconds, double elapsed,
                                  double per_trial) const {
  const double done = static_cast<double>(seconds.size());
  double needed =
      static_cast<double>(is_fixed(*this) ? max_trials : std::max(min_trials, fewest_for_interval));
  if (done >= needed) {
    const double ratio = summarise_trials(seconds).half_width / precision;
    needed = std::max(done + 1.0, done * ratio * ratio);
  }
  const auto up_to = [&](double trials) { return std::max(0.0, trials - done) * per_trial; };
  return std::min(up_to(std::min(needed, static_cast<double>(max_trials))),
                  std::max(time_budget - elapsed, up_to(static_cast<double>(least_trials))));
}

StoppingRule fixed_trials(std::uint64_t trials) {
  return StoppingRule{.min_trials = trials, .max_trials = trials};
}

void check(const StoppingRule& rule) {
  if (rule.max_trials == 0) {
    throw InputError("A cell needs at least one trial: the number of trials cannot be 0.");
  }
  if (rule.min_trials > rule.max_trials) {
    throw InputError(fmt::format(
        "The least number of trials ({}) is above the greatest ({}): raise the greatest.",
        rule.min_trials, rule.max_trials));
  }
  if (!is_fixed(rule) && rule.min_trials < StoppingRule::least_trials) {
    throw InputError(fmt::format(
        "The least number of trials is {}, but fewer than {} say nothing about their spread: raise "
        "it, or ask for a fixed number of trials.",
        rule.min_trials, StoppingRule::least_trials));
  }
  if (!(rule.precision > 0.0)) {
    throw InputError(fmt::format(
        "The precision is {}, but it must be above 0, for example 0.05 for 5 % of the median.",
        rule.precision));
  }
  if (!(rule.time_budget > 0.0)) {
    throw InputError(
        fmt::format("The time budget is {} seconds, but it must be above 0.", rule.time_budget));
  }
}

}  // namespace slabmark
