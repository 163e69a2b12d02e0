#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/run_arguments.hpp"
#include "bench/pattern/content_kind.hpp"
#include "bench/pattern/read_shape.hpp"
#include "core/command_line/command_line.hpp"
#include "core/json/json.hpp"
#include "programs/bench/pattern_command.hpp"

namespace slabmark::bench_program {

/// The command line, checked.
struct Options : CommonOptions {
  std::unique_ptr<PatternCommand> pattern;
  std::vector<const MethodInfo*> methods;
  bool read = false;  ///< measure reading, of files written outside the measurement
  std::optional<ReadShape> read_shape;      ///< of rank 0 alone; none: each rank another one's part
  std::optional<std::uint64_t> written_by;  ///< ranks that write what all ranks read in blocks
  bool bounds = true;                       ///< also run the same bytes contiguously
  std::uint64_t rounds_together = 1;
  ContentKind content = ContentKind::position;
  bool chart = false;
  bool quiet = false;
  std::string directory = ".";
  bool environment = false;  ///< only say what is in effect for files in `directory`
};

/// The list of methods counts as help. Throws InputError for bad usage.
Parsed<Options> parse(int argc, const char* const* argv);

}  // namespace slabmark::bench_program
