#pragma once

#include <functional>
#include <vector>

#include "bench/pattern/pattern.hpp"
#include "core/geometry/piece.hpp"

namespace slabmark {

/// Visits the pieces of `transfer` in the order of its selection. Throws InputError if file and
/// buffer do not select equally many elements.
void for_each_piece(const Transfer& transfer, const std::function<void(const Piece&)>& visit);

/// All pieces in ascending file order, which file views and unions need, adjoining pieces merged
/// where they touch both in file and buffer.
std::vector<Piece> pieces_in_file_order(const Transfer& transfer);

}  // namespace slabmark
