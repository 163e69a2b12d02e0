#pragma once

#include "logvol/log_file.hpp"

namespace slabmark::logvol {

/// Hyperslabs that one mapping of a virtual dataset describes at most. HDF5 2.2.0 needs about 25 KB
/// of memory a mapping, so one a hyperslab is too many; but it unites the hyperslabs of a mapping
/// one by one when the dataset is opened, so one mapping for all takes quadratic time. With 10^5
/// hyperslabs of 1 to 4 elements, opening took 0.07 s with 128, 0.14 s with 256, 0.68 s with 1024.
constexpr std::size_t hyperslabs_of_mapping = 128;

/// Makes the view of `dataset`: a virtual dataset whose mappings lead to the segments of the log,
/// so that any HDF5 program reads it. `file` is the same file, open in this process alone and
/// without this connector.
void write_view(hid_t file, const Location& location, LogDataset& dataset);

/// Brings the views of all datasets of a closed log file up to date and marks it closed. For one
/// process. Returns how many views were written.
std::uint64_t write_views(const std::string& path, const Config& config);

/// One dataset of a log, as slablog-info shows it.
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

/// What a log file holds. For one process; throws InputError if the file has no log.
LogSummary summarise(const std::string& path);

}  // namespace slabmark::logvol
