#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/geometry/extent.hpp"
#include "core/geometry/run.hpp"
#include "core/geometry/strided_walk.hpp"

namespace slabmark {

/// A regular selection as HDF5 defines it (H5Sselect_hyperslab): `count` blocks of `block` elements
/// in each dimension, the first at `start`, `stride` apart. All four have one entry per dimension,
/// slowest first. Strides are at least 1 and blocks do not overlap (stride >= block wherever
/// count > 1). A count or block of 0 selects nothing; without dimensions it is a scalar's element.
struct Hyperslab {
  Extent start;
  Extent stride;
  Extent count;
  Extent block;

  bool operator==(const Hyperslab&) const = default;
};

/// The box [start, start + size): one block.
Hyperslab make_box(Extent start, Extent size);

/// Product of the counts and blocks. Throws InputError where it does not fit in 63 bits.
std::uint64_t element_count(const Hyperslab& slab);

/// Nothing if `slab` is well formed and lies within `extent`, else the reason as a clause, for
/// example "its block of 5 at 70 in dimension 0 ends beyond the length 72".
std::optional<std::string> outside(const Hyperslab& slab, const Extent& extent);

/// Walks the maximal contiguous runs of a hyperslab in the row-major linearisation of an extent,
/// ascending, one at a time: memory does not grow with their number. The hyperslab must lie within
/// the extent (see outside).
class RunWalk {
 public:
  RunWalk() = default;  ///< over nothing
  RunWalk(const Hyperslab& slab, const Extent& extent);

  /// Starts again with another hyperslab; reuses the storage.
  void restart(const Hyperslab& slab, const Extent& extent);

  /// Stores the next run and returns true, or returns false after the last.
  bool next(Run& run);

 private:
  bool next_piece(Run& piece);

  StridedWalk pieces_;
  std::uint64_t piece_length_ = 1;
  std::optional<Run> held_;  ///< next piece, which the run just returned did not touch
};

/// Calls `visit` with each maximal contiguous run of `slab` in the row-major linearisation of
/// `extent`, ascending.
void for_each_run(const Hyperslab& slab, const Extent& extent,
                  const std::function<void(Run)>& visit);

/// Visits `slab` as boxes (start and size, as NetCDF's vara takes them) of at most `most_elements`
/// (> 0). The row-major elements of the boxes, box after box, are the elements of the hyperslab in
/// its own row-major order, so a dense buffer is moved from front to back. That decides the shape:
/// a box reaches over a dimension only if all faster ones have one block, so a slab with several
/// blocks in its fastest dimension becomes single rows.
void for_each_box(const Hyperslab& slab, std::uint64_t most_elements,
                  const std::function<void(const Extent& start, const Extent& size)>& visit);

/// The elements [range.offset, range.end()) of a row-major array as at most 2 * rank - 1 boxes, in
/// ascending order. Throws InputError where the range leaves the array.
std::vector<Hyperslab> boxes_of_range(Run range, const Extent& extent);

/// The hyperslab (count 1) that `run` is in an array of `extent`; the run must not cross a row of
/// the fastest dimension. Reuses the storage of `slab`.
void hyperslab_of_row_run(Run run, const Extent& extent, Hyperslab& slab);

/// Calls `visit` with boxes that together hold the elements of `sorted`, each once; these are
/// sorted and coalesced runs within an array of `extent`. Where neighbouring rows take the same
/// columns, a box spans them all: a field of 72 levels on a decomposed sphere has the same columns
/// in every level, so 72 times fewer boxes than runs. Linear in the runs.
void for_each_row_box(std::span<const Run> sorted, const Extent& extent,
                      const std::function<void(const Hyperslab&)>& visit);

}  // namespace slabmark
