#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/exchange/file_domain.hpp"
#include "collective/exchange/flush.hpp"
#include "collective/exchange/flush_plan.hpp"
#include "collective/exchange/move_elements.hpp"
#include "collective/exchange/shared_staging.hpp"
#include "collective/exchange/window_file.hpp"
#include "collective/exchange/window_schedule.hpp"
#include "core/base/scratch_bytes.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// The ranks that aggregate, and their memory.
struct RearrangerSettings {
  /// The ranks that aggregate, ascending, and do nothing else; none: `aggregators` of all of them.
  std::vector<int> dedicated;
  std::uint64_t aggregators = 0;  ///< 0: up to `per_node` on each node
  std::uint64_t per_node = 4;     ///< no more than a node has cores
  std::uint64_t stripes = 1;      ///< where there are more aggregators, a multiple of this
  std::uint64_t window = 0;  ///< most bytes that a rank holds for the exchange; 0: default_window()
  /// Bytes of the largest unit of all arrays (see ArrayPlace). Windows hold one of them at least,
  /// whatever `window` says.
  std::uint64_t unit = 8;
  std::uint64_t node_ranks = 0;  ///< see SharedStaging
  /// Aggregators of a node that write at the same time, 0: all. Where the kernel lets one process
  /// at a time write to a file, those that wait in it would keep cores from those that move data.
  std::uint64_t writers = 0;
  /// Holes up to so many bytes are written over with zeros where nothing was written before, or
  /// read along, since a call for each side costs more: 92 KiB with a call each and 16 KiB left out
  /// took longer than all in calls of 512 KiB (ext4 page cache).
  std::uint64_t bridged_hole = 32u << 10;

  bool operator==(const RearrangerSettings&) const = default;
};

/// Bytes that a rank holds for the exchange unless told otherwise.
std::uint64_t default_window(std::uint64_t nodes, std::uint64_t ranks);

/// How many windows of an aggregator that memory holds, with what is under way to them.
std::uint64_t windows_in_memory(std::uint64_t nodes);

/// Moves arrays between the ranks that have their elements and a file in which the arrays are
/// contiguous. Each aggregator puts its range of the domain together in memory, window by window,
/// and writes each window in as few calls as the file allows; reading goes backwards. Ranks that
/// share memory with an aggregator store into its window themselves; the others send one message a
/// window, and only where they have something for each other. Messages of several windows are under
/// way while others are filled, written or read.
class Rearranger {
 public:
  using FileAccess = slabmark::FileAccess;
  using UnitAccess = slabmark::UnitAccess;
  using Flush = ArrayFlush;
  using Tally = FlushTally;

  /// Collective: allocates the memory.
  Rearranger(const Comm& comm, const RearrangerSettings& settings);

  /// Node by node, so not in the order of ranks.
  const std::vector<int>& aggregators() const { return aggregators_; }
  bool aggregates() const { return me_ < aggregators_.size(); }  ///< this rank does
  /// Bytes that an aggregator fills at once.
  std::uint64_t window_bytes() const { return schedule_.window_bytes(); }
  std::uint64_t windows() const { return slots_; }  ///< that it has memory for
  /// Aggregators of a node that write at the same time, at most.
  std::uint64_t writers() const { return file_.writers(); }
  std::uint64_t nodes() const { return staging_.nodes(); }

  /// Collective. `access` and `units` are called on aggregators only. A rank whose access fails
  /// goes on taking part, so that no other waits for it, and throws at the end.
  Tally write(const Flush& flush, const FileAccess& access, const UnitAccess& units = nullptr) {
    return run(flush, Flow::to_file, access, units);
  }
  Tally read(const Flush& flush, const FileAccess& access, const UnitAccess& units = nullptr) {
    return run(flush, Flow::from_file, access, units);
  }

 private:
  Window window(const Flush& flush, std::size_t aggregator, std::uint64_t cycle) const {
    return schedule_.window(flush, aggregator, cycle);
  }
  std::byte* staging(std::size_t aggregator, std::uint64_t cycle) const;

  Tally run(const Flush& flush, Flow flow, const FileAccess& access, const UnitAccess& units);
  std::uint64_t longest_window() const { return schedule_.window_bytes() + unit_; }
  bool may_move(std::uint64_t cycle, Flow flow) const;
  bool may_access(std::uint64_t cycle, Flow flow) const;
  WindowCounts::Count& moved_count(std::size_t aggregator, std::uint64_t cycle) const;
  void move(const Flush& flush, std::uint64_t cycle, Flow flow);
  void wait();
  WindowCounts::Count& writing() const;
  bool reaches(std::size_t aggregator) const { return staging_.of(aggregator) != nullptr; }

  static ElementForm form_of(const Flush& flush, std::size_t array, Flow flow) {
    return {flush.domain.arrays()[array].place.element_bytes, flush.swap, flow};
  }

  template <class Visit>
  void for_each_item(const Flush& flush, const Window& window, const Visit& visit) const;
  void move_directly(const Flush& flush, std::uint64_t cycle, Flow flow);
  class Messages;

  const Comm& comm_;
  SharedStaging staging_;
  std::vector<int> aggregators_;
  std::uint64_t slots_;  ///< windows of an aggregator that are under way at a time
  std::uint64_t unit_;   ///< windows end at whole units, so they may be this much longer
  bool moves_first_;
  WindowSchedule schedule_;
  WindowFile file_;
  std::uint64_t turn_ = 0;   ///< cycles of all flushes before this one
  std::size_t me_ = 0;       ///< this rank's index among the aggregators, or their number
  ScratchBytes own_packed_;  ///< messages of this rank to and from aggregators, as they come
  /// Messages to and from this aggregator, by slot.
  std::array<ScratchBytes, WindowCounts::most_slots> packed_;
  Tally tally_;
};

/// Calls visit(item, part, position of the part in the window) for all items in the window.
template <class Visit>
void Rearranger::for_each_item(const Flush& flush, const Window& window, const Visit& visit) const {
  for (const FileDomain::Part& part : flush.domain.parts_in(window.begin, window.end)) {
    const FileDomain::Array& array = flush.domain.arrays()[part.array];
    const std::uint64_t position =
        array.begin + part.elements.offset * array.place.element_bytes - window.begin;
    for (const std::size_t item : flush.plan.items_of(part.array)) visit(item, part, position);
  }
}

}  // namespace slabmark
