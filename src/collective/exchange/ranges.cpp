#include "collective/exchange/ranges.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "collective/exchange/run_exchange.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {
namespace {

/// Calls `visit(range, piece)` with the parts of `run` in each equal range that it touches.
template <class Visit>
void cut_at_ranges(Run run, std::uint64_t total, std::uint64_t parts, const Visit& visit) {
  while (run.length > 0) {
    const std::uint64_t range = equal_range_of(run.offset, total, parts);
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
  std::vector<RunList> outgoing(parts);
  for (const Run& run : mine) {
    cut_at_ranges(run, total, parts,
                  [&](std::uint64_t range, Run piece) { outgoing[range].push_back(piece); });
  }
  RunList all;
  for (const RunList& runs : exchange_runs(comm, outgoing)) {
    all.insert(all.end(), runs.begin(), runs.end());
  }
  sort_runs(all);
  return all;
}

InputError written_by_several(std::uint64_t element, const std::string& array) {
  return InputError(
      fmt::format("Element {} of '{}' is written by more than one rank, which would leave to "
                  "chance whose value "
                  "stays; give each element to one rank.",
                  element, array));
}

}  // namespace slabmark
