#include "exchange/ranges.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "exchange/run_exchange.hpp"
#include "parallel/agree.hpp"

namespace slabmark {
namespace {

/// Number of the equal range that `element` falls into: the inverse of equal_range().
std::uint64_t range_of(std::uint64_t element, std::uint64_t total, std::uint64_t parts) {
  const std::uint64_t length = total / parts;
  const std::uint64_t longer = total % parts;
  const std::uint64_t in_longer = longer * (length + 1);
  if (element < in_longer) return element / (length + 1);
  return longer + (element - in_longer) / length;
}

/// Calls `visit(range, piece)` with the parts of `run` in each equal range that it touches.
template <class Visit>
void cut_at_ranges(Run run, std::uint64_t total, std::uint64_t parts, const Visit& visit) {
  while (run.length > 0) {
    const std::uint64_t range = range_of(run.offset, total, parts);
    const std::uint64_t range_end = equal_range(total, range, parts).end();
    const std::uint64_t length = std::min(run.length, range_end - run.offset);
    visit(range, Run{run.offset, length});
    run = {run.offset + length, run.length - length};
  }
}

void check_within(const RunList& runs, std::uint64_t total) {
  for (const Run& run : runs) {
    if (run.offset <= total && run.length <= total - run.offset) continue;
    throw InputError(
        fmt::format("The run of {} elements at {} leaves the array, which has {} elements.",
                    run.length, run.offset, total));
  }
}

}  // namespace

RunList runs_in_my_range(const Comm& comm, const RunList& mine, std::uint64_t total) {
  agreed(comm, [&] { check_within(mine, total); });
  const auto parts = static_cast<std::uint64_t>(comm.size());
  std::vector<std::uint64_t> counts(parts, 0);
  for (const Run& run : mine) {
    cut_at_ranges(run, total, parts, [&](std::uint64_t range, Run) { ++counts[range]; });
  }
  // Runs of one rank may overlap each other, so their pieces need not come in the order of the
  // ranges.
  std::vector<std::uint64_t> place(parts, 0);
  for (std::size_t r = 1; r < parts; ++r) place[r] = place[r - 1] + counts[r - 1];
  RunList outgoing(place.back() + counts.back());
  for (const Run& run : mine) {
    cut_at_ranges(run, total, parts,
                  [&](std::uint64_t range, Run piece) { outgoing[place[range]++] = piece; });
  }
  RunList incoming = exchange_runs(comm, outgoing, counts);
  sort_runs(incoming);
  return incoming;
}

}  // namespace slabmark
