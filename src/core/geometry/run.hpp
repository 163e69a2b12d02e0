#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace slabmark {

/// Consecutive elements of an array that is linearised in row-major order: [offset, offset+length).
struct Run {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  std::uint64_t end() const { return offset + length; }
  auto operator<=>(const Run&) const = default;
};

using RunList = std::vector<Run>;

/// The common elements of two runs, which must exist.
inline Run common_part(Run a, Run b) {
  const std::uint64_t begin = a.offset > b.offset ? a.offset : b.offset;
  return {begin, (a.end() < b.end() ? a.end() : b.end()) - begin};
}

/// Adds a run behind the last, which it becomes part of where that ends at its offset.
inline void append(RunList& runs, Run run) {
  if (!runs.empty() && runs.back().end() == run.offset) {
    runs.back().length += run.length;
  } else {
    runs.push_back(run);
  }
}

/// Visits the parts into which multiples of `length` (> 0) cut `run`, ascending.
template <class Visit>
void for_each_part(Run run, std::uint64_t length, const Visit& visit) {
  while (run.length > 0) {
    const Run part{run.offset, std::min(run.length, length - run.offset % length)};
    visit(part);
    run = {part.end(), run.length - part.length};
  }
}

/// Number of elements in all runs.
std::uint64_t total_length(std::span<const Run> runs);

/// The `part`-th of `parts` (> 0) nearly equal consecutive ranges of [0, total): the first
/// total % parts of them have one element more.
Run equal_range(std::uint64_t total, std::uint64_t part, std::uint64_t parts);

/// Its inverse: the number of the range that `element` (< total) falls into.
std::uint64_t equal_range_of(std::uint64_t element, std::uint64_t total, std::uint64_t parts);

/// Sorts by offset. Marks the elements in a bitmap where that takes no more memory than the runs
/// themselves (dense element lists), in which case touching runs come back merged and empty ones
/// are gone; else by radix, with a second list of the same length. Duplicated or overlapping
/// elements are kept, so that find_overlap() sees them.
void sort_runs(RunList& runs);

/// Merges runs that touch ([0,3) and [3,5) become [0,5)) in place and drops empty ones; `runs` must
/// be sorted. Overlapping runs are left alone: they are an error for find_overlap() to report.
void coalesce(RunList& runs);

/// Cuts runs so that none crosses a multiple of `row_length` (> 0), which makes each of them a
/// hyperslab with count 1 in an array whose fastest dimension is that long. Empty runs are dropped.
/// Throws InputError for a row length of 0.
RunList split_at_rows(std::span<const Run> runs, std::uint64_t row_length);

/// Lowest element that two of the sorted runs share.
std::optional<std::uint64_t> find_overlap(std::span<const Run> sorted);

/// The gaps of the sorted runs in [0, total), sorted and coalesced.
RunList complement(std::span<const Run> sorted, std::uint64_t total);

}  // namespace slabmark
