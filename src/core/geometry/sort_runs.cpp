#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/geometry/bitmap.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {
namespace {

constexpr std::uint64_t word_bits = 64;

/// The order of the runs, from one look at them: it tells how to sort them.
struct Survey {
  bool sorted = true;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();  ///< lowest offset
  std::uint64_t highest = 0;                                        ///< highest offset
  std::uint64_t end = 0;                                            ///< highest end
};

Survey survey(const RunList& runs) {
  Survey seen;
  for (const Run& run : runs) {
    if (run.offset < seen.highest) seen.sorted = false;
    seen.first = std::min(seen.first, run.offset);
    seen.highest = std::max(seen.highest, run.offset);
    // An end beyond 64 bits wraps round; such a run must not look small.
    const bool wraps = run.end() < run.offset;
    seen.end = std::max(seen.end, wraps ? std::numeric_limits<std::uint64_t>::max() : run.end());
  }
  return seen;
}

/// Replaces `runs` by the runs of ones in a bitmap over [first, end). False, with `runs` untouched,
/// if an element occurs twice: a bit cannot tell.
bool sort_by_bitmap(RunList& runs, std::uint64_t first, std::uint64_t end) {
  Bitmap marked(end - first);
  for (const Run& run : runs) {
    const std::uint64_t begin = run.offset - first;
    const bool fresh = run.length == 1 ? marked.set(begin) : marked.set(begin, begin + run.length);
    if (!fresh) return false;
  }
  std::size_t found = 0;
  for (std::uint64_t begin = marked.find(true, 0, marked.size()); begin < marked.size();) {
    const std::uint64_t stop = marked.find(false, begin, marked.size());
    runs[found++] = {first + begin, stop - begin};
    begin = marked.find(true, stop, marked.size());
  }
  runs.resize(found);
  return true;
}

/// Least significant digit first, 11 bits a pass: the 2048 counters stay in the first-level cache.
void sort_by_radix(RunList& runs, std::uint64_t first, std::uint64_t highest) {
  constexpr unsigned digit_bits = 11;
  constexpr std::uint64_t digit_mask = (std::uint64_t{1} << digit_bits) - 1;
  RunList other(runs.size());
  for (unsigned shift = 0; shift < word_bits && (highest - first) >> shift > 0;
       shift += digit_bits) {
    const auto digit = [&](const Run& run) { return ((run.offset - first) >> shift) & digit_mask; };
    std::array<std::size_t, digit_mask + 1> place{};
    for (const Run& run : runs) ++place[digit(run)];
    std::size_t before = 0;
    for (std::size_t& count : place) before += std::exchange(count, before);
    for (const Run& run : runs) other[place[digit(run)]++] = run;
    runs.swap(other);
  }
}

}  // namespace

// 442,368 single elements of a 72 x 48602 atmosphere in model order take 4 ms by bitmap and 22 ms
// by std::sort; lists too thin for a bitmap take a quarter of its time by radix.
void sort_runs(RunList& runs) {
  const Survey seen = survey(runs);
  if (seen.sorted) return;
  const std::uint64_t bitmap_bytes = (seen.end - seen.first) / 8;
  if (bitmap_bytes <= runs.size() * sizeof(Run) && sort_by_bitmap(runs, seen.first, seen.end))
    return;
  // Below about this many, passes over 2048 counters cost more than comparing (measured).
  constexpr std::size_t few = 128;
  if (runs.size() < few) {
    std::sort(runs.begin(), runs.end());
  } else {
    sort_by_radix(runs, seen.first, seen.highest);
  }
}

}  // namespace slabmark
