#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accel/hdf5_connector/log/coded_runs.hpp"
#include "accel/hdf5_connector/log/index.hpp"
#include "accel/hdf5_connector/log/log_run.hpp"
#include "accel/hdf5_connector/log/write_memory.hpp"
#include "accel/hdf5_connector/pending.hpp"
#include "accel/hdf5_connector/request.hpp"
#include "accel/hdf5_connector/selection.hpp"
#include "accel/hdf5_connector/under.hpp"
#include "core/geometry/run.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::slablog {

/// One dataset as this process knows it: what is pending, which is what the process wrote and did
/// not flush yet, and where flushed elements lie. Does no I/O.
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
  /// Says what the bytes at `data`, which buffer() returned, are: the runs one after another, which
  /// `call` of the program writes.
  void add_pending(std::span<const Run> runs, const std::byte* data, std::uint32_t call);
  /// The same for runs that ascend without overlap, and that others may have too: they are not
  /// copied as long as nobody asks for the elements one by one.
  void add_pending(RunsPtr runs, const std::byte* data, std::uint32_t call);
  /// Memory for what is pending: elements that are not in the spill file, and where they belong
  /// (but shared runs that are all of it).
  std::uint64_t held_bytes() const;
  bool has_pending() const { return only_.runs || !tail_.empty() || !pending_.empty(); }
  /// All pending elements, if they are the ones that were added as shared runs once; otherwise
  /// none.
  struct Post {
    RunsPtr runs;
    const std::byte* data = nullptr;  ///< of their elements, one run after another
    std::uint32_t call = 0;
  };
  const Post& only_post() const { return only_; }
  /// All pending elements, ascending, without overlap. Takes 32 bytes a run from here on.
  const LogRuns& pending();
  /// The same of some elements.
  LogRuns pending_within(Run elements);
  LogRun first_pending();  ///< something must be
  /// True if each element is pending, in one run.
  bool is_all_pending();
  /// Calls `visit(runs)` with all of it; where the runs are many, with one part after another,
  /// which ends at a multiple of `unit` elements.
  void for_each_pending(std::uint64_t unit, const std::function<void(const LogRuns&)>& visit);
  /// Calls `visit(data, bytes)` for what is pending in memory, one piece after another.
  void for_each_in_memory(const std::function<void(const std::byte*, std::uint64_t)>& visit);
  /// All of that is in the spill file now, from `position` on. Returns where it ends.
  std::uint64_t moved_to_spill(std::uint64_t position);
  /// Only `runs`, parts of what was, are still pending. The memory of the others stays.
  void keep_pending(LogRuns runs);
  void drop_pending();

  /// Calls `sink.add(part, target)` for what is wanted of that which is pending and was flushed,
  /// and `sink.end_of_list()` after that of one rank and flush. Elements missing in the request
  /// then were never written. Looks from the newest to the oldest until nothing is missing.
  template <class Sink>
  void find(Request& request, Sink& sink);

  /// The entries that may have elements of `wanted`, the oldest first, if there is nothing else
  /// that has: nothing pending, nothing of another shape. Else none.
  std::vector<const CodedRuns*> only_entries(Run wanted) const;

  /// The flushed elements, as coded: equal if two datasets were written alike. Nothing where
  /// some of it had another shape once.
  struct Writes {
    Extent extent;
    std::vector<CodedRuns> entries;
    std::vector<std::uint64_t> segments;  ///< elements of each

    bool operator==(const Writes&) const = default;
    std::uint64_t hyperslabs() const;
  };
  std::optional<Writes> writes() const;

  /// All flushed elements, as one list. Decodes it: it takes 32 bytes a run from here on.
  const LogRuns& flushed();
  /// Entries of the index, in their order, then finish_load(). Their contents are decoded when they
  /// are read, so the index must stay where it is. Throws IoError, naming `place`, if it is
  /// damaged.
  void load(const IndexEntry& entry, std::uint64_t flush, const std::string& place);
  /// The elements that one rank wrote when the dataset had `extent`, ascending; there may be none.
  void load(LogRuns runs, const Extent& extent);
  /// Throws IoError where elements of a segment are in no entry.
  void finish_load();

  /// The extent of the dataset is another now. Nothing may be pending unless only the slowest
  /// dimension grew.
  void reshape(const Extent& extent);

  /// The segments by their source.
  std::map<std::uint32_t, Line> segments;
  /// Positions in the segments where what one rank wrote begins; of what was loaded.
  std::map<std::uint32_t, std::vector<std::uint64_t>> blocks;

 private:
  void expand_only();
  void settle_tail();
  void decode();
  void move_flushed(const Extent& extent);

  std::uint64_t number_;
  hdf5::Handle type_;
  std::size_t element_bytes_;
  Extent extent_;
  std::vector<std::byte> fill_;

  Post only_;        ///< if it is there, nothing else is pending
  LogRuns tail_;     ///< in the order written
  Pending pending_;  ///< what was in the tail before
  WriteMemory memory_;

  Layers flushed_;                ///< what had another shape once, or was asked for as a list
  std::vector<CodedRuns> coded_;  ///< over that: entries of the index in their order
  Extent flushed_extent_;         ///< for which both count their offsets
  std::map<std::uint32_t, std::uint64_t> loaded_;  ///< elements of segments that entries have
};

template <class Sink>
void LogDataset::find(Request& request, Sink& sink) {
  const auto add = [&](const LogRun& part, std::byte* target) { sink.add(part, target); };
  const auto offer = [&](const Layers& layers) {
    const auto lists = layers.lists();
    for (auto list = lists.rbegin(); list != lists.rend() && !request.complete(); ++list) {
      request.offer(ListCursor(*list), add);
      sink.end_of_list();
    }
  };
  settle_tail();
  pending_.for_each_from_newest([&] { return !request.complete(); },
                                [&](auto cursor) {
                                  request.offer(cursor, add);
                                  sink.end_of_list();
                                });
  for (auto one = coded_.rbegin(); one != coded_.rend() && !request.complete(); ++one) {
    if (one->end() <= request.begin() || one->first_offset() >= request.end()) continue;
    request.offer(one->begin(request.begin()), add);
    sink.end_of_list();
  }
  offer(flushed_);
}

}  // namespace slabmark::slablog
