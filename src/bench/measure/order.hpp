#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace slabmark {

/// The order in which several cells take turns. One round is one trial of every cell, in an order
/// of its own, so that a slow drift of the file system meets all cells alike and none profits from
/// always following another. The same seed gives the same rounds with every standard library:
/// std::mt19937_64 is laid down to the bit, std::shuffle and std::uniform_int_distribution are not.
class TrialOrder {
 public:
  TrialOrder(std::size_t cells, std::uint64_t seed);

  /// The next round: every index below cells() once. A caller skips cells that have stopped, so
  /// that the rounds of the others do not depend on when that was.
  std::vector<std::size_t> next_round();

  std::size_t cells() const { return cells_; }
  std::uint64_t seed() const { return seed_; }

 private:
  std::uint64_t below(std::uint64_t limit);

  std::size_t cells_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
};

}  // namespace slabmark
