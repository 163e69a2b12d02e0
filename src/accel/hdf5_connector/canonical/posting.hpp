#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "accel/hdf5_connector/canonical/canonical_dataset.hpp"
#include "accel/hdf5_connector/selection.hpp"
#include "core/geometry/chunk_grid.hpp"
#include "core/geometry/piece.hpp"

namespace slabmark::slablog {

/// An array of a file, in the order in which they lie there, those in chunks after the others.
struct ArrayName {
  std::uint64_t chunked = 0;  ///< 1: it is in chunks
  std::uint64_t number = 0;   ///< of its dataset; else the byte at which it begins
  std::uint64_t element_bytes = 1;
  std::uint64_t elements = 0;  ///< of the line of its chunks, too
  std::uint64_t unit = 0;      ///< see ArrayPlace

  auto operator<=>(const ArrayName&) const = default;
};

ArrayName name_of(const CanonicalDataset& dataset);

/// The elements that a rank has for an array of the file.
struct Posting {
  /// All that is pending for a dataset; `spilled`: the bytes of the spill file.
  Posting(CanonicalDataset& dataset, const std::byte* spilled);
  /// What a call reads: runs that ascend, one after another to `memory`.
  Posting(const CanonicalDataset& dataset, RunsPtr wanted, std::byte* memory);

  ArrayName array;
  /// Nothing but zeros can be there, so that holes may be written over; nothing at all, where it is
  /// in chunks.
  bool fresh = false;
  const ChunkGrid* grid = nullptr;  ///< of an array in chunks

  /// Either runs that others may share, whose elements lie at `data` one after another; `scale` of
  /// the array's elements are one of theirs.
  RunsPtr runs;
  std::uint64_t scale = 1;
  /// Or pieces of its own, ascending without overlap (in the line of the chunks), whose elements
  /// count from `data`.
  std::vector<Piece> pieces;
  const std::byte* data = nullptr;

 private:
  void add_pieces(CanonicalDataset& dataset, const std::byte* spilled);
};

}  // namespace slabmark::slablog
