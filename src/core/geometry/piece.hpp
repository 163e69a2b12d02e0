#pragma once

#include <cstdint>

namespace slabmark {

/// Elements of a transfer that are contiguous both in the dataset (row-major) and in the buffer.
/// Offsets and length count elements.
struct Piece {
  std::uint64_t file = 0;
  std::uint64_t buffer = 0;
  std::uint64_t length = 0;
};

}  // namespace slabmark
