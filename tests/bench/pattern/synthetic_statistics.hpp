#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <vector>

#include "bench/pattern/synthetic/decomposition.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {

/// Smallest, median (rounded down) and largest of a set of counts.
struct Spread {
  std::uint64_t min = 0;
  std::uint64_t median = 0;
  std::uint64_t max = 0;

  bool operator==(const Spread&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Spread& spread) {
  return out << spread.min << '/' << spread.median << '/' << spread.max;
}

inline Spread spread_of(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2;
  const std::size_t lower = (values.size() - 1) / 2;
  return {values.front(), (values[lower] + values[upper]) / 2, values.back()};
}

/// What the requests of a map look like when they are sorted, merged and cut at rows.
struct MapStatistics {
  std::vector<std::uint64_t> elements;  ///< of each rank
  std::vector<std::uint64_t> runs;      ///< of each rank
  std::uint64_t total_runs = 0;
  std::map<std::uint64_t, std::uint64_t> lengths;  ///< number of runs of each length
  std::uint64_t missing = 0;                       ///< elements of the array that no rank owns
  std::uint64_t repeated = 0;                      ///< elements owned once more than they should be

  std::uint64_t median_length() const {
    std::uint64_t seen = 0;
    for (const auto& [length, count] : lengths) {
      seen += count;
      if (2 * seen >= total_runs) return length;
    }
    return 0;
  }
};

inline RunList merged_runs(const SyntheticMap& map, std::uint64_t first, std::uint64_t count,
                           std::uint64_t row_length) {
  RunList runs;
  for (std::uint64_t rank = first; rank < first + count; ++rank) {
    const RunList more = model_order_runs(map, rank);
    runs.insert(runs.end(), more.begin(), more.end());
  }
  sort_runs(runs);
  coalesce(runs);
  return split_at_rows(runs, row_length);
}

inline MapStatistics statistics_of(const SyntheticMap& map) {
  MapStatistics statistics;
  std::vector<std::uint8_t> owned(element_count(map.dims), 0);
  for (std::uint64_t rank = 0; rank < map.ranks; ++rank) {
    const RunList runs = merged_runs(map, rank, 1, map.dims.back());
    statistics.elements.push_back(total_length(runs));
    statistics.runs.push_back(runs.size());
    statistics.total_runs += runs.size();
    for (const Run& run : runs) {
      ++statistics.lengths[run.length];
      for (std::uint64_t e = run.offset; e < run.end(); ++e) {
        statistics.repeated += owned.at(e);
        owned[e] = 1;
      }
    }
  }
  statistics.missing =
      static_cast<std::uint64_t>(std::count(owned.begin(), owned.end(), std::uint8_t{0}));
  return statistics;
}

inline std::vector<std::uint64_t> all_entries(const SyntheticMap& map, std::uint64_t rank) {
  std::vector<std::uint64_t> all;
  map.visit(rank, [&all](std::span<const std::uint64_t> entries) {
    all.insert(all.end(), entries.begin(), entries.end());
  });
  return all;
}

/// Largest of the counts over their mean.
inline double imbalance_of(const std::vector<std::uint64_t>& counts) {
  double sum = 0.0;
  for (const std::uint64_t count : counts) sum += static_cast<double>(count);
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) *
         static_cast<double>(counts.size()) / sum;
}

}  // namespace slabmark
