#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "pattern/pattern.hpp"

namespace slabmark {

/// Memory behind the transfers of one round, in one allocation: the buffers of a round lie one
/// after another without gaps beyond the alignment of their element type, as an application that
/// packs its variables would have them, so a method may find that they are one contiguous piece.
class Buffers {
 public:
  /// Makes room for any round of `pattern`, and keeps what room there is: cells that take turns
  /// share one object, or a run would need the memory of all of them at once.
  void fit(const Pattern& pattern);

  /// Lays the buffers of `transfers` out, which belong to a pattern that was given to fit(). Valid
  /// until the next call of either.
  std::span<std::byte* const> lay_out(const Pattern& pattern,
                                      const std::vector<Transfer>& transfers);

 private:
  std::uint64_t bytes_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::byte*> pointers_;
};

/// Bytes of the largest round's buffers.
std::uint64_t buffer_bytes(const Pattern& pattern);

}  // namespace slabmark
