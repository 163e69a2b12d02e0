#include "bench/pattern/synthetic/physics_chunks.hpp"

#include <algorithm>

namespace slabmark {
namespace {

/// A rank that owns columns of a chunk.
struct Candidate {
  std::uint32_t rank;
  std::uint32_t columns;
};

}  // namespace

ChunkDeal::ChunkDeal(std::uint64_t columns, std::uint64_t ranks) {
  const std::uint64_t fewest = (columns + slots - 1) / slots;
  chunk_count_ = (fewest + ranks - 1) / ranks * ranks;
}

std::vector<std::uint32_t> assign_chunks(const ChunkDeal& deal,
                                         std::span<const std::uint32_t> column_rank,
                                         std::uint64_t ranks, TieBreak tie_break) {
  std::vector<std::uint32_t> chunk_rank(deal.chunk_count());
  std::vector<std::uint64_t> room(ranks, deal.chunk_count() / ranks);
  std::uint32_t lowest_with_room = 0;
  std::vector<Candidate> candidates;  // in the order in which the columns name them
  const auto is_worse = [tie_break](const Candidate& a, const Candidate& b) {
    const bool tie_lost = tie_break == TieBreak::lowest && a.rank > b.rank;
    return a.columns < b.columns || (a.columns == b.columns && tie_lost);
  };

  for (std::uint64_t chunk = 0; chunk < deal.chunk_count(); ++chunk) {
    candidates.clear();
    for (std::uint64_t slot = 0; slot < ChunkDeal::slots; ++slot) {
      const std::uint64_t column = deal.column(chunk, slot);
      if (column >= column_rank.size()) break;
      const std::uint32_t owner = column_rank[column];
      if (room[owner] == 0) continue;
      const auto known = std::find_if(candidates.begin(), candidates.end(),
                                      [&](const Candidate& one) { return one.rank == owner; });
      if (known != candidates.end()) {
        ++known->columns;
      } else {
        candidates.push_back({owner, 1});
      }
    }
    // Ranks without room never get it back, so the search goes on where it stopped.
    while (room[lowest_with_room] == 0) ++lowest_with_room;
    const auto best = std::max_element(candidates.begin(), candidates.end(), is_worse);
    const std::uint32_t rank = best == candidates.end() ? lowest_with_room : best->rank;
    chunk_rank[chunk] = rank;
    --room[rank];
  }
  return chunk_rank;
}

}  // namespace slabmark
