#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pattern/pattern.hpp"

namespace slabmark {

/// Elements of a transfer that are contiguous both in the dataset (row-major) and in the buffer.
/// Offsets and length count elements.
struct Piece {
  std::uint64_t file = 0;
  std::uint64_t buffer = 0;
  std::uint64_t length = 0;
};

/// Visits the pieces of `transfer` in the order of its selection. Throws InputError if file and
/// buffer do not select equally many elements.
void for_each_piece(const Transfer& transfer, const std::function<void(const Piece&)>& visit);

/// All pieces in ascending file order, which file views and unions need, adjoining pieces merged
/// where they touch both in file and buffer.
std::vector<Piece> pieces_in_file_order(const Transfer& transfer);

}  // namespace slabmark
