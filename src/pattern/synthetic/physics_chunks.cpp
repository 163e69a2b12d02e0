#include "pattern/synthetic/physics_chunks.hpp"

#include <array>
#include <cstddef>

namespace slabmark {
namespace {

/// Ranks that own columns of one chunk, in the order in which the columns name them.
class Candidates {
 public:
  void clear() { size_ = 0; }

  void add(std::uint32_t rank) {
    for (std::size_t i = 0; i < size_; ++i) {
      if (entries_[i].rank == rank) {
        ++entries_[i].columns;
        return;
      }
    }
    entries_[size_++] = {rank, 1};
  }

  /// Whether there is a best candidate, which goes to `best`.
  bool choose(TieBreak tie_break, std::uint32_t& best) const {
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const bool tie_won =
          entries_[i].columns == most && tie_break == TieBreak::lowest && entries_[i].rank < best;
      if (entries_[i].columns > most || tie_won) {
        most = entries_[i].columns;
        best = entries_[i].rank;
      }
    }
    return most > 0;
  }

 private:
  struct Entry {
    std::uint32_t rank;
    std::uint32_t columns;
  };
  std::array<Entry, ChunkDeal::slots> entries_;
  std::size_t size_ = 0;
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
  Candidates candidates;

  for (std::uint64_t chunk = 0; chunk < deal.chunk_count(); ++chunk) {
    candidates.clear();
    for (std::uint64_t slot = 0; slot < ChunkDeal::slots; ++slot) {
      const std::uint64_t column = deal.column(chunk, slot);
      if (column >= column_rank.size()) break;
      if (room[column_rank[column]] > 0) candidates.add(column_rank[column]);
    }
    std::uint32_t rank = 0;
    if (!candidates.choose(tie_break, rank)) {
      // Ranks without room never get it back, so the search goes on where it stopped.
      while (room[lowest_with_room] == 0) ++lowest_with_room;
      rank = lowest_with_room;
    }
    chunk_rank[chunk] = rank;
    --room[rank];
  }
  return chunk_rank;
}

}  // namespace slabmark
