#if SLABMARK_WITH_PNETCDF

#include <algorithm>

#include <fmt/format.h>

#include "bench/map/netcdf_output.hpp"
#include "bench/map/netcdf_writer.hpp"

namespace slabmark {

namespace {

// The bytes of one call: PnetCDF 1.12 moves at most 2 GiB at once.
constexpr std::uint64_t values_per_put = std::uint64_t{1} << 24;

std::vector<long long> elements_of(const RunList& runs, std::uint64_t padded_to) {
  std::vector<long long> elements;
  elements.reserve(padded_to);
  for (const Run& run : runs) {
    for (std::uint64_t i = run.offset; i < run.end(); ++i) {
      elements.push_back(static_cast<long long>(i));
    }
  }
  elements.resize(padded_to, 0);
  return elements;
}

void put_row(NetcdfOutput& output, int variable, std::uint64_t rank,
             std::span<const long long> values) {
  for (std::uint64_t done = 0; done < values.size(); done += values_per_put) {
    const std::uint64_t now = std::min<std::uint64_t>(values_per_put, values.size() - done);
    output.put(variable, {rank, done}, {1, now}, values.subspan(done, now));
  }
}

}  // namespace

WrittenMap write_single_map(const std::string& path, const MapSource& source) {
  const MapSurvey found = survey(source);
  // A dimension of length 0 would be the unlimited one.
  const std::uint64_t width = std::max<std::uint64_t>(found.most, 1);
  NetcdfOutput output(path, std::max(found.elements, width), source.ranks * (width + 1));

  const int ranks = output.define_dimension("num_procs", source.ranks);
  const int columns = output.define_dimension("max_nreqs", width);
  const int nreqs = output.define_variable("nreqs", {ranks});
  const int offsets = output.define_variable("offsets", {ranks, columns});
  output.put_attribute(NC_GLOBAL, "var_ndims", Extent{source.dims.size()});
  for (std::size_t i = 0; i < source.dims.size(); ++i) {
    output.put_attribute(NC_GLOBAL, fmt::format("dim_len_{}", i),
                         Extent{source.dims[source.dims.size() - 1 - i]});
  }
  output.put_attribute(NC_GLOBAL, "max_nreqs", Extent{found.most});
  output.put_attribute(NC_GLOBAL, "min_nreqs", Extent{found.fewest});
  output.end_definitions();

  ColumnWriter counts(output, nreqs);
  for (std::uint64_t rank = 0; rank < source.ranks; ++rank) {
    const RunList runs = source.row(rank);
    counts.append(total_length(runs));
    put_row(output, offsets, rank, elements_of(runs, width));
  }
  counts.flush();
  return {.cdf_version = output.cdf_version(), .bytes = output.finish(), .surveys = {found}};
}

}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
