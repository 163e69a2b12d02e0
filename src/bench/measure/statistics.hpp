#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slabmark {

// Seconds are aggregated and rates derived from the aggregate, never the other way round, after
// T. Hoefler and R. Belli, "Scientific Benchmarking of Parallel Computing Systems", SC'15, rules 3
// and 4 (https://doi.org/10.1145/2807591.2807644).

/// One quantity (seconds, bytes) over the ranks of one trial, in the unit of the values.
struct RankSummary {
  std::uint64_t ranks = 0;
  double min = 0.0;
  double median = 0.0;
  double mean = 0.0;
  double max = 0.0;
  double variance = 0.0;      ///< mean squared distance from the mean: divided by the ranks
  std::uint64_t slowest = 0;  ///< the rank that holds the maximum, the lowest such rank
  std::string slowest_host;   ///< its host; empty where no hosts were given
  double imbalance = 1.0;     ///< max / mean; 1 if all values are 0

  bool operator==(const RankSummary&) const = default;
};

/// One quantity (seconds) over the trials of a cell, warm-up excluded, in the unit of the values.
struct TrialSummary {
  std::uint64_t trials = 0;
  double min = 0.0;
  double median = 0.0;
  double mean = 0.0;
  double max = 0.0;
  /// Interval of the median. With 6 trials or more it covers the true median with a probability of
  /// at least 95 %, whatever the distribution; with fewer it is the range from min to max.
  double low = 0.0;
  double high = 0.0;
  bool is_range = true;   ///< fewer than 6 trials: low and high are min and max
  double coverage = 0.0;  ///< probability that the interval covers the true median, in [0, 1)
  /// (high - low) / 2 / median; 0 for an interval of no width, infinite if only the median is 0.
  double half_width = 0.0;
  double variation = 0.0;               ///< coefficient of variation: standard deviation / mean
  std::vector<std::uint64_t> outliers;  ///< indices of outlying values: flagged, never removed

  /// The meaning of `low` and `high` in words: "95 % interval" or "range".
  std::string_view interval_name() const { return is_range ? "range" : "95 % interval"; }

  bool operator==(const TrialSummary&) const = default;
};

/// Bytes per second: bytes / median seconds, and the same transform of the interval's ends.
struct Rate {
  double median = 0.0;
  double low = 0.0;   ///< from the interval's high end
  double high = 0.0;  ///< from the interval's low end

  bool operator==(const Rate&) const = default;
};

/// Ranks `first` and `last` (1-based) of the order statistics that bound the median.
struct MedianInterval {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
  double coverage = 0.0;
};

/// Fewer values than this have no distribution-free 95 % interval of the median: the full range of
/// 5 values covers it with 1 - 2/2^5 = 93.75 % only, that of 6 with 96.9 %.
inline constexpr std::uint64_t fewest_for_interval = 6;

/// |value - median| / median absolute deviation above which a trial is flagged. For a normal
/// distribution 1.4826 such deviations are one standard deviation, so this is ten of them: I/O
/// times have long tails, and the 3.5 standard deviations that B. Iglewicz and D. Hoaglin, "How to
/// Detect and Handle Outliers" (ASQC, 1993) label would flag ordinary trials. The same threshold as
/// in hyperfine.
inline constexpr double outlier_threshold = 14.8;

/// Middle value, or the mean of the two middle values; 0 of nothing.
double median(std::span<const double> values);

/// Distances from the median in units of the median absolute deviation, never negative: Iglewicz
/// and Hoaglin's modified z-score without its factor 0.6745. If more than half of the values are
/// equal, that deviation is 0: values that differ are then infinitely far, the others 0.
std::vector<double> modified_z_scores(std::span<const double> values);

/// The narrowest symmetric pair of order statistics x(k), x(n+1-k) with
/// 1 - 2 P(B <= k - 1) >= 0.95 for B ~ Binomial(n, 1/2), as in H. A. David and H. N. Nagaraja,
/// "Order Statistics" (3rd ed.), 7.1; the exact form of what Hoefler and Belli approximate in their
/// section 3.1.3. The range if `count` is under fewest_for_interval.
MedianInterval median_interval(std::uint64_t count);

/// `by_rank[r]` is rank r's value. All zeros for no values.
RankSummary summarise_ranks(std::span<const double> by_rank);

/// `seconds[t]` is trial t's value. All zeros for no values.
TrialSummary summarise_trials(std::span<const double> seconds);

/// 2^20 bytes a second; 0 for what took no time.
inline double mib_per_second(std::uint64_t bytes, double seconds) {
  return seconds > 0.0 ? static_cast<double>(bytes) / (1024.0 * 1024.0) / seconds : 0.0;
}

/// Nothing if an end of the interval is 0 seconds: what took no time has no rate.
std::optional<Rate> rate_of(std::uint64_t bytes, const TrialSummary& seconds);

}  // namespace slabmark
