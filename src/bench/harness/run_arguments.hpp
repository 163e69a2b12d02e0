#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bench/harness/cell.hpp"
#include "core/command_line/command_line.hpp"

namespace slabmark {

/// The options of a run that any program has on its command line; a program adds its own. The
/// defaults of `run` are the program's, set before the functions below add options, which keep
/// references to it.
struct CommonOptions {
  RunOptions run;
  Settings settings;
  Json configuration;                   ///< for the manifest; left to the program
  std::optional<std::uint64_t> trials;  ///< just so many, in place of the program's own rule
  bool no_warm_up = false;
  int thread_level = MPI_THREAD_FUNNELED;  ///< that MPI is asked for
};

/// A program that runs each method once, as the originals do, unless told to do it more often.
RunOptions one_trial();

/// --json, which every program that measures has.
void add_json_argument(Command& command, CommonOptions& options);

/// --deadline.
void add_deadline_argument(Command& command, CommonOptions& options);

/// --hint, --set, --json, --keep and --overwrite, which every program that measures has. Parsing
/// throws InputError for a hint or setting without "=".
void add_output_arguments(Command& command, CommonOptions& options);

/// Those, and the others of every program whose trials are whole passes over a file.
void add_common_arguments(Command& command, CommonOptions& options);

/// --verify, which is what the program does anyway, and --no-verify, which means `without`.
void add_verify_arguments(Command& command, CommonOptions& options, const std::string& without);

/// Those of a program that runs until the median is known well enough; after the common ones.
void add_stopping_arguments(Command& command, CommonOptions& options);

/// The rest of parsing: a number of trials becomes the rule, and the methods that are `chosen`, or
/// may be, say which level of threads they need from MPI. Throws InputError for a rule that cannot
/// work, a hint that MPI cannot have, and as check_options() does.
void resolve_common(CommonOptions& options, std::span<const MethodInfo* const> chosen);

}  // namespace slabmark
