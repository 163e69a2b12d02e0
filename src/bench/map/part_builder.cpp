#include "bench/map/part_builder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/stopwatch.hpp"

namespace slabmark {

void unite(RunList& runs) {
  std::size_t kept = 0;
  for (const Run& run : runs) {
    if (run.length == 0) continue;
    if (kept > 0 && run.offset <= runs[kept - 1].end()) {
      Run& last = runs[kept - 1];
      last.length = std::max(last.end(), run.end()) - last.offset;
    } else {
      runs[kept++] = run;
    }
  }
  runs.resize(kept);
}

PartBuilder::PartBuilder(const MapHeader& header, std::string map)
    : header_(header), map_(std::move(map)) {}

void PartBuilder::add_row(std::uint64_t rank, RunList& row, std::uint64_t requests) {
  const Stopwatch watch(part_.sort_seconds);
  sort_runs(row);
  if (const auto twice = find_overlap(row)) {
    throw InputError(
        fmt::format("Element {} of {} is listed twice by recorded rank {}, so what is written "
                    "there would be a matter of chance; the map must be made again.",
                    *twice, map_, rank));
  }
  coalesce(row);
  part_.runs.insert(part_.runs.end(), row.begin(), row.end());
  part_.raw_requests += requests;
  row.clear();
}

MapPart PartBuilder::finish() {
  timed(part_.sort_seconds, [&] {
    sort_runs(part_.runs);
    part_.is_shared = find_overlap(part_.runs).has_value();
    unite(part_.runs);
    part_.runs = split_at_rows(part_.runs, header_.dims.back());
  });
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - started_;
  part_.read_seconds = all.count() - part_.sort_seconds;
  return std::move(part_);
}

}  // namespace slabmark
