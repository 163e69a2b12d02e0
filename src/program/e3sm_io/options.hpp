#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/cell.hpp"
#include "bench/run_arguments.hpp"
#include "pattern/dataset.hpp"

namespace slabmark::e3sm_io {

/// The command line, checked.
struct Options {
  std::string map;
  std::string output;  ///< file or directory, as given
  std::uint64_t variables = 1;
  bool quiet = false;
  ElementType type = ElementType::float64;
  std::optional<std::uint64_t> only_map;  ///< 0-based
  std::vector<const MethodInfo*> methods;
  RunOptions run;
  Settings settings;
  std::string json;
  nlohmann::json configuration;  ///< resolved, for the manifest
};

/// Nothing in `options` if help was asked for; `help` then holds the text.
struct CommandLine {
  std::optional<Options> options;
  std::string help;
};

/// Throws InputError for bad usage.
CommandLine parse(int argc, const char* const* argv);

/// File that `method` writes: testfile_vard.nc in a directory, name_vard.nc for name.nc. The
/// methods must not share one file, and the original's used these names.
std::string output_path(const std::string& output, const MethodInfo& method);

/// "vard" for pnetcdf-vard, as the original calls them; else the method's name.
std::string short_name(const MethodInfo& method);

}  // namespace slabmark::e3sm_io
