#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace slabmark {

/// Elements of a transfer that are contiguous both in the dataset (row-major) and in the buffer.
/// Offsets and length count elements, or bytes where nothing has elements.
struct Piece {
  std::uint64_t file = 0;
  std::uint64_t buffer = 0;
  std::uint64_t length = 0;

  /// True if the next piece goes on where this one ends, in both.
  bool touches(const Piece& next) const {
    return file + length == next.file && buffer + length == next.buffer;
  }
};

/// Adds a piece behind the last, which it becomes part of where that touches it.
inline void append(std::vector<Piece>& pieces, const Piece& piece) {
  if (!pieces.empty() && pieces.back().touches(piece)) {
    pieces.back().length += piece.length;
  } else {
    pieces.push_back(piece);
  }
}

/// Merges pieces with those that they touch, in place.
inline void coalesce(std::vector<Piece>& pieces) {
  std::size_t kept = 0;
  for (const Piece& piece : pieces) {
    if (kept > 0 && pieces[kept - 1].touches(piece)) {
      pieces[kept - 1].length += piece.length;
    } else {
      pieces[kept++] = piece;
    }
  }
  pieces.resize(kept);
}

}  // namespace slabmark
