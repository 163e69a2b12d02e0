#include "pattern/decomposition_pattern.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark {
namespace {

void check_maps(const std::vector<DecompositionMap>& maps) {
  for (std::size_t k = 0; k < maps.size(); ++k) {
    Extent lengths;
    for (const Dimension& dimension : maps[k].dimensions) lengths.push_back(dimension.length);
    if (maps[k].selection->extent() == lengths) continue;
    throw InputError(
        fmt::format("The selection of map {} lies in an array of {}, its dimensions are {}.", k,
                    to_string(maps[k].selection->extent()), to_string(lengths)));
  }
}

void check_variables(const std::vector<DecomposedVariable>& variables, std::size_t maps) {
  for (const DecomposedVariable& variable : variables) {
    if (variable.map < maps) continue;
    throw InputError(
        fmt::format("Variable \"{}\" is laid out by map {}, but there are {} maps, counted from 0.",
                    variable.name, variable.map, maps));
  }
}

}  // namespace

Pattern make_decomposition_pattern(const std::vector<DecompositionMap>& maps,
                                   const std::vector<DecomposedVariable>& variables,
                                   std::uint64_t rounds) {
  if (rounds == 0) throw InputError("A pattern of 0 rounds moves nothing; ask for 1 or more.");
  check_maps(maps);
  check_variables(variables, maps.size());

  Pattern pattern;
  pattern.name = "decomposition";
  pattern.settings = {{"maps", fmt::to_string(maps.size())},
                      {"variables", fmt::to_string(variables.size())},
                      {"rounds", fmt::to_string(rounds)}};
  pattern.rounds = rounds;
  std::vector<SelectionPtr> selections;
  for (const DecomposedVariable& variable : variables) {
    const DecompositionMap& map = maps[variable.map];
    pattern.datasets.push_back({.name = variable.name,
                                .type = variable.type,
                                .dimensions = map.dimensions,
                                .has_time = variable.has_time,
                                .chunk = {}});
    selections.push_back(map.selection);
  }
  std::vector<bool> has_time;
  for (const DecomposedVariable& variable : variables) has_time.push_back(variable.has_time);
  pattern.transfers = [selections, has_time](std::uint64_t round) {
    std::vector<Transfer> transfers;
    for (std::size_t i = 0; i < selections.size(); ++i) {
      if (round > 0 && !has_time[i]) continue;
      transfers.push_back({i, has_time[i] ? round : 0, selections[i], nullptr});
    }
    return transfers;
  };
  return pattern;
}

}  // namespace slabmark
