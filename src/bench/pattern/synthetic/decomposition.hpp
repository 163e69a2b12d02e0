#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/geometry/extent.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {

/// Receives a rank's entries in stretches, in model memory order. An entry is the 1-based position
/// of an element in the global array, 0 a hole (a slot of the model's memory that is not written).
/// The position counts the fastest-varying dimension first, so entry e > 0 is the row-major element
/// e - 1 of SyntheticMap::dims. This is exactly what PIO writes to a .dat file. The span is valid
/// during the call only.
using EntryVisitor = std::function<void(std::span<const std::uint64_t> entries)>;

/// One map of a generated decomposition: which elements of a global array each rank of the
/// application owns. The entries are generated rank by rank when they are visited; only what
/// several maps share (the owner of each column, say) is stored, behind the closures. Copies share
/// it.
struct SyntheticMap {
  std::string name;         ///< "D1", "D2", ...
  Extent dims;              ///< C order (slowest first), for example {72, 866}
  std::uint64_t ranks = 0;  ///< of the application

  /// Number of entries of a rank, holes included: the second number of its line in a .dat file.
  std::function<std::uint64_t(std::uint64_t rank)> entry_count;

  /// Visits all entries of a rank.
  std::function<void(std::uint64_t rank, const EntryVisitor& visit)> visit;
};

/// All maps of one application configuration, in the order D1, D2, ...
struct SyntheticDecomposition {
  std::string name;         ///< "F ne4", "I 96x144", "G 28571 cells"
  std::uint64_t ranks = 0;  ///< of the application, the same in every map
  std::vector<SyntheticMap> maps;
};

/// The elements of a rank as 0-based row-major runs in model order: holes dropped, an entry
/// appended to the run before it where it follows that run's end. Neither sorted nor cut at rows
/// (see core/geometry/run.hpp for both).
RunList model_order_runs(const SyntheticMap& map, std::uint64_t rank);

/// Number of entries of a rank that are not holes.
std::uint64_t owned_count(const SyntheticMap& map, std::uint64_t rank);

}  // namespace slabmark
