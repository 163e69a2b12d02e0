#include "map/decomposition.hpp"

#include <algorithm>
#include <limits>

#include "exchange/ranges.hpp"

namespace slabmark {

namespace {

/// Coverage of sorted runs that may overlap.
Coverage sweep(const RunList& runs) {
  Coverage result;
  result.first_overlap = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t once = 0;   // all elements of earlier runs are below this
  std::uint64_t twice = 0;  // all elements known to be owned twice are below this
  for (const Run& run : runs) {
    if (run.end() > once) result.covered += run.end() - std::max(run.offset, once);
    // What reaches from run.offset to `once` belongs to the earlier run that ends there.
    const std::uint64_t shared_begin = std::max(run.offset, twice);
    const std::uint64_t shared_end = std::min(run.end(), once);
    if (shared_begin < shared_end) {
      result.overlaps += shared_end - shared_begin;
      result.first_overlap = std::min(result.first_overlap, shared_begin);
      twice = shared_end;
    }
    once = std::max(once, run.end());
  }
  return result;
}

}  // namespace

Coverage coverage(const Comm& comm, const MapHeader& header, const RunList& runs) {
  const std::uint64_t elements = element_count(header.dims);
  const Coverage mine = sweep(runs_in_my_range(comm, runs, elements));
  Coverage all;
  all.elements = elements;
  all.covered = comm.sum(mine.covered);
  all.overlaps = comm.sum(mine.overlaps);
  // A rank without overlap brings the end of the array rather than the greatest number there is,
  // which MPICH 4.0 takes for -1 in MPI_MIN.
  const std::uint64_t first = std::min(mine.first_overlap, elements);
  all.first_overlap = all.overlaps > 0 ? comm.min(first) : 0;
  return all;
}

}  // namespace slabmark
