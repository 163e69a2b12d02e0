#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "slablog/log_dataset.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slablog {

/// The indices of all flushes of a file: which hyperslabs are in the log, and where. They are read
/// when they are needed, and handed to the datasets entry by entry.
class IndexStore {
 public:
  /// `file` must live as long.
  explicit IndexStore(posix::File& file) : file_(file) {}

  /// Collective: finds the indices of an old file.
  void load(const Location& location);
  void add(Line index) { indices_.push_back(index); }

  std::span<const Line> indices() const { return indices_; }
  std::uint64_t flushes() const { return indices_.size(); }
  std::uint64_t bytes() const;
  /// Of a dataset: flushed, all ranks. Counts what was read.
  std::uint64_t hyperslabs(std::uint64_t dataset) const;

  /// Collective: tells a dataset where its segments are. Throws IoError.
  void find_segments(const Location& location, LogDataset& dataset);
  /// Hands on the entries that are new to `dataset`. Throws IoError.
  void update(LogDataset& dataset);

 private:
  struct Entry {
    std::uint64_t flush;
    IndexEntry entry;
  };

  void parse();

  posix::File& file_;
  std::vector<Line> indices_;
  std::vector<std::unique_ptr<std::byte[]>> parsed_;     ///< as many of them as were read
  std::map<std::uint64_t, std::vector<Entry>> waiting_;  ///< by dataset: parsed, not loaded
  std::map<std::uint64_t, std::uint64_t> hyperslabs_;
};

}  // namespace slabmark::slablog
