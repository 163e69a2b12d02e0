#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/command_line.hpp"
#include "bench/run_arguments.hpp"
#include "pattern/dataset.hpp"

namespace slabmark::e3sm_io {

/// The command line, checked.
struct Options : CommonOptions {
  std::string map;
  std::string output;  ///< file or directory, as given
  std::uint64_t variables = 1;
  bool quiet = false;
  ElementType type = ElementType::float64;
  std::optional<std::uint64_t> only_map;  ///< 0-based
  std::vector<const MethodInfo*> methods;
};

/// Throws InputError for bad usage.
Parsed<Options> parse(int argc, const char* const* argv);

/// File that `method` writes: testfile_vard.nc in a directory, name_vard.nc for name.nc. The
/// methods must not share one file, and the original's used these names.
std::string output_path(const std::string& output, const MethodInfo& method);

/// "vard" for pnetcdf-vard, as the original calls them; else the method's name.
std::string short_name(const MethodInfo& method);

}  // namespace slabmark::e3sm_io
