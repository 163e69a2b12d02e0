#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "program/slice_eval/way.hpp"

namespace slabmark::slice_eval {

/// One way of writing the plain or the strided slice, with what was measured.
struct Row {
  std::string method;
  bool strided = false;
  std::string left_out;         ///< why there are no figures
  std::vector<double> seconds;  ///< an output each, barrier to slowest rank; no warm-up
  /// Of an output: medians of the slowest rank's seconds in each part (grow: the mean, since it
  /// comes now and then), bytes of all ranks, requests of the busiest.
  slice::Tally slowest;
  double kernel_writes = 0.0;  ///< write calls an output of the busiest rank, as the kernel counts
  double finish = 0.0;         ///< seconds to complete and close
  std::uint64_t outputs = 0;   ///< warm-up included
  std::uint64_t data_bytes = 0;  ///< of them all
  std::uint64_t file_bytes = 0;
  std::uint64_t file_count = 0;
  std::uint64_t verified = 0;  ///< elements
};

/// Collective. Measures all ways, output by output in turns of random order. Throws where writing
/// fails or a file does not hold what it must; files are removed unless options.keep.
std::vector<Row> measure(const Comm& comm, const Options& options, Fields& fields);

}  // namespace slabmark::slice_eval
