#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "bench/map/decomposition.hpp"
#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// The variables to lay out as a decomposition file says.
struct MapPatternRequest {
  std::string path;
  std::uint64_t variables = 1;
  ElementType type = ElementType::float64;
  std::optional<std::uint64_t> only_map;  ///< 0-based; else variable i uses map i mod maps
  std::uint64_t rounds = 1;  ///< time records; more than one gives every variable a time dimension
  bool with_neighbours = false;  ///< also the pattern of the next rank, for reading back
  int writers = 0;  ///< ranks that have a part, from rank 0 on; 0: all, as for more than there are
  std::string prefix;  ///< "D_" names the variables D_0, D_1, ...; empty: var0000, var0001, ...
};

/// A whole output file on the maps of a decomposition file.
struct OutputPatternRequest {
  std::string path;    ///< of the decomposition
  std::string output;  ///< name of a table, see find_output_table()
  ElementType real = ElementType::float64;
  std::uint64_t records = 1;
  bool with_neighbours = false;  ///< also the pattern of the next rank, for reading back
  int writers = 0;  ///< ranks that have a part, from rank 0 on; 0: all, as for more than there are
};

/// A decomposition as a pattern.
struct MapPattern {
  Pattern mine;
  std::optional<Pattern> neighbours;  ///< what rank (r + 1) mod size owns
  bool is_shared = false;  ///< ranks own elements together, and `mine` has each of them once
  std::string layout;      ///< of the file, as MapFile::layout()
  std::uint64_t max_requests = 0;  ///< coalesced requests of one variable on the busiest rank
  std::map<std::string, double>
      setup;  ///< slowest rank's seconds: "map_open", "map_read", "map_sort"
};

/// Reads the maps in use and makes variables of them; their dimensions are dim_len_0, dim_len_1,
/// ... for a file of one map, D<k>.dim_len_0, ... for several. Collective. Throws an agreed
/// InputError where open_map() or MapFile::read() do, where ranks own the same element and nothing
/// is read, or where `only_map` names a map that is not there.
MapPattern make_map_pattern(const Comm& comm, const MapPatternRequest& request);

/// Collective. Map k of the file is map k of the table. Throws an agreed InputError where
/// find_output_table(), make_output_pattern() or the reading of maps does.
MapPattern make_output_map_pattern(const Comm& comm, const OutputPatternRequest& request);

}  // namespace slabmark
