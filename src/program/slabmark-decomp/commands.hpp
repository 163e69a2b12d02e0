#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "parallel/comm.hpp"
#include "pattern/synthetic/decomposition.hpp"

namespace slabmark::decomp {

struct InfoOptions {
  std::string input;
  bool is_json = false;
  std::uint64_t ranks = 0;  ///< 0: as recorded
  std::uint64_t map = 0;    ///< from 1; 0: all
};

/// Collective. Prints what the maps of a file look like.
ExitStatus info(const Comm& comm, const InfoOptions& options);

/// Collective. Looks for faults in the rows of all maps: values outside the array, elements owned
/// twice. ExitStatus::failed if there are any; a file that cannot be opened as a map is an
/// InputError.
ExitStatus check(const Comm& comm, const std::string& input);

/// Where `convert` and `generate` put their maps.
struct OutputOptions {
  std::string path;
  std::string format;           ///< "dat", "nc", or empty: by the name
  std::string layout = "auto";  ///< of .nc files: "single", "many", "auto": single for a single map
  std::uint64_t map = 0;        ///< from 1: only this one; 0: all
  bool may_overwrite = false;
  std::string command_line;
};

/// For one process.
void convert(const std::vector<std::string>& inputs, const OutputOptions& output);

/// For one process.
void write_generated(const SyntheticDecomposition& decomposition, const OutputOptions& output);

}  // namespace slabmark::decomp
