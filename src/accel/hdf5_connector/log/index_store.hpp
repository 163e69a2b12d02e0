#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accel/hdf5_connector/log/log_dataset.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slablog {

/// The index of a flush as it lies in the file.
struct StoredIndex {
  Line line;
  std::optional<std::uint64_t> checksum;  ///< checksum_of() it; none in logs of version 1
  std::optional<Line> marks = {};         ///< by which parts of it can be read
  std::uint64_t marks_checksum = 0;
};

/// An index of fewer bytes is read at once.
constexpr std::uint64_t most_read_at_once = 64 << 10;
/// The marks of these entries of an index: an entry for each, whose runs are the marks.
std::vector<std::byte> marks_of(std::span<const std::byte> entries, const std::string& place);

/// The part of it that was read.
struct IndexContent {
  std::unique_ptr<std::byte[]> bytes;
  std::vector<IndexEntry> entries;  ///< in the bytes
};

/// Reads all of the index of a flush. Throws IoError where it is damaged.
IndexContent read_index(posix::File& file, const StoredIndex& index, std::uint64_t flush);

/// The indices of all flushes of a file: which hyperslabs are in the log, and where. They are read
/// when they are needed, and handed to the datasets entry by entry.
class IndexStore {
 public:
  /// `file` must live as long.
  explicit IndexStore(posix::File& file) : file_(file) {}

  /// Collective: finds the indices of an old file. Throws IoError where one is missing.
  void load(const Location& location);
  /// Collective: the next flush has this index.
  void add(const Location& location, const StoredIndex& index);
  /// Collective: how many there are, in the file.
  void note_flushes(const Location& location) const;

  std::span<const StoredIndex> indices() const { return indices_; }
  std::uint64_t flushes() const { return indices_.size(); }
  std::uint64_t bytes() const;
  /// Of a dataset: flushed, all ranks. Counts what was read.
  std::uint64_t hyperslabs(std::uint64_t dataset) const;

  /// Reads all indices whole, and keeps nothing. Throws IoError where one is damaged.
  void check() const;
  /// Collective: tells a dataset where its segments are. Throws IoError.
  void find_segments(const Location& location, LogDataset& dataset);
  /// Hands on the entries that are new to `dataset`. Throws IoError.
  void update(LogDataset& dataset);

 private:
  struct Entry {
    std::uint64_t flush;
    IndexEntry entry;
  };

  IndexContent read_marks(const StoredIndex& index, std::uint64_t flush);
  void parse();
  [[noreturn]] void has_lost(const std::string& name) const;
  void check_holes(const Location& location, std::uint64_t dataset) const;

  posix::File& file_;
  std::vector<StoredIndex> indices_;
  std::vector<std::unique_ptr<std::byte[]>> parsed_;     ///< as many of them as were read
  std::map<std::uint64_t, std::vector<Entry>> waiting_;  ///< by dataset: parsed, not loaded
  std::map<std::uint64_t, std::uint64_t> hyperslabs_;
};

}  // namespace slabmark::slablog
