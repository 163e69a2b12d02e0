#include "bench/pattern/decomposition_pattern.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

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
  std::vector<Transfer> transfers;
  for (const DecomposedVariable& variable : variables) {
    const DecompositionMap& map = maps[variable.map];
    transfers.push_back({pattern.datasets.size(), 0, map.selection, nullptr});
    pattern.datasets.push_back({.name = variable.name,
                                .type = variable.type,
                                .dimensions = map.dimensions,
                                .has_time = variable.has_time,
                                .chunk = {}});
  }
  pattern.transfers = record_a_round(std::move(transfers), pattern.datasets);
  return pattern;
}

std::function<std::vector<Transfer>(std::uint64_t round)> record_a_round(
    std::vector<Transfer> all, const std::vector<Dataset>& datasets) {
  std::vector<bool> has_time;
  for (const Dataset& dataset : datasets) has_time.push_back(dataset.has_time);
  return [all = std::move(all), has_time = std::move(has_time)](std::uint64_t round) {
    std::vector<Transfer> transfers;
    for (const Transfer& transfer : all) {
      if (round > 0 && !has_time[transfer.dataset]) continue;
      transfers.push_back(transfer);
      transfers.back().time = has_time[transfer.dataset] ? round : 0;
    }
    return transfers;
  };
}

}  // namespace slabmark
