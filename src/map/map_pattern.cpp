#include "map/map_pattern.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "pattern/decomposition_pattern.hpp"

namespace slabmark {

namespace {

std::vector<Dimension> dimensions_of(const MapHeader& header, std::size_t k, bool single) {
  std::vector<Dimension> dimensions;
  for (std::size_t d = 0; d < header.dims.size(); ++d) {
    const std::string name =
        single ? fmt::format("dim_len_{}", d) : fmt::format("D{}.dim_len_{}", k + 1, d);
    dimensions.push_back({name, header.dims[d]});
  }
  return dimensions;
}

void refuse_overlaps(const Comm& comm, const MapFile& file, std::size_t k, const RunList& runs) {
  const Coverage found = coverage(comm, file.maps()[k], runs);
  if (found.overlaps == 0) return;
  throw InputError(fmt::format(
      "Map D{} of '{}' gives {} elements to more than one rank, the first of them element {}; "
      "writing it would leave to chance whose value stays. 'slabmark-decomp check' lists the "
      "faults of a map.",
      k + 1, file.path(), found.overlaps, found.first_overlap));
}

/// Reads maps for one rank's pattern and adds up the time that it takes.
class Reader {
 public:
  Reader(const Comm& comm, MapFile& file, const MapPatternRequest& request)
      : comm_(comm), file_(file), request_(request) {}

  Pattern pattern_of(int rank, bool check) {
    const std::size_t maps = file_.maps().size();
    const std::size_t first = request_.only_map.value_or(0);
    const std::size_t used =
        request_.only_map ? 1 : std::min<std::size_t>(maps, request_.variables);

    std::vector<DecompositionMap> parts;
    for (std::size_t k = first; k < first + used; ++k) {
      MapPart part = file_.read(k, rank, comm_.size());
      read_seconds += part.read_seconds;
      sort_seconds += part.sort_seconds;
      max_requests = std::max<std::uint64_t>(max_requests, part.runs.size());
      if (check) refuse_overlaps(comm_, file_, k, part.runs);
      parts.push_back({dimensions_of(file_.maps()[k], k, maps == 1),
                       select_row_runs(file_.maps()[k].dims, std::move(part.runs))});
    }
    std::vector<DecomposedVariable> variables;
    for (std::uint64_t i = 0; i < request_.variables; ++i) {
      variables.push_back({name_of_variable(i), request_.type, i % used, request_.rounds > 1});
    }
    Pattern pattern = make_decomposition_pattern(parts, variables, request_.rounds);
    pattern.settings["map"] = request_.path;
    pattern.settings["map_layout"] = file_.layout();
    pattern.settings["recorded_ranks"] = std::to_string(file_.maps()[first].recorded_ranks);
    pattern.settings["variables"] = std::to_string(request_.variables);
    pattern.settings["type"] = std::string(name_of(request_.type));
    if (request_.only_map) pattern.settings["map_index"] = std::to_string(first + 1);
    return pattern;
  }

  double read_seconds = 0.0;
  double sort_seconds = 0.0;
  std::uint64_t max_requests = 0;

 private:
  std::string name_of_variable(std::uint64_t i) const {
    return request_.prefix.empty() ? fmt::format("var{:04}", i)
                                   : fmt::format("{}{}", request_.prefix, i);
  }

  const Comm& comm_;
  MapFile& file_;
  const MapPatternRequest& request_;
};

}  // namespace

MapPattern make_map_pattern(const Comm& comm, const MapPatternRequest& request) {
  comm.barrier();
  const auto start = std::chrono::steady_clock::now();
  const std::unique_ptr<MapFile> file = open_map(comm, request.path);
  const double open_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (request.only_map && *request.only_map >= file->maps().size()) {
    throw InputError(fmt::format("'{}' holds {} map{}, so there is no map {}.", request.path,
                                 file->maps().size(), file->maps().size() == 1 ? "" : "s",
                                 *request.only_map + 1));
  }

  MapPattern result;
  result.layout = file->layout();
  Reader reader(comm, *file, request);
  result.mine = reader.pattern_of(comm.rank(), true);
  result.setup = {{"map_open", comm.max(open_seconds)},
                  {"map_read", comm.max(reader.read_seconds)},
                  {"map_sort", comm.max(reader.sort_seconds)}};
  result.max_requests = comm.max(reader.max_requests);
  if (request.with_neighbours) {
    result.neighbours = reader.pattern_of((comm.rank() + 1) % comm.size(), false);
  }
  return result;
}

}  // namespace slabmark
