#include "accel/hdf5_connector/strided_runs.hpp"

#include <algorithm>

namespace slabmark::slablog {

std::optional<StridedRuns> StridedRuns::of(std::span<const Run> runs) {
  if (runs.size() < 2) return std::nullopt;
  StridedRuns found(runs.front().offset, runs.front().length);
  const auto has_another_length = [&](const Run& run) { return run.length != found.length_; };
  if (std::any_of(runs.begin(), runs.end(), has_another_length)) return std::nullopt;
  std::uint64_t last_below = 0;
  for (std::uint64_t below = 1; below < runs.size();) {
    const auto groups = runs.size() / below;
    const auto start = [&](std::uint64_t group) { return runs[group * below].offset; };
    const auto follows = [&](std::uint64_t group, std::uint64_t stride) {
      return start(group) > start(group - 1) && start(group) - start(group - 1) == stride;
    };
    const auto stride = start(1) - start(0);
    if (start(1) < start(0) || stride < last_below + found.length_) return std::nullopt;
    std::uint64_t count = 2;
    while (count < groups && follows(count, stride)) ++count;
    if (groups % count != 0) return std::nullopt;
    for (std::uint64_t group = count; group < groups; ++group) {
      if (group % count != 0 && !follows(group, stride)) return std::nullopt;
    }
    found.levels_.push_back({stride, count, below, last_below});
    last_below += stride * (count - 1);
    below *= count;
  }
  return found;
}

std::uint64_t StridedRuns::offset(std::uint64_t n) const {
  auto offset = first_;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    offset += n / level->runs_below * level->stride;
    n %= level->runs_below;
  }
  return offset;
}

std::uint64_t StridedRuns::first_that_ends_after(std::uint64_t element) const {
  const auto least = element < length_ ? 0 : element - length_ + 1;  // that it may begin at
  if (least <= first_) return 0;
  auto rest = least - first_;
  std::uint64_t n = 0;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    const auto group = std::min(rest / level->stride, level->count - 1);
    n += group * level->runs_below;
    rest -= group * level->stride;
    if (rest > level->last_below) return n + level->runs_below;
  }
  return n;
}

}  // namespace slabmark::slablog
