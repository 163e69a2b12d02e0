#pragma once

#include <cstdint>
#include <vector>

#include <mpi.h>

#include "pattern/blocked_field.hpp"

/// What the example of docs/slices.md leaves to the simulation: the memory of a block, and a step.
inline std::vector<double> make_block(const slabmark::BlockedField& grid) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto points = slabmark::block_with_halo(grid, static_cast<std::uint64_t>(rank));
  return std::vector<double>(points[0] * points[1] * points[2]);
}

inline void advance(std::vector<double>& field) {
  for (auto& value : field) value += 1.0;
}
