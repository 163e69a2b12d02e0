#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "accel/hdf5_connector/journal/journal.hpp"
#include "accel/hdf5_connector/log/index_store.hpp"
#include "accel/hdf5_connector/log/log_dataset.hpp"
#include "accel/hdf5_connector/log/reader.hpp"
#include "accel/hdf5_connector/ranks.hpp"
#include "core/geometry/run.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slablog {

/// The part of the log that one of several ranks reads when they bring datasets together: an equal
/// part of the elements of each dataset, in the order of the log, so that later ranks override
/// earlier ones. Memory: the coded hyperslabs of that part.
class LogShare {
 public:
  /// Reads the `indices` of all flushes, one at a time. The `datasets` know their segments.
  /// `ranks`, `files` and `journal`, which is null where the file is only read, must live as long.
  /// Throws IoError.
  LogShare(const Ranks& ranks, ElementFiles& files, Journal* journal,
           std::span<const StoredIndex> indices, std::span<LogDataset* const> datasets);

  /// Of a dataset, in the whole log.
  std::uint64_t hyperslabs(std::uint64_t dataset) const { return shares_.at(dataset).hyperslabs; }

  /// Collective: writes the elements of a dataset in their order, from byte `address` of `target`
  /// on, which may be the file of the log. Each rank reads its share in large pieces, sends the
  /// elements to those who own them, and writes its own range of the dataset.
  /// `on_written` is told how many bytes each write of this rank had.
  void assemble(const LogDataset& dataset, posix::File& target, std::uint64_t address,
                const std::function<void(std::uint64_t bytes)>& on_written = {});

 private:
  struct KeptEntry {
    std::uint64_t flush;
    IndexEntry entry;
    std::vector<std::byte> coded;
    Run part;  ///< elements of the segment; none: the entry only says what extent there was
  };
  struct Share {
    Run mine;  ///< elements of all segments, one after another
    std::uint64_t segment_begin = 0;
    std::uint64_t segment_elements = 0;  ///< of the flush that is being read
    std::uint64_t hyperslabs = 0;
    Extent extent;  ///< of the last entry
    std::vector<KeptEntry> kept;
  };

  void keep(std::span<const IndexEntry> entries, std::uint64_t flush);
  std::vector<std::uint64_t> lengths_of(std::span<const IndexEntry> entries) const;

  LogDataset part_of(const LogDataset& dataset) const;

  const Ranks& ranks_;
  ElementFiles& files_;
  Journal* journal_;
  std::map<std::uint64_t, Share> shares_;
};

}  // namespace slabmark::slablog
