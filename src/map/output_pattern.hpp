#pragma once

#include <cstdint>
#include <string>

#include "map/map_pattern.hpp"
#include "pattern/dataset.hpp"

namespace slabmark {

/// A whole output file on the maps of a decomposition file.
struct OutputPatternRequest {
  std::string path;    ///< of the decomposition
  std::string output;  ///< name of a table, see find_output_table()
  ElementType real = ElementType::float64;
  std::uint64_t records = 1;
  bool with_neighbours = false;  ///< also the pattern of the next rank, for reading back
};

/// Collective. Map k of the file is map k of the table. Throws an agreed InputError where
/// find_output_table(), make_output_pattern() or the reading of maps does.
MapPattern make_output_map_pattern(const Comm& comm, const OutputPatternRequest& request);

}  // namespace slabmark
