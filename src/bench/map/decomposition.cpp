#include "bench/map/decomposition.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "collective/exchange/ranges.hpp"

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
    // Elements from run.offset to `once` belong to the earlier run that ends there.
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

// MapFile::read is collective, so a process whose share is smaller reads empty parts along with the
// others.
void for_each_part(const Comm& comm, MapFile& file, std::size_t k, std::uint64_t ranks,
                   const std::function<void(std::uint64_t rank, const MapPart&)>& visit) {
  const Run share = recorded_block(ranks, comm.rank(), comm.size());
  const std::uint64_t calls = comm.max(share.length);
  const auto size = static_cast<int>(ranks);
  const auto recorded = static_cast<int>(file.maps().at(k).recorded_ranks);
  for (std::uint64_t i = 0; i < calls; ++i) {
    if (i < share.length) {
      const std::uint64_t rank = share.offset + i;
      visit(rank, file.read(k, static_cast<int>(rank), size));
    } else {
      file.read(k, recorded, recorded + 1);
    }
  }
}

Coverage find_coverage(const Comm& comm, MapFile& file, std::size_t k) {
  const MapHeader& header = file.maps().at(k);
  RunList runs;
  for_each_part(comm, file, k, header.recorded_ranks, [&](std::uint64_t, const MapPart& part) {
    runs.insert(runs.end(), part.runs.begin(), part.runs.end());
  });
  sort_runs(runs);
  return coverage(comm, header, runs);
}

std::array<std::uint64_t, 2> owners_of(const Comm& comm, MapFile& file, std::size_t k,
                                       std::uint64_t element) {
  const std::uint64_t ranks = file.maps().at(k).recorded_ranks;
  std::array<std::uint64_t, 2> mine = {ranks, ranks};  // nobody
  for_each_part(comm, file, k, ranks, [&](std::uint64_t rank, const MapPart& part) {
    for (const Run& run : part.runs) {
      if (element < run.offset || element >= run.end()) continue;
      if (mine[0] == ranks) {
        mine[0] = rank;
      } else if (mine[1] == ranks) {
        mine[1] = rank;
      }
    }
  });
  const std::uint64_t first = comm.min(mine[0]);
  return {first, comm.min(mine[0] == first ? mine[1] : mine[0])};
}

std::string describe_overlaps(const Comm& comm, MapFile& file, std::size_t k,
                              const Coverage& found) {
  const auto [first, second] = owners_of(comm, file, k, found.first_overlap);
  return fmt::format(
      "{} of its {} elements are owned by more than one rank; the first is element {} (counted "
      "from 0), of rank {} and rank {}",
      found.overlaps, found.elements, found.first_overlap, first, second);
}

}  // namespace slabmark
