#pragma once

#include <cstdint>

#include "bench/pattern/synthetic/decomposition.hpp"
#include "bench/pattern/synthetic/numbering.hpp"

namespace slabmark {

struct OceanOptions {
  std::uint64_t levels = 80;  ///< vertical levels; the interfaces between them are one more
  Locality locality = Locality::local;
  double imbalance = 0.03;  ///< of the cells: largest rank above the mean, as a fraction
  /// Of the coasts, the numbering and the partition. This one comes nearest to a real mesh of
  /// 28,571 cells on 16 ranks; others differ by some 5 % in balance and number of runs.
  std::uint64_t seed = 8;
};

/// A decomposition like those of E3SM's ocean (G cases, MPAS): a hexagonal mesh with coasts, cut in
/// compact pieces; edges and vertices follow a cell. Statistical: it has the sizes, balance and
/// request counts of real ones, not their numbers.
///
/// D1 {cells}, D2 {edges}, D3 {cells, levels}, D4 {edges, levels}, D5 {vertices, levels},
/// D6 {cells, levels + 1}; in the last four a cell, edge or vertex is one request of all its
/// levels. A rank lists its cells in ascending order, and its edges and vertices cell by cell,
/// which is not ascending. The numbers of edges and vertices follow from the coasts: about 3.08
/// and 2.08 a cell with 30,000 cells, 3 and 2 with very many.
///
/// Memory: some 40 bytes a cell, twice that while it is built. Throws InputError if there are no
/// ranks, fewer than two cells a rank, more than 2^28 cells, no levels, or an imbalance outside
/// [0, 0.5].
SyntheticDecomposition make_g_decomposition(std::uint64_t cells, std::uint64_t ranks,
                                            const OceanOptions& options = {});

}  // namespace slabmark
