#pragma once

#include <span>
#include <string_view>

namespace slabmark {

/// A file with the table of an output file, compiled in so that programs need no data files beside
/// them.
struct BuiltInTable {
  std::string_view folder;  ///< of pattern: "e3sm" or "workload/tables"
  std::string_view name;    ///< of the file, without .json
  std::string_view json;
};

std::span<const BuiltInTable> built_in_tables();

}  // namespace slabmark
