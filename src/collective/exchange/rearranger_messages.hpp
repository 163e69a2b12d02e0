#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "collective/exchange/rearranger.hpp"

namespace slabmark {

/// The messages of one flush between a rank and the aggregators that it shares no memory with: for
/// each window the elements of all items, item after item, ascending. Both sides know how many
/// bytes that are.
///
/// Nothing here waits. An aggregator has begun the messages of all windows that it has memory for,
/// and a rank those that it has room for, in the order of windows. So it comes to an end: of the
/// first window that is not done, all aggregators have begun all messages, and nothing comes before
/// them.
class Rearranger::Messages {
 public:
  /// `cycles`: the most windows that an aggregator has.
  Messages(Rearranger& rearranger, const Flush& flush, Flow flow, std::uint64_t cycles);

  /// Does what can be done now, a piece of it; false: nothing. `accessed`: windows of this
  /// aggregator that are written, or read.
  bool advance(std::uint64_t accessed);

  /// True if the messages of this aggregator's window are in it; or, where the file is read,
  /// whether those of the window before it in its memory have left that.
  bool may_access(std::uint64_t cycle) const;

  bool all_done() const;

 private:
  /// The message of a rank for a window of this aggregator, in either direction.
  struct OfSource {
    int source;
    std::uint64_t begin, bytes;  ///< in the packed memory
  };
  struct Slot {
    std::vector<OfSource> messages;
    std::vector<MPI_Request> requests;
    std::size_t left = 0;  ///< requests under way
  };

  /// The message of this rank for a window of an aggregator.
  struct Own {
    Window window;
    std::uint64_t bytes;
    std::byte* place = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  Slot& slot(std::uint64_t cycle) { return slots_[(mine_.turn_ + cycle) % mine_.slots_]; }
  std::byte* packed(std::uint64_t cycle) {
    return mine_.packed_[(mine_.turn_ + cycle) % mine_.slots_].data();
  }
  bool begin_window(std::uint64_t accessed);
  bool finish_windows();
  bool begin_own();
  bool finish_own();
  std::optional<Own> next_own();
  std::byte* room_for(std::uint64_t bytes);

  std::uint64_t bytes_for(const Window& window) const;
  std::uint64_t bytes_of_source(const Window& window, int source) const;
  void move_own(const Window& window, std::byte* packed) const;
  void move_of_source(std::uint64_t cycle, const OfSource& message);
  MPI_Request start(bool sends, std::byte* memory, std::uint64_t bytes, int rank);

  Rearranger& mine_;
  const Flush& flush_;
  const Flow flow_;
  const std::uint64_t cycles_;

  std::uint64_t begun_, finished_;  ///< windows of this aggregator
  std::array<Slot, WindowCounts::most_slots> slots_;

  std::uint64_t own_cycle_ = 0;   ///< of this rank's next message
  std::size_t own_step_ = 0;      ///< and which aggregator in that cycle
  std::optional<Own> waiting_;    ///< for room
  std::deque<Own> own_;           ///< under way, the oldest first
  std::byte* own_end_ = nullptr;  ///< of the latest one
};

}  // namespace slabmark
