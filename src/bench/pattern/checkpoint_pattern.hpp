#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// A simulation that writes checkpoints: a 3-D grid of processes, each of which owns one block of
/// the domain and writes it once a time step. All three are (x, y, z), x slowest.
struct CheckpointGrid {
  std::array<std::uint64_t, 3> processor = {1, 1, 1};  ///< blocks in each direction
  std::array<std::uint64_t, 3> domain = {1, 1, 1};     ///< elements of a block in each direction
  std::array<std::uint64_t, 3> chunk = {0, 0, 0};      ///< of the dataset; zeros: none
  std::uint64_t steps = 1;

  std::uint64_t blocks() const;  ///< throws InputError where the product does not fit in 63 bits
  Extent extent() const;         ///< of one time step, x y z

  /// (x, y, z) of a block in the grid: row-major, so z is the fastest, as the original numbers its
  /// processes.
  std::array<std::uint64_t, 3> block_at(std::uint64_t block) const;
  std::uint64_t block_number(const std::array<std::uint64_t, 3>& at) const;
};

/// The pattern of those checkpoints for rank `rank` of `size`: one dataset "chunked" of float32
/// {time, X, Y, Z}, one round a step. With as many ranks as blocks each has one; with fewer, each
/// has several that follow one another; with more, blocks are cut along their slower dimensions,
/// and ranks beyond the number of rows have nothing. Throws InputError for a length of 0, a chunk
/// beyond the dataset, and sizes that do not fit in 63 bits.
Pattern make_checkpoint_pattern(const CheckpointGrid& grid, std::uint64_t rank, std::uint64_t size);

}  // namespace slabmark
