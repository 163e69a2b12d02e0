#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Brings an array together whose elements lie in runs with many ranks: rank r gets the elements of
/// equal_range(total, r, size), in their order, one window after another.
class RangePlan {
 public:
  /// Collective. `held`: runs of this rank, ascending without overlap, within an array of `total`
  /// elements. If several ranks hold an element, that of the highest rank counts. `comm` null: this
  /// process alone, which need not have MPI; else it outlives the plan. Memory: 16 bytes for
  /// each run that this rank holds and for each that its range gets, while planning three times
  /// that.
  RangePlan(const Comm* comm, RunList held, std::uint64_t total);

  /// Puts the elements of runs that this rank holds at `packed`, one run after another.
  using Read = std::function<void(std::span<const Run> runs, std::byte* packed)>;
  /// Takes the elements of `window`, the next part of this rank's range.
  using Write = std::function<void(Run window, const std::byte* elements)>;

  /// Collective. Moves all elements, through windows of at most `window_bytes` (or one element);
  /// a rank has three of them. Elements that no rank holds become `fill`, which is one element.
  /// Where `read` or `write` fails on a rank, all ranks stop after the same window and throw the
  /// same Error.
  void move(std::span<const std::byte> fill, std::uint64_t window_bytes, const Read& read,
            const Write& write) const;

 private:
  using ByRank = std::vector<RunList>;  ///< ascending for each rank
  class Mover;

  std::size_t ranks() const { return comm_ ? static_cast<std::size_t>(comm_->size()) : 1; }
  std::size_t rank() const { return comm_ ? static_cast<std::size_t>(comm_->rank()) : 0; }

  const Comm* comm_;
  std::uint64_t total_;
  ByRank wanted_;  ///< elements of this rank's range, by the rank whose copy counts
  ByRank asked_;   ///< elements that this rank holds, by the rank that wants them
};

}  // namespace slabmark
