#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/run_arguments.hpp"
#include "bench/pattern/slice_pattern.hpp"
#include "core/command_line/command_line.hpp"

namespace slabmark::slice_eval {

/// The command line, checked as far as it can be without knowing the number of ranks.
/// `settings` are of methods of the registry.
struct Options : CommonOptions {
  BlockedField grid;
  std::array<std::uint64_t, 3> stride = {1, 1, 1};  ///< that of the normal axis is 1
  std::size_t normal = 2;
  std::uint64_t position = 0;
  bool balanced = true;  ///< no process grid was given: all ranks along x, as in the seed
  std::uint64_t fields = 1;
  ElementType type = ElementType::float64;  ///< in the files
  std::vector<const MethodInfo*> methods;
  std::uint64_t outputs = 15;
  std::uint64_t computations = 0;  ///< passes over the fields between two outputs
  std::uint64_t sweep = 96 << 20;  ///< bytes of other memory touched before each output
  std::uint64_t regular = 0;       ///< trials of writing the whole field
  bool with_halos = false;         ///< of the whole field, at its outer faces
  bool huge_pages = true;
  bool on_gpu = false;  ///< where the fields are
  std::string directory = ".";
};

/// Throws InputError for bad usage.
Parsed<Options> parse(int argc, const char* const* argv);

}  // namespace slabmark::slice_eval
