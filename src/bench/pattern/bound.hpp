#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// Bytes that move in one round of a pattern. The caller finds them with one sum over the lower
/// ranks and one over all.
struct BoundRound {
  std::uint64_t before = 0;  ///< by the lower ranks
  std::uint64_t mine = 0;    ///< by this rank
  std::uint64_t total = 0;   ///< by all ranks
};

/// The limit that stands beside every table: the same bytes in the same rounds on the same ranks,
/// but contiguous. One dataset of bytes, "bound", holds the rounds one after another (each from the
/// start, where each has a file) and in each of them the ranks one after another. `of` names the
/// pattern that it bounds. The dataset has one byte if nothing moves, since file formats know no
/// empty array. Throws InputError where a rank's bytes do not lie within the total of their round.
Pattern make_bound(const std::string& of, std::span<const BoundRound> rounds,
                   FilePolicy policy = FilePolicy::one, std::uint64_t files = 1);

}  // namespace slabmark
