#include "bench/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace slabmark {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Two passes: the sum of squares minus the square of the sum loses all digits of nearly equal
// times.
double variance_of(std::span<const double> values, double mean) {
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size());
}

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  std::sort(result.begin(), result.end());
  return result;
}

double median_of_sorted(std::span<const double> values) {
  if (values.empty()) return 0.0;
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

// P(B = k) for B ~ Binomial(n, 1/2), by logarithms: 2^-n alone underflows beyond n = 1074.
double coin_probability(std::uint64_t k, std::uint64_t n) {
  const auto log_factorial = [](std::uint64_t i) {
    return std::lgamma(static_cast<double>(i) + 1.0);
  };
  return std::exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) -
                  static_cast<double>(n) * std::log(2.0));
}

double relative_half_width(const TrialSummary& summary) {
  const double width = summary.high - summary.low;
  if (width == 0.0) return 0.0;
  return summary.median == 0.0 ? infinite : width / 2.0 / summary.median;
}

std::vector<std::uint64_t> outliers_of(std::span<const double> values) {
  const std::vector<double> scores = modified_z_scores(values);
  std::vector<std::uint64_t> result;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > outlier_threshold) result.push_back(i);
  }
  return result;
}

}  // namespace

double median(std::span<const double> values) { return median_of_sorted(sorted(values)); }

std::vector<double> modified_z_scores(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - centre));
  const double deviation = median(distances);
  for (double& distance : distances) {
    if (distance > 0.0) distance = deviation == 0.0 ? infinite : distance / deviation;
  }
  return distances;
}

MedianInterval median_interval(std::uint64_t count) {
  MedianInterval interval{.first = 1, .last = count};
  double outside = coin_probability(0, count);  // P(B <= first - 1)
  interval.coverage = std::max(0.0, 1.0 - 2.0 * outside);
  if (count < fewest_for_interval) return interval;
  while (true) {
    outside += coin_probability(interval.first, count);
    const double coverage = 1.0 - 2.0 * outside;
    if (coverage < 0.95) return interval;
    ++interval.first;
    --interval.last;
    interval.coverage = coverage;
  }
}

RankSummary summarise_ranks(std::span<const double> by_rank) {
  RankSummary summary;
  if (by_rank.empty()) return summary;
  const auto [least, greatest] = std::minmax_element(by_rank.begin(), by_rank.end());
  // minmax_element gives the last of equal maxima; the lowest rank is the one to name.
  const auto slowest = std::find(by_rank.begin(), by_rank.end(), *greatest);
  summary.ranks = by_rank.size();
  summary.min = *least;
  summary.median = median(by_rank);
  summary.mean = mean_of(by_rank);
  summary.max = *greatest;
  summary.variance = variance_of(by_rank, summary.mean);
  summary.slowest = static_cast<std::uint64_t>(slowest - by_rank.begin());
  summary.imbalance = summary.mean == 0.0 ? 1.0 : summary.max / summary.mean;
  return summary;
}

TrialSummary summarise_trials(std::span<const double> seconds) {
  TrialSummary summary;
  if (seconds.empty()) return summary;
  const std::vector<double> ordered = sorted(seconds);
  const MedianInterval interval = median_interval(ordered.size());
  summary.trials = ordered.size();
  summary.min = ordered.front();
  summary.median = median_of_sorted(ordered);
  summary.mean = mean_of(ordered);
  summary.max = ordered.back();
  summary.low = ordered[interval.first - 1];
  summary.high = ordered[interval.last - 1];
  summary.is_range = ordered.size() < fewest_for_interval;
  summary.coverage = interval.coverage;
  summary.half_width = relative_half_width(summary);
  if (summary.mean != 0.0) {
    summary.variation = std::sqrt(variance_of(ordered, summary.mean)) / summary.mean;
  }
  summary.outliers = outliers_of(seconds);
  return summary;
}

std::optional<Rate> rate_of(std::uint64_t bytes, const TrialSummary& seconds) {
  if (seconds.low <= 0.0) return std::nullopt;
  const double amount = static_cast<double>(bytes);
  return Rate{.median = amount / seconds.median,
              .low = amount / seconds.high,
              .high = amount / seconds.low};
}

}  // namespace slabmark
