#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "convert/classic_target.hpp"
#include "convert/selection.hpp"
#include "convert/settings.hpp"
#include "core/base/progress_line.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::convert {

/// Stands for the name of a variable in that of an output.
inline constexpr std::string_view each_variable = "{variable}";

struct ConvertOptions {
  std::vector<std::string> inputs;  ///< of several, see combine()
  std::string output;  ///< with each_variable in it: a file for each variable, see split()
  Selection selection;
  Settings settings;
  NetcdfKind kind = NetcdfKind::netcdf4;  ///< of the output
  bool overwrite = false;
  bool replaces_input = false;  ///< the output may be an input, whose place it takes
  bool verify = false;          ///< compare every element with the source when the file is whole
  bool drop_behind = false;     ///< leave neither input nor output in the page cache
  bool resume = false;          ///< go on where a killed run ended, and let a later run do so
  std::map<std::string, std::string> given;  ///< options by which that run is known again
  bool sync = false;                         ///< reach the disk before the file has its name
  std::uint64_t memory = 256u << 20;         ///< bytes that a rank holds for elements, at most
};

/// Of what was converted.
struct Conversion {
  std::size_t files = 0, variables = 0;
  std::uint64_t bytes = 0;         ///< of all elements
  std::uint64_t bytes_before = 0;  ///< of those that an earlier run has written
  std::uint64_t stored_bytes = 0;  ///< of the file that was made
};

/// Collective. Writes what the inputs hold to the output, which gets its name when it is whole.
/// Throws an agreed Error, and the output is then what it was before; of several files those that
/// are not whole are. `on_step` is called on all
/// ranks.
Conversion convert(const Comm& comm, const ConvertOptions& options, const OnStep& on_step);

}  // namespace slabmark::convert
