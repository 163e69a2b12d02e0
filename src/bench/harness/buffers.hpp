#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// Rounds whose buffers are filled before, and checked after, all of them have moved.
struct RoundGroup {
  std::vector<Transfer> transfers;    ///< of all its rounds
  std::vector<std::size_t> begin{0};  ///< of each round in `transfers`, and their end

  std::uint64_t rounds() const { return begin.size() - 1; }

  /// Of one of its rounds, from 0, in what lay_out() gave for `transfers`.
  std::span<std::byte* const> of_round(std::uint64_t i, std::span<std::byte* const> buffers) const {
    return buffers.subspan(begin[i], begin[i + 1] - begin[i]);
  }
};

/// The rounds from `first` on: `rounds_together`, or what is left.
RoundGroup make_group(const Pattern& pattern, std::uint64_t first, std::uint64_t rounds_together);

/// Memory behind the transfers of one round, in one allocation: the buffers of a round lie one
/// after another without gaps beyond the alignment of their element type, as an application that
/// packs its variables would have them, so a method may find that they are one contiguous piece.
class Buffers {
 public:
  /// Makes room for any `rounds_together` rounds of `pattern` in turn, and keeps what room there
  /// is: cells that take turns share one object, or a run would need the memory of all of them at
  /// once.
  void fit(const Pattern& pattern, std::uint64_t rounds_together = 1);

  /// Where the buffers of a group lie, whose pattern was given to fit(), transfer by transfer; or,
  /// if its rounds are to move one buffer, those of each round from the start: fit() then needs to
  /// know of one round only. Valid until the next call of fit().
  std::vector<std::byte*> lay_out(const Pattern& pattern, const RoundGroup& group,
                                  bool one_buffer = false) const;

 private:
  std::uint64_t bytes_ = 0;
  std::unique_ptr<std::byte[]> memory_;
};

/// Bytes of the buffers of the largest group of rounds.
std::uint64_t buffer_bytes(const Pattern& pattern, std::uint64_t rounds_together = 1);

}  // namespace slabmark
