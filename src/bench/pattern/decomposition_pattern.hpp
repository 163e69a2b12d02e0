#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// A global array shape and what this rank owns of it.
struct DecompositionMap {
  std::vector<Dimension> dimensions;  ///< C order, without time
  SelectionPtr selection;             ///< in an extent of those lengths
};

/// A variable of the application that is laid out as one of the maps says.
struct DecomposedVariable {
  std::string name;
  ElementType type = ElementType::float64;
  std::size_t map = 0;  ///< index into the maps
  bool has_time = false;
};

/// The pattern of an application that writes decomposed variables. Variables of one map share its
/// selection object. In round r the variables with a time dimension move record r; those without
/// move in round 0 only, so later rounds may have no transfers at all. Buffers are dense.
/// Throws InputError if there is no round, if a map's selection has another shape than its
/// dimensions, or if a variable names a map that does not exist.
Pattern make_decomposition_pattern(const std::vector<DecompositionMap>& maps,
                                   const std::vector<DecomposedVariable>& variables,
                                   std::uint64_t rounds = 1);

/// Pattern::transfers of `all`, one a dataset: those with a time dimension move record r in round
/// r, the others in round 0 only.
std::function<std::vector<Transfer>(std::uint64_t round)> record_a_round(
    std::vector<Transfer> all, const std::vector<Dataset>& datasets);

}  // namespace slabmark
