#pragma once

#include <optional>
#include <string>

#include "bench/checkpoint/settings.hpp"
#include "bench/harness/run_arguments.hpp"
#include "core/command_line/command_line.hpp"

namespace slabmark::seism_core_slice {

/// The command line, checked; what is written is said on standard input. Its settings go over those
/// of the input.
struct Options : CommonOptions {
  std::string input;  ///< file; empty: standard input
};

/// Throws InputError for bad usage.
Parsed<Options> parse(int argc, const char* const* argv);

/// True if HDF5 allocates all space when it makes the dataset: always without filters, for it must
/// when it writes in parallel.
bool allocates_early(const CheckpointSettings& checkpoint);

/// The settings of the HDF5 method that does what `checkpoint` says, the user's own over them.
Settings method_settings(const CheckpointSettings& checkpoint, const Settings& user);

}  // namespace slabmark::seism_core_slice
