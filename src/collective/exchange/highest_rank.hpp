#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry/piece.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// What this rank has of an array of all ranks: pieces ascending in it, without overlap.
struct HeldArray {
  std::span<const Piece> pieces;
  std::uint64_t elements;  ///< of the array
};

/// Collective, with the same arrays on all ranks. Of an element that several ranks have, that of
/// the highest rank counts: returns, by array, the pieces of this rank that do.
std::vector<std::vector<Piece>> pieces_that_count(const Comm& comm,
                                                  std::span<const HeldArray> arrays);

}  // namespace slabmark
