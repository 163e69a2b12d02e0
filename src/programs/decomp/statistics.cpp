#include "programs/decomp/statistics.hpp"

#include <algorithm>
#include <climits>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/printable.hpp"

namespace slabmark::decomp {

namespace {

using Occurrences = std::map<std::uint64_t, std::uint64_t>;

/// Collective. Adds up the occurrences of all ranks on rank 0.
Occurrences gather(const Comm& comm, const Occurrences& mine) {
  Occurrences all;
  Json pairs = Json::array();
  for (const auto& [value, count] : mine) pairs.push_back(Json::array({value, count}));
  for (const std::string& part : comm.gather(pairs.dump())) {
    for (const Json& pair : Json::parse(part)) {
      all[pair.at(0).get<std::uint64_t>()] += pair.at(1).get<std::uint64_t>();
    }
  }
  return all;
}

/// Number of lengths in [2^i, 2^(i+1)), by i.
std::vector<std::uint64_t> buckets_of(const Occurrences& lengths) {
  std::vector<std::uint64_t> buckets;
  for (const auto& [length, count] : lengths) {
    std::size_t bucket = 0;
    while (length >> (bucket + 1) != 0) ++bucket;
    buckets.resize(std::max(buckets.size(), bucket + 1), 0);
    buckets[bucket] += count;
  }
  return buckets;
}

std::string range_text(std::size_t bucket) {
  const std::uint64_t from = std::uint64_t{1} << bucket;
  return bucket == 0 ? "1" : fmt::format("{}-{}", from, 2 * from - 1);
}

/// "  runs by length     1: 10800 2-3: 15624", on as many lines as it takes.
std::string histogram_text(const std::vector<std::uint64_t>& buckets, std::size_t indent) {
  std::string text;
  std::string line = "  runs by length    ";
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i] == 0) continue;
    const std::string item = fmt::format(" {}: {}", range_text(i), buckets[i]);
    if (line.size() + item.size() > 80) {
      text += line + "\n";
      line.assign(indent - 1, ' ');
    }
    line += item;
  }
  return text + line;
}

/// The number at `position` in ascending order.
std::uint64_t at_position(const Occurrences& occurrences, std::uint64_t position) {
  std::uint64_t up_to = 0;
  for (const auto& [value, times] : occurrences) {
    up_to += times;
    if (position < up_to) return value;
  }
  return 0;
}

Json to_json(const Spread& spread) {
  return {{"min", spread.min},
          {"median", spread.median},
          {"mean", spread.mean},
          {"max", spread.max},
          {"total", spread.total}};
}

}  // namespace

Spread spread_of(const Occurrences& occurrences) {
  Spread spread;
  if (occurrences.empty()) return spread;
  std::uint64_t count = 0;
  for (const auto& [value, times] : occurrences) {
    count += times;
    spread.total += value * times;
  }
  spread.min = occurrences.begin()->first;
  spread.max = occurrences.rbegin()->first;
  spread.mean = static_cast<double>(spread.total) / static_cast<double>(count);
  spread.median = (static_cast<double>(at_position(occurrences, (count - 1) / 2)) +
                   static_cast<double>(at_position(occurrences, count / 2))) /
                  2;
  return spread;
}

MapStatistics gather_statistics(const Comm& comm, MapFile& file, std::size_t k,
                                std::uint64_t ranks) {
  MapStatistics map;
  map.header = file.maps().at(k);
  map.ranks = ranks > 0 ? ranks : map.header.recorded_ranks;
  if (map.ranks >= INT_MAX) {
    throw InputError(fmt::format("{} ranks are more than MPI can have.", map.ranks));
  }

  Occurrences elements;
  Occurrences requests;
  Occurrences lengths;
  const bool as_recorded = map.ranks == map.header.recorded_ranks;
  RunList runs;
  for_each_part(comm, file, k, map.ranks, [&](std::uint64_t, const MapPart& part) {
    ++elements[total_length(part.runs)];
    ++requests[part.runs.size()];
    for (const Run& run : part.runs) ++lengths[run.length];
    if (as_recorded) runs.insert(runs.end(), part.runs.begin(), part.runs.end());
  });
  map.elements = spread_of(gather(comm, elements));
  map.requests = spread_of(gather(comm, requests));
  map.run_lengths = gather(comm, lengths);
  sort_runs(runs);
  map.coverage = as_recorded ? coverage(comm, map.header, runs) : find_coverage(comm, file, k);
  if (map.coverage.overlaps > 0) map.owners = owners_of(comm, file, k, map.coverage.first_overlap);
  return map;
}

std::string to_text(const MapStatistics& map, const std::string& name) {
  const Coverage& cover = map.coverage;
  const Spread lengths = spread_of(map.run_lengths);
  constexpr std::size_t values = 21;  // the column in which they begin
  std::string text;
  const auto add = [&text](const std::string& line) { text += wrapped(line, values) + "\n"; };
  add(fmt::format("{}: {}, {} elements, {} recorded ranks", name, to_string(map.header.dims),
                  cover.elements, map.header.recorded_ranks));
  std::string owned =
      fmt::format("  owned              {} ({:.2f} %), by no rank {}, by several {}", cover.covered,
                  100.0 * static_cast<double>(cover.covered) / static_cast<double>(cover.elements),
                  cover.elements - cover.covered, cover.overlaps);
  if (cover.overlaps > 0) {
    owned += fmt::format(" (the first is element {}, of rank {} and rank {})", cover.first_overlap,
                         map.owners[0], map.owners[1]);
  }
  add(owned);
  add(fmt::format("  elements per rank  min {}, median {}, max {} on {} ranks", map.elements.min,
                  map.elements.median, map.elements.max, map.ranks));
  add(fmt::format("  requests per rank  min {}, median {}, max {}, total {}", map.requests.min,
                  map.requests.median, map.requests.max, map.requests.total));
  add(fmt::format("  run length         min {}, median {}, mean {:.2f}, max {}", lengths.min,
                  lengths.median, lengths.mean, lengths.max));
  return text + histogram_text(buckets_of(map.run_lengths), values) + "\n";
}

Json to_json(const MapStatistics& map, const std::string& name) {
  Json histogram = Json::array();
  const std::vector<std::uint64_t> buckets = buckets_of(map.run_lengths);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const std::uint64_t from = std::uint64_t{1} << i;
    if (buckets[i] > 0)
      histogram.push_back({{"from", from}, {"to", 2 * from - 1}, {"runs", buckets[i]}});
  }
  Json shared;
  if (map.coverage.overlaps > 0)
    shared = {{"element", map.coverage.first_overlap}, {"ranks", map.owners}};
  return {{"map", name},
          {"dims", map.header.dims},
          {"recorded_ranks", map.header.recorded_ranks},
          {"ranks", map.ranks},
          {"elements", map.coverage.elements},
          {"owned", map.coverage.covered},
          {"owned_by_several", map.coverage.overlaps},
          {"first_owned_by_several", shared},
          {"elements_per_rank", to_json(map.elements)},
          {"requests_per_rank", to_json(map.requests)},
          {"run_length", to_json(spread_of(map.run_lengths))},
          {"run_length_histogram", histogram}};
}

}  // namespace slabmark::decomp
