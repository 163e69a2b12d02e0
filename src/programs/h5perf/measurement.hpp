#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/record.hpp"
#include "core/parallel/comm.hpp"
#include "programs/h5perf/options.hpp"

namespace slabmark::h5perf {

/// One point of the sweep: one API, number of processes and transfer buffer size.
struct Point {
  Api api = Api::posix;
  TransferGeometry geometry;  ///< with the storage that the API takes
  bool last = false;          ///< its files are those that stay where files are kept
};

/// "#pio_tmp_1.posix" and so on in `directory`, for each file of a run.
std::vector<std::string> paths_of(const Options& options, Api api, const std::string& directory);

/// Collective. In each iteration all files are written, read and removed one after another; their
/// times add up. The records, of writing and unless `options` say otherwise of reading, are
/// complete on root. Throws an agreed Error where I/O fails or contents are not what they should
/// be.
std::vector<CellRecord> measure(const Comm& comm, const Options& options, const Point& point,
                                const std::string& directory);

/// The point for an API and a buffer size.
Point make_point(const Options& options, Api api, std::uint64_t buffer);

}  // namespace slabmark::h5perf
