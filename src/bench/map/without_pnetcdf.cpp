#if !SLABMARK_WITH_PNETCDF

#include <fmt/format.h>

#include "bench/map/map_input.hpp"
#include "bench/map/netcdf_writer.hpp"
#include "core/base/error.hpp"

namespace slabmark {

namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw InputError(fmt::format(
      "\"{}\" is a classic NetCDF file, and this build has no PnetCDF because none of the same MPI "
      "was found at configure time. Use the .nc4, .h5 or .dat form of the map, or configure again "
      "with PNETCDF_DIR.",
      path));
}

}  // namespace

std::unique_ptr<MapInput> open_classic_input(const Comm&, const std::string& path) { refuse(path); }

WrittenMap write_single_map(const std::string& path, const MapSource&) { refuse(path); }

WrittenMap write_many_maps(const std::string& path, const std::vector<MapSource>&,
                           const std::string&) {
  refuse(path);
}

}  // namespace slabmark

#endif  // !SLABMARK_WITH_PNETCDF
