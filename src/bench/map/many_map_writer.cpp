#if SLABMARK_WITH_PNETCDF

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "bench/map/netcdf_output.hpp"
#include "bench/map/netcdf_writer.hpp"
#include "bench/map/part_builder.hpp"
#include "core/base/error.hpp"

namespace slabmark {

namespace {

/// The requests of a rank as this layout has them: sorted, merged, cut at rows.
RunList requests_of(const MapSource& source, std::uint64_t rank) {
  const MapHeader header{.dims = source.dims, .recorded_ranks = source.ranks};
  PartBuilder builder(header, source.name);
  RunList row = source.row(rank);
  builder.add_row(rank, row, row.size());
  return builder.finish().runs;
}

/// The facts that the definitions of one map need.
struct Totals {
  std::uint64_t requests = 0;
  std::uint64_t most = 0;  ///< requests of a rank
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t longest = 0;  ///< elements of a request
  std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
};

Totals count(const MapSource& source) {
  Totals totals;
  for (std::uint64_t rank = 0; rank < source.ranks; ++rank) {
    const RunList requests = requests_of(source, rank);
    totals.requests += requests.size();
    totals.most = std::max<std::uint64_t>(totals.most, requests.size());
    totals.fewest = std::min<std::uint64_t>(totals.fewest, requests.size());
    for (const Run& run : requests) {
      totals.longest = std::max(totals.longest, run.length);
      totals.shortest = std::min(totals.shortest, run.length);
    }
  }
  if (totals.requests == 0) {
    throw InputError(
        fmt::format("No rank of {} owns anything, and such a map cannot be written.", source.name));
  }
  return totals;
}

struct Columns {
  int nreqs = -1;
  int offsets = -1;
  int lengths = -1;
};

Columns define(NetcdfOutput& output, const std::string& name, int ranks, const Totals& totals) {
  const int requests = output.define_dimension(name + ".total_nreqs", totals.requests);
  const auto column = [&](const char* what, int dimension, const std::string& description) {
    const int id = output.define_variable(name + what, {dimension});
    output.put_attribute(id, "description", description);
    return id;
  };
  Columns columns;
  columns.nreqs = column(".nreqs", ranks, "Number of noncontiguous requests per process");
  columns.offsets =
      column(".offsets", requests, "Flattened starting indices of noncontiguous requests");
  columns.lengths = column(".lengths", requests, "Lengths of noncontiguous requests");
  output.put_attribute(columns.lengths, "max", Extent{totals.longest});
  output.put_attribute(columns.lengths, "min", Extent{totals.shortest});
  return columns;
}

void describe(NetcdfOutput& output, const std::string& name, const MapSource& source,
              const Totals& totals) {
  output.put_attribute(NC_GLOBAL, name + ".ndims", Extent{source.dims.size()});
  output.put_attribute(NC_GLOBAL, name + ".dims", source.dims);
  output.put_attribute(NC_GLOBAL, name + ".max_nreqs", Extent{totals.most});
  output.put_attribute(NC_GLOBAL, name + ".min_nreqs", Extent{totals.fewest});
}

void write(NetcdfOutput& output, const Columns& columns, const MapSource& source) {
  ColumnWriter nreqs(output, columns.nreqs);
  ColumnWriter offsets(output, columns.offsets);
  ColumnWriter lengths(output, columns.lengths);
  for (std::uint64_t rank = 0; rank < source.ranks; ++rank) {
    const RunList requests = requests_of(source, rank);
    nreqs.append(requests.size());
    for (const Run& run : requests) {
      offsets.append(run.offset);
      lengths.append(run.length);
    }
  }
  nreqs.flush();
  offsets.flush();
  lengths.flush();
}

void check_ranks(const std::vector<MapSource>& sources) {
  for (const MapSource& source : sources) {
    if (source.ranks == sources.front().ranks) continue;
    throw InputError(fmt::format(
        "{} is of {} ranks and {} of {}; the maps of one file must be of one run of the model.",
        sources.front().name, sources.front().ranks, source.name, source.ranks));
  }
}

}  // namespace

WrittenMap write_many_maps(const std::string& path, const std::vector<MapSource>& sources,
                           const std::string& command_line) {
  check_ranks(sources);
  const std::uint64_t ranks = sources.at(0).ranks;
  WrittenMap result;
  std::vector<Totals> totals;
  std::uint64_t largest = ranks;
  std::uint64_t values = 0;
  for (const MapSource& source : sources) {
    result.surveys.push_back(survey(source));
    totals.push_back(count(source));
    largest = std::max({largest, result.surveys.back().elements, totals.back().requests});
    values += ranks + 2 * totals.back().requests;
  }

  NetcdfOutput output(path, largest, values);
  output.define_dimension("num_decomp", sources.size());
  const int ranks_dimension = output.define_dimension("decomp_nprocs", ranks);
  output.put_attribute(NC_GLOBAL, "command_line", command_line);
  std::vector<Columns> columns;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const std::string name = fmt::format("D{}", k + 1);
    columns.push_back(define(output, name, ranks_dimension, totals[k]));
    describe(output, name, sources[k], totals[k]);
  }
  output.end_definitions();
  for (std::size_t k = 0; k < sources.size(); ++k) write(output, columns[k], sources[k]);

  result.cdf_version = output.cdf_version();
  result.bytes = output.finish();
  return result;
}

}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
