#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/pattern/synthetic/decomposition.hpp"
#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::decomp {

struct InfoOptions {
  std::string json;                    ///< file to append a document to; "-": print it instead
  std::optional<std::uint64_t> ranks;  ///< nothing: as recorded
  std::optional<std::uint64_t> map;    ///< from 1; nothing: all
};

/// Collective. Prints what the maps of a file look like.
ExitStatus info(const Comm& comm, const std::string& input, const InfoOptions& options);

/// Collective. Looks for faults in the rows of all maps: values outside the array, elements owned
/// twice. ExitStatus::failed if there are any; a file that cannot be opened as a map is an
/// InputError.
ExitStatus check(const Comm& comm, const std::string& input);

/// Keeps the map that `number` asks for, counted from 1, if any. Throws InputError if `holder`
/// ("the input") has no such map.
template <class Map>
void keep_only(std::vector<Map>& maps, std::optional<std::uint64_t> number,
               const std::string& holder) {
  if (!number) return;
  if (*number > maps.size()) {
    throw InputError(fmt::format("--map-index asks for number {}, but {} has {} map{}.", *number,
                                 holder, maps.size(), maps.size() == 1 ? "" : "s"));
  }
  maps = {maps[*number - 1]};
}

/// Where `convert` and `generate` put their maps.
struct OutputOptions {
  std::string path;
  std::string format;           ///< "dat", "nc", or empty: by the name
  std::string layout = "auto";  ///< of .nc files: "single", "many", "auto": single for a single map
  std::optional<std::uint64_t> map;  ///< from 1: only this one; nothing: all
  bool may_overwrite = false;
  std::string command_line;
};

/// For one process.
void convert(const std::vector<std::string>& inputs, const OutputOptions& output);

/// For one process.
void write_generated(const SyntheticDecomposition& decomposition, const OutputOptions& output);

}  // namespace slabmark::decomp
