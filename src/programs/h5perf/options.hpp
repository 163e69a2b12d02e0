#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/run_arguments.hpp"
#include "bench/pattern/transfer_pattern.hpp"
#include "core/base/words.hpp"
#include "core/command_line/command_line.hpp"
#include "programs/h5perf/environment.hpp"

namespace slabmark::h5perf {

enum class Api { posix, mpiio, phdf5 };

/// As -A takes them.
inline constexpr Word<Api> api_names[] = {
    {"posix", Api::posix}, {"mpiio", Api::mpiio}, {"phdf5", Api::phdf5}};

/// The value of every byte of a dataset.
enum class Contents {
  position,  ///< what can be verified: a closed form of its place
  rank,      ///< 1 + the rank that wrote it
  request,   ///< 1 + the number of the request that wrote it
  buffer,    ///< its place in the transfer buffer
};

struct DebugFlags {
  int level = 0;  ///< 0 to 4
  bool raw = false;
  bool times = false;
  bool verify = false;
};

/// Ends of the ranges; a buffer size of 0 stands for the default.
struct SweepLimits {
  std::uint64_t min_processes = 1;
  std::optional<std::uint64_t> max_processes;  ///< nothing: all
  std::uint64_t min_buffer = 0;
  std::uint64_t max_buffer = 0;
};

/// The command line, checked, with defaults filled in.
struct Options : CommonOptions {
  std::vector<Api> apis;      ///< in the order in which they run
  TransferGeometry geometry;  ///< all but the transfer buffer size and, by API, the storage
  bool chunked = false;
  bool collective = false;
  bool original_emulation = false;
  std::uint64_t align = 1;
  std::uint64_t align_threshold = 1;
  std::uint64_t files = 1;
  SweepLimits limits;
  std::vector<int> processes;          ///< in the order in which they run
  std::vector<std::uint64_t> buffers;  ///< transfer buffer sizes in the order in which they run
  std::uint64_t iterations = 1;
  bool write_only = false;
  std::vector<Contents> contents = {Contents::position};  ///< of one dataset after another
  bool one_buffer = false;                 ///< all requests of a rank move the same memory
  std::uint64_t buffer_memory = 64 << 20;  ///< bytes that a rank's buffers may take together
  double ceiling = 0.0;  ///< bytes per second that are possible; 0: measure memcpy
  DebugFlags debug;
  std::string output;              ///< of the report; empty: standard output
  std::vector<std::string> notes;  ///< of what was asked for but is not done as it was
  Environment environment;
};

/// Throws InputError for bad usage. The sweep is left to set_sweep().
Parsed<Options> parse(int argc, const char* const* argv);

/// Sets `processes` and `buffers` by the limits in a world of `ranks`. Throws InputError for sizes
/// that do not divide one another anywhere in the sweep, and for too few ranks.
void set_sweep(Options& options, std::uint64_t ranks);

}  // namespace slabmark::h5perf
