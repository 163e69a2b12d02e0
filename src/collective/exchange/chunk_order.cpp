#include "collective/exchange/chunk_order.hpp"

#include <algorithm>

namespace slabmark {

std::vector<Piece> in_chunk_order(std::span<const Piece> pieces, const ChunkGrid& grid) {
  std::vector<Piece> cut;
  for (const Piece& piece : pieces) {
    std::uint64_t buffer = piece.buffer;
    grid.for_each_run({piece.file, piece.length}, [&](Run on_line) {
      cut.push_back({on_line.offset, buffer, on_line.length});
      buffer += on_line.length;
    });
  }
  if (grid.keeps_order()) return cut;
  std::sort(cut.begin(), cut.end(), [](const Piece& a, const Piece& b) { return a.file < b.file; });
  coalesce(cut);
  return cut;
}

}  // namespace slabmark
