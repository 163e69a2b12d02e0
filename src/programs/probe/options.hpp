#pragma once

#include <cstdint>
#include <string>

#include "bench/harness/run_arguments.hpp"
#include "core/command_line/command_line.hpp"

namespace slabmark::probe {

/// The command line, checked as far as it can be without knowing the ranks. Sizes are in bytes.
struct Options : CommonOptions {
  enum class Mode { nodes, files };

  Mode mode = Mode::nodes;
  std::string directory = ".";
  bool quiet = false;

  std::uint64_t pair_bytes = 64u << 20;   ///< from one node to another, each way
  std::uint64_t request_size = 1u << 20;  ///< of a message, and of a write
  std::uint64_t node_bytes = 64u << 20;   ///< that a node writes; 0: none
  std::uint64_t meetings = 15;            ///< other nodes that a node meets in a trial, at most
  std::uint64_t writers = 0;              ///< nodes that write at a time; 0: all
  std::uint64_t ranks_per_node = 0;       ///< 0: a node is a host

  std::uint64_t files_per_rank = 100;  ///< of each rank
  std::uint64_t file_size = 4096;      ///< of each file
  bool own_folders = false;
};

Parsed<Options> parse(int argc, const char* const* argv);

}  // namespace slabmark::probe
