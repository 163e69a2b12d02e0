#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "accel/hdf5_connector/config.hpp"
#include "accel/hdf5_connector/journal/journal.hpp"
#include "accel/hdf5_connector/under.hpp"
#include "core/geometry/extent.hpp"

namespace slabmark::slablog {

/// Brings the views of all datasets of a closed log file up to date and marks it closed. For one
/// process. Returns how many views were written. `journal`: of the writer that has just closed the
/// file; without it, what a writer left undone is undone first.
std::uint64_t write_views(const std::string& path, const Config& config,
                          std::shared_ptr<Journal> journal = nullptr);

/// One dataset of a log, as slabmark log info shows it.
struct DatasetSummary {
  std::string path;
  Extent extent;
  std::uint64_t element_bytes = 0;
  std::uint64_t hyperslabs = 0;  ///< in the index
  std::uint64_t elements = 0;    ///< of the dataset that were written
  bool viewed = false;           ///< programs without the connector see all of it
};

struct LogSummary {
  LogState state = LogState::open;
  std::uint64_t flushes = 0;
  std::uint64_t index_bytes = 0;
  std::vector<DatasetSummary> datasets;
};

/// The contents of a log file. For one process; throws InputError if the file has no log.
LogSummary summarise(const std::string& path);

}  // namespace slabmark::slablog
