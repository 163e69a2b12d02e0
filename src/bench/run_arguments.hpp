#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/cell.hpp"
#include "parallel/comm.hpp"

namespace slabmark {

/// What the user may say of a run on the command line of any program, as text until it is resolved.
struct RunArguments {
  std::string trials;      ///< a fixed number; empty: the program's own rule
  std::string min_trials;  ///< the next four make up a StoppingRule
  std::string max_trials;
  std::string precision;
  std::string time_budget;
  std::string deadline;
  std::string seed;
  bool no_warm_up = false;
  bool verify = false;
  bool no_verify = false;
  bool sync = false;
  bool keep = false;
  bool overwrite = false;
  std::string json;                  ///< file that records are appended to
  std::vector<std::string> hints;    ///< "key=value" for MPI-IO
  std::vector<std::string> options;  ///< "mpiio.view=off" for methods
};

/// The same resolved; the options of a program are this and what is its own.
struct CommonOptions {
  RunOptions run;
  Settings settings;
  std::string json;              ///< file that records are appended to; empty: none
  nlohmann::json configuration;  ///< for the manifest; left to the program
};

/// --json, --hint, --set, --keep and --overwrite, which every program that measures has.
void add_output_arguments(CLI::App& app, RunArguments& arguments);

/// Those, and the others of every program whose trials are whole passes over a file.
void add_common_arguments(CLI::App& app, RunArguments& arguments);

/// --verify, which is what the program does anyway, and --no-verify, described by `otherwise`.
void add_verify_arguments(CLI::App& app, RunArguments& arguments, const std::string& otherwise);

/// Those of a program that runs until the median is known well enough.
void add_stopping_arguments(CLI::App& app, RunArguments& arguments);

/// Throws InputError for a value that is no number and a rule that cannot work. `standard` holds
/// what the program does where the user says nothing.
RunOptions resolve_options(const RunArguments& arguments, RunOptions standard);

/// Collective. Throws an agreed InputError if records could not be appended to the file `path`; an
/// empty path, which asks for no records, is good.
void require_record_file(const Comm& comm, const std::string& path);

/// Throws InputError for text without "=", and for an option that no method has.
Settings resolve_settings(const RunArguments& arguments);

/// All of them but the configuration. Throws InputError, as the two above.
void resolve_common(const RunArguments& arguments, RunOptions standard, CommonOptions& options);

}  // namespace slabmark
