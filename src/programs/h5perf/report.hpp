#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "programs/h5perf/measurement.hpp"
#include "programs/h5perf/options.hpp"

namespace slabmark::h5perf {

/// The block of parameters that opens the report.
std::string format_parameters(const Options& options, const std::string& hdf5_version);

/// "Number of processors = 3".
std::string format_processes(std::uint64_t processes);

/// The lines about transfer buffer, files and datasets.
std::string format_buffer(const Options& options, std::uint64_t buffer, std::uint64_t processes);

/// The heading and figures of one API. `ceiling` is in bytes per second: figures above it are
/// named. `records` are those of measure().
std::string format_api(const Options& options, const Point& point,
                       std::span<const CellRecord> records, double ceiling);

}  // namespace slabmark::h5perf
