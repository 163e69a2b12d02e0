#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace slabmark {

/// Why a cell got no further trials.
enum class StopReason {
  precise,      ///< the median's interval is narrow enough
  trial_limit,  ///< the greatest number of trials was reached
  time_budget,  ///< the time budget was spent
  fixed,        ///< the user asked for just this number of trials
};

/// "precise", "trial limit", "time budget", "fixed".
std::string_view name_of(StopReason reason);

/// When a cell has been measured well enough. Trials are counted without the warm-up.
struct StoppingRule {
  /// No budget stops a cell before this many trials: fewer say nothing about their spread.
  static constexpr std::uint64_t least_trials = 5;

  std::uint64_t min_trials = 10;
  std::uint64_t max_trials = 30;
  double precision = 0.05;  ///< the interval's half-width as a share of the median
  double time_budget = std::numeric_limits<double>::infinity();  ///< seconds

  /// Nothing: go on. `seconds` are the trials so far, `elapsed` the seconds that the cell has used
  /// up, pauses included. A range (fewer than 6 trials) is never precise. The budget ends a cell
  /// that has least_trials, even if min_trials are not reached. If several reasons hold, the first
  /// of precise, trial_limit (or fixed) and time_budget is given; a rule whose min_trials equal its
  /// max_trials has no choice and always ends as fixed.
  std::optional<StopReason> reason_to_stop(std::span<const double> seconds, double elapsed) const;

  /// Seconds that a cell is likely to take still, at `per_trial` seconds for each trial: up to
  /// min_trials, and after these until the interval is narrow enough, if its width falls with the
  /// square root of the number of trials.
  double seconds_left(std::span<const double> seconds, double elapsed, double per_trial) const;
};

/// Just `trials` trials, as the five original programs run them: 1 or more.
StoppingRule fixed_trials(std::uint64_t trials);

/// Throws InputError if the rule cannot work: no trials, min over max, min under least_trials
/// unless the number is fixed, a precision or time budget that is not positive.
void check(const StoppingRule& rule);

}  // namespace slabmark
