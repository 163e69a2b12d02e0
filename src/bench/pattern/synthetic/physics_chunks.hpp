#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/pattern/synthetic/f_decomposition.hpp"

namespace slabmark {

/// How E3SM's physics deals columns to chunks of 16 slots: column c goes to chunk c mod
/// chunk_count, the next free slot, so the columns of a chunk are spread over the whole sphere and
/// every rank gets its share of day and night.
class ChunkDeal {
 public:
  static constexpr std::uint64_t slots = 16;

  /// As few chunks as hold all columns, rounded up to a multiple of `ranks`.
  ChunkDeal(std::uint64_t columns, std::uint64_t ranks);

  std::uint64_t chunk_count() const { return chunk_count_; }

  /// The column in a slot (< slots) of a chunk; the slot is empty if it is not below the number of
  /// columns, and so are then all later slots.
  std::uint64_t column(std::uint64_t chunk, std::uint64_t slot) const {
    return chunk + slot * chunk_count_;
  }

 private:
  std::uint64_t chunk_count_;
};

/// Rank of each chunk. In ascending order, each chunk goes to the rank that owns most of its
/// columns in the dynamics (`column_rank`) among those that have room left, each having room for
/// chunk_count / ranks; to the lowest rank with room if none of these has.
std::vector<std::uint32_t> assign_chunks(const ChunkDeal& deal,
                                         std::span<const std::uint32_t> column_rank,
                                         std::uint64_t ranks, TieBreak tie_break);

}  // namespace slabmark
