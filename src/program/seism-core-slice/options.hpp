#pragma once

#include <optional>
#include <string>

#include "bench/cell.hpp"
#include "checkpoint/settings.hpp"

namespace slabmark::seism_core_slice {

/// The command line, checked; what is written is said on standard input.
struct Options {
  std::string input;  ///< file; empty: standard input
  RunOptions run;
  Settings settings;  ///< hints and options that the user gave, over those of the input
  std::string json;
};

/// Nothing in `options` if help was asked for; `help` then holds the text.
struct CommandLine {
  std::optional<Options> options;
  std::string help;
};

/// Throws InputError for bad usage.
CommandLine parse(int argc, const char* const* argv);

/// True if HDF5 allocates all space when it makes the dataset: always without filters, for it must
/// when it writes in parallel.
bool allocates_early(const CheckpointSettings& checkpoint);

/// The settings of the HDF5 method that does what `checkpoint` says, the user's own over them.
Settings method_settings(const CheckpointSettings& checkpoint, const Settings& user);

}  // namespace slabmark::seism_core_slice
