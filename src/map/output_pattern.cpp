#include "map/output_pattern.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "map/map_selections.hpp"
#include "pattern/output_table.hpp"

namespace slabmark {

namespace {

Pattern pattern_of(MapSelections& selections, const OutputTable& table,
                   const OutputPatternRequest& request, int rank, bool check) {
  OutputShare share;
  share.is_first = rank == 0;
  share.real = request.real;
  share.records = request.records;
  for (std::size_t k = 0; k < table.maps.size(); ++k) {
    share.maps.push_back(selections.read(k, rank, check));
  }
  Pattern pattern = make_output_pattern(table, share);
  pattern.settings["map"] = request.path;
  pattern.settings["map_layout"] = selections.file().layout();
  pattern.settings["recorded_ranks"] =
      std::to_string(selections.file().maps().front().recorded_ranks);
  return pattern;
}

}  // namespace

MapPattern make_output_map_pattern(const Comm& comm, const OutputPatternRequest& request) {
  const OutputTable table = find_output_table(request.output);
  MapSelections selections(comm, request.path);
  if (selections.file().maps().size() != table.maps.size()) {
    throw InputError(fmt::format("'{}' holds {} map{}, but the output file {} needs {}.",
                                 request.path, selections.file().maps().size(),
                                 selections.file().maps().size() == 1 ? "" : "s", table.name,
                                 table.maps.size()));
  }
  MapPattern result;
  result.layout = selections.file().layout();
  result.mine = pattern_of(selections, table, request, comm.rank(), true);
  result.setup = selections.setup();
  result.max_requests = selections.max_requests();
  if (request.with_neighbours) {
    result.neighbours =
        pattern_of(selections, table, request, (comm.rank() + 1) % comm.size(), false);
  }
  return result;
}

}  // namespace slabmark
