#include "map/map_pattern.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "map/map_selections.hpp"
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

/// Makes the pattern of any rank.
class Reader {
 public:
  Reader(MapSelections& selections, const MapPatternRequest& request)
      : selections_(selections), file_(selections.file()), request_(request) {}

  Pattern pattern_of(int rank, bool check) {
    const std::size_t maps = file_.maps().size();
    const std::size_t first = request_.only_map.value_or(0);
    const std::size_t used =
        request_.only_map ? 1 : std::min<std::size_t>(maps, request_.variables);

    std::vector<DecompositionMap> parts;
    for (std::size_t k = first; k < first + used; ++k) {
      parts.push_back(
          {dimensions_of(file_.maps()[k], k, maps == 1), selections_.read(k, rank, check)});
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

 private:
  std::string name_of_variable(std::uint64_t i) const {
    return request_.prefix.empty() ? fmt::format("var{:04}", i)
                                   : fmt::format("{}{}", request_.prefix, i);
  }

  MapSelections& selections_;
  const MapFile& file_;
  const MapPatternRequest& request_;
};

}  // namespace

MapPattern make_map_pattern(const Comm& comm, const MapPatternRequest& request) {
  MapSelections selections(comm, request.path);
  const MapFile& file = selections.file();
  if (request.only_map && *request.only_map >= file.maps().size()) {
    throw InputError(fmt::format("'{}' holds {} map{}, so there is no map {}.", request.path,
                                 file.maps().size(), file.maps().size() == 1 ? "" : "s",
                                 *request.only_map + 1));
  }

  MapPattern result;
  result.layout = file.layout();
  Reader reader(selections, request);
  result.mine = reader.pattern_of(comm.rank(), true);
  result.setup = selections.setup();
  result.max_requests = selections.max_requests();
  if (request.with_neighbours) {
    result.neighbours = reader.pattern_of((comm.rank() + 1) % comm.size(), false);
  }
  return result;
}

}  // namespace slabmark
