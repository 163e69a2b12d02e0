#pragma once

#include <compare>
#include <cstdint>

namespace slabmark {

/// Identifies the calls of a program between two points at which all ranks of a file meet (a wait,
/// a flush, a close, a step), or its blocking calls on one record of a dataset. Ranks have equal
/// keys for the calls that they made together.
struct RoundKey {
  /// Number of the file. Files that ranks have for themselves share one: the first of each rank,
  /// the second of each, and so on.
  std::uint64_t file = 0;
  std::uint64_t phase = 0;  ///< such points passed
  std::uint64_t time = 0;   ///< 1 + the record, of blocking calls; else 0

  /// The time of the call that closes the file, which comes after all others of its phase.
  static constexpr std::uint64_t closing = ~std::uint64_t{0};

  auto operator<=>(const RoundKey&) const = default;
};

}  // namespace slabmark
