#include "program/slabmark-decomp/statistics.hpp"

#include <algorithm>
#include <climits>
#include <functional>

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark::decomp {

namespace {

using Occurrences = std::map<std::uint64_t, std::uint64_t>;

/// Collective. Adds up the occurrences of all ranks on rank 0.
Occurrences gather(const Comm& comm, const Occurrences& mine) {
  Occurrences all;
  for (const std::string& part : comm.gather(nlohmann::json(mine).dump())) {
    for (const auto& [value, count] : nlohmann::json::parse(part).get<Occurrences>()) {
      all[value] += count;
    }
  }
  return all;
}

/// Calls `visit` with the part of each of `ranks` ranks that falls to this process. MapFile::read
/// is collective, so a process whose share is smaller reads empty parts along with the others.
void for_each_part(const Comm& comm, MapFile& file, std::size_t k, std::uint64_t ranks,
                   const std::function<void(const MapPart&)>& visit) {
  const Run share = recorded_block(ranks, comm.rank(), comm.size());
  const std::uint64_t calls = comm.max(share.length);
  const auto size = static_cast<int>(ranks);
  const auto recorded = static_cast<int>(file.maps().at(k).recorded_ranks);
  for (std::uint64_t i = 0; i < calls; ++i) {
    if (i < share.length) {
      visit(file.read(k, static_cast<int>(share.offset + i), size));
    } else {
      file.read(k, recorded, recorded + 1);
    }
  }
}

Coverage coverage_of(const Comm& comm, const MapHeader& header, RunList runs) {
  sort_runs(runs);
  return coverage(comm, header, runs);
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

/// The number at `position` in ascending order.
std::uint64_t at_position(const Occurrences& occurrences, std::uint64_t position) {
  std::uint64_t up_to = 0;
  for (const auto& [value, times] : occurrences) {
    up_to += times;
    if (position < up_to) return value;
  }
  return 0;
}

nlohmann::ordered_json to_json(const Spread& spread) {
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

Coverage find_coverage(const Comm& comm, MapFile& file, std::size_t k) {
  const MapHeader& header = file.maps().at(k);
  RunList runs;
  for_each_part(comm, file, k, header.recorded_ranks, [&](const MapPart& part) {
    runs.insert(runs.end(), part.runs.begin(), part.runs.end());
  });
  return coverage_of(comm, header, std::move(runs));
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
  RunList runs;
  for_each_part(comm, file, k, map.ranks, [&](const MapPart& part) {
    ++elements[total_length(part.runs)];
    ++requests[part.runs.size()];
    for (const Run& run : part.runs) ++lengths[run.length];
    runs.insert(runs.end(), part.runs.begin(), part.runs.end());
  });
  map.elements = spread_of(gather(comm, elements));
  map.requests = spread_of(gather(comm, requests));
  map.run_lengths = gather(comm, lengths);
  map.coverage = coverage_of(comm, map.header, std::move(runs));
  return map;
}

std::string to_text(const MapStatistics& map, const std::string& name) {
  const Coverage& cover = map.coverage;
  const Spread lengths = spread_of(map.run_lengths);
  std::string text =
      fmt::format("{}: {}, {} elements, {} recorded ranks\n", name, to_string(map.header.dims),
                  cover.elements, map.header.recorded_ranks);
  text += fmt::format(
      "  owned              {} ({:.2f} %), by no rank {}, by several {}\n", cover.covered,
      100.0 * static_cast<double>(cover.covered) / static_cast<double>(cover.elements),
      cover.elements - cover.covered, cover.overlaps);
  text += fmt::format("  elements per rank  min {}, median {}, max {} on {} ranks\n",
                      map.elements.min, map.elements.median, map.elements.max, map.ranks);
  text += fmt::format("  requests per rank  min {}, median {}, max {}, total {}\n",
                      map.requests.min, map.requests.median, map.requests.max, map.requests.total);
  text += fmt::format("  run length         min {}, median {}, mean {:.2f}, max {}\n", lengths.min,
                      lengths.median, lengths.mean, lengths.max);
  text += "  runs by length    ";
  const std::vector<std::uint64_t> buckets = buckets_of(map.run_lengths);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i] > 0) text += fmt::format(" {}: {}", range_text(i), buckets[i]);
  }
  return text + "\n";
}

nlohmann::ordered_json to_json(const MapStatistics& map, const std::string& name) {
  nlohmann::ordered_json histogram = nlohmann::ordered_json::array();
  const std::vector<std::uint64_t> buckets = buckets_of(map.run_lengths);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const std::uint64_t from = std::uint64_t{1} << i;
    if (buckets[i] > 0)
      histogram.push_back({{"from", from}, {"to", 2 * from - 1}, {"runs", buckets[i]}});
  }
  return {{"map", name},
          {"dims", map.header.dims},
          {"recorded_ranks", map.header.recorded_ranks},
          {"ranks", map.ranks},
          {"elements", map.coverage.elements},
          {"owned", map.coverage.covered},
          {"owned_by_several", map.coverage.overlaps},
          {"elements_per_rank", to_json(map.elements)},
          {"requests_per_rank", to_json(map.requests)},
          {"run_length", to_json(spread_of(map.run_lengths))},
          {"run_length_histogram", histogram}};
}

}  // namespace slabmark::decomp
