#include <fmt/format.h>

#include "bench/pattern/workload/makers.hpp"
#include "core/base/error.hpp"

// A history file of the weather model WRF, as PnetCDF's kernel of it writes one:
// benchmarks/WRF-IO/wrf_io.c with the variables of wrf_header.txt (WRF 4.4.1). Every variable is a
// record. Patches of the horizontal domain belong to ranks in a checkerboard; the first rank writes
// the variables without a horizontal domain.

namespace slabmark::workload {

namespace {

/// The ranges of a patch along an axis, of points and of the faces between them, which are one
/// more: the last patch has that.
void add_ranges(const std::string& axis, std::uint64_t points, std::uint64_t place,
                std::uint64_t places, NamedRanges& ranges) {
  Run mine = equal_range(points, place, places);
  ranges[axis] = mine;
  if (place + 1 == places) ++mine.length;
  ranges[axis + "_stag"] = mine;
}

}  // namespace

WorkloadParts wrf(const WorkloadSizes& sizes, std::uint64_t ranks) {
  const auto [west_east, south_north] = nearest_factors(ranks);  // as MPI_Dims_create has them
  if (sizes.grid[0] < west_east || sizes.grid[1] < south_north) {
    throw InputError(
        fmt::format("The {} x {} columns of the domain do not give each of {} x {} patches one; "
                    "enlarge --grid, or use fewer ranks.",
                    sizes.grid[0], sizes.grid[1], west_east, south_north));
  }
  const NamedLengths lengths = {
      {"west_east", sizes.grid[0]}, {"south_north", sizes.grid[1]}, {"bottom_top", sizes.grid[2]}};
  return {[table = find_workload_table("wrf"), lengths, sizes, columns = west_east,
           rows = south_north](std::uint64_t rank) {
    NamedRanges ranges;
    add_ranges("south_north", sizes.grid[1], rank / columns, rows, ranges);
    add_ranges("west_east", sizes.grid[0], rank % columns, columns, ranges);
    return make_boxed_output(table, lengths, ranges, rank, sizes.steps);
  }};
}

}  // namespace slabmark::workload
