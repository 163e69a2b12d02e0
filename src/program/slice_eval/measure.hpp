#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/record.hpp"
#include "program/slice_eval/way.hpp"

namespace slabmark::slice_eval {

/// One way of writing the plain or the strided slice, with what was measured. Bytes are of all
/// ranks. Complete on root.
struct Row {
  std::string method;
  bool strided = false;
  /// A trial is an output, in the phase "post"; its parts are spans of that: gather, exchange,
  /// write, agree, grow. What follows stands in its `effective`, too.
  CellRecord record;
  std::uint64_t bytes_touched = 0;      ///< an output: memory of the fields, in cache lines
  std::uint64_t bytes_written = 0;      ///< an output
  std::uint64_t bytes_from_device = 0;  ///< an output: copied out of a GPU
  double write_calls = 0.0;      ///< an output of the busiest rank, as the kernel counts (mean)
  double close_seconds = 0.0;    ///< to complete and close, once
  std::uint64_t outputs = 0;     ///< in the files, the warm-up included
  std::uint64_t data_bytes = 0;  ///< of all outputs
  std::uint64_t file_bytes = 0;
  std::uint64_t file_count = 0;
};

/// Collective. Measures all ways, output by output in turns of random order. Throws where writing
/// fails or a file does not hold what it must; files are removed unless they are to be kept.
std::vector<Row> measure(const Comm& comm, const Options& options, Fields& fields);

/// Seconds of the outputs, without the warm-up.
inline std::vector<double> seconds_of(const Row& row) {
  return measured_seconds(row.record.trials);
}

}  // namespace slabmark::slice_eval
