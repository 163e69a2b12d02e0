#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/run_arguments.hpp"
#include "core/command_line/command_line.hpp"

namespace slabmark::dwrite_eval {

/// A way of writing that the report has a section for.
struct Way {
  std::string progress;                ///< "N H5Dwrite", in the line that says what is being tested
  std::string label;                   ///< "H5Dwrite per hyper-slab", in the lines of the report
  std::string file;                    ///< "ndwrite.h5", in the output directory
  const MethodInfo* method = nullptr;  ///< null: the section says `missing` instead of figures
  std::string missing;
};

/// The command line, checked.
struct Options : CommonOptions {
  std::string map;
  std::string output = "./";  ///< directory
  std::uint64_t variables = 1;
  bool verbose = false;
  std::vector<Way> ways;
};

/// Throws InputError for bad usage.
Parsed<Options> parse(int argc, const char* const* argv);

}  // namespace slabmark::dwrite_eval
