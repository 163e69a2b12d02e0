#pragma once

#include "logvol/heap_object.hpp"
#include "logvol/log_file.hpp"

namespace slabmark::logvol {

/// A view that is being made. HDF5 makes room for its mappings in the file (begin_view), they go
/// there past HDF5, which must not have the file open (fill_views), and then it gets its name
/// (publish_view). So a view that can be seen is complete, and the one before it stays until then.
struct NewView {
  std::uint64_t number = 0;         ///< of the dataset
  std::uint64_t header = 0;         ///< address of the object header
  std::vector<std::byte> mappings;  ///< encoded; empty: none are needed
};

/// Begins the view of `dataset`: a virtual dataset whose mappings lead to the segments of the log,
/// so that any HDF5 program reads it. `file` is the same file, open in this process alone, without
/// this connector, and with a lowest format of v110. `flushes` is how many the log has.
NewView begin_view(hid_t file, std::uint64_t flushes, LogDataset& dataset);
void fill_views(const std::string& path, const FileFormat& format,
                const std::vector<NewView>& views, Journal& journal);
void publish_view(hid_t file, std::uint64_t number);

/// Brings the views of all datasets of a closed log file up to date and marks it closed. For one
/// process. Returns how many views were written. `journal`: of the writer that has just closed the
/// file; without it, what a writer left undone is undone first.
std::uint64_t write_views(const std::string& path, const Config& config,
                          std::shared_ptr<Journal> journal = nullptr);

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
