#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "geometry/run.hpp"
#include "logvol/index.hpp"
#include "logvol/log_run.hpp"
#include "logvol/under.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::logvol {

/// What this process knows of one dataset of a log file: what it wrote and did not flush yet, and
/// where that is which was flushed. Does no I/O.
class LogDataset {
 public:
  /// `type` is that of the elements in the file. `fill` holds one element.
  LogDataset(std::uint64_t number, hdf5::Handle type, Extent extent, std::vector<std::byte> fill);

  std::uint64_t number() const { return number_; }
  hid_t type() const { return type_.get(); }
  std::size_t element_bytes() const { return element_bytes_; }
  const Extent& extent() const { return extent_; }
  const std::vector<std::byte>& fill() const { return fill_; }

  /// Room for `elements` whose runs are added next.
  std::byte* buffer(std::uint64_t elements);
  /// Says what the bytes at `data`, which buffer() returned, are: the runs one after another.
  void add_pending(std::span<const Run> runs, const std::byte* data);
  std::uint64_t pending_bytes() const { return pending_bytes_; }  ///< in memory
  bool has_pending() const { return !tail_.empty() || !pending_.empty(); }
  /// All that is pending, ascending, without overlap.
  const LogRuns& pending();
  /// The bytes that were in memory are now where `runs` says.
  void moved(LogRuns runs);
  void drop_pending();

  /// Elements of wishes: what is pending and what was flushed. What is left was never written.
  void find(std::vector<Wish>& wishes, LogRuns& granted, std::vector<std::byte*>& targets);

  const LogRuns& flushed() { return flushed_.merged(); }
  /// Entries of the index, in their order, then finish_load().
  void load(const IndexEntry& entry, std::uint64_t flush);
  /// What one rank wrote when the dataset had `extent`, ascending; it may be nothing.
  void load(LogRuns runs, const Extent& extent);
  void finish_load();

  /// The extent of the dataset is another now. Nothing may be pending unless only the slowest
  /// dimension grew.
  void reshape(const Extent& extent);

  /// Of the segments, by their source.
  std::map<std::uint32_t, Line> segments;
  /// Positions in the segments where what one rank wrote begins; of what was loaded.
  std::map<std::uint32_t, std::vector<std::uint64_t>> blocks;

 private:
  void settle_tail();
  void move_flushed(const Extent& extent);

  std::uint64_t number_;
  hdf5::Handle type_;
  std::size_t element_bytes_;
  Extent extent_;
  std::vector<std::byte> fill_;

  LogRuns tail_;    ///< in the order written
  Layers pending_;  ///< what was in the tail before
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::byte* free_ = nullptr;  ///< rest of the last block of memory
  std::uint64_t free_bytes_ = 0;
  std::uint64_t pending_bytes_ = 0;

  Layers flushed_;
  Extent flushed_extent_;  ///< for which flushed_ counts its offsets
};

}  // namespace slabmark::logvol
