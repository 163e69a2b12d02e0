#pragma once

#include <span>
#include <vector>

#include "core/geometry/chunk_grid.hpp"
#include "core/geometry/piece.hpp"

namespace slabmark {

/// The pieces of a row-major array as pieces of the line of its chunks, ascending there: cut where
/// chunks end, and merged where they touch both there and in the buffer.
std::vector<Piece> in_chunk_order(std::span<const Piece> pieces, const ChunkGrid& grid);

}  // namespace slabmark
