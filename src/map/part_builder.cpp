#include "map/part_builder.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/stopwatch.hpp"

namespace slabmark {

PartBuilder::PartBuilder(const MapHeader& header, std::string map, Run block)
    : header_(header), map_(std::move(map)), block_(block) {}

void PartBuilder::fail_overlap(std::uint64_t element, const std::string& owner) const {
  throw InputError(
      fmt::format("Element {} of {} is listed twice by {}, so what is written there would be a "
                  "matter of chance; "
                  "the map must be made again.",
                  element, map_, owner));
}

void PartBuilder::add_row(std::uint64_t rank, RunList& row, std::uint64_t requests) {
  const Stopwatch watch(part_.sort_seconds);
  sort_runs(row);
  if (const auto twice = find_overlap(row))
    fail_overlap(*twice, fmt::format("recorded rank {}", rank));
  coalesce(row);
  part_.runs.insert(part_.runs.end(), row.begin(), row.end());
  part_.raw_requests += requests;
  row.clear();
}

MapPart PartBuilder::finish() {
  timed(part_.sort_seconds, [&] {
    sort_runs(part_.runs);
    if (const auto twice = find_overlap(part_.runs)) {
      fail_overlap(*twice, fmt::format("two of the recorded ranks {} to {}", block_.offset,
                                       block_.end() - 1));
    }
    coalesce(part_.runs);
    part_.runs = split_at_rows(part_.runs, header_.dims.back());
  });
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - started_;
  part_.read_seconds = all.count() - part_.sort_seconds;
  return std::move(part_);
}

}  // namespace slabmark
