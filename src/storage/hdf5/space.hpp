#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/geometry/hyperslab.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

/// A dataspace with its selection. The extent of a scalar is empty.
class Space {
 public:
  Space() = default;
  /// With `unlimited`, the slowest dimension may grow.
  explicit Space(const Extent& extent, bool unlimited = false);
  explicit Space(Handle handle) : handle_(std::move(handle)) {}

  /// An array of `extent`, with a time dimension in front if `leading_time`, and nothing selected.
  static Space nothing_of(const Extent& extent, bool leading_time);

  hid_t get() const { return handle_.get(); }
  Extent extent() const;
  std::uint64_t selected() const;  ///< number of elements

  void select_all();
  void select_none();
  /// Replaces the selection by `slab`; with a `time`, in an array with a leading time dimension.
  void select(const Hyperslab& slab, std::optional<std::uint64_t> time = std::nullopt);
  /// Adds `slab` to the selection (H5S_SELECT_OR); with `leading_time`, at position 0 of time. Its
  /// cost grows with what is selected: use UnionBuilder for many.
  void unite(const Hyperslab& slab, bool leading_time);
  /// Adds the selection of `other`, which has as many dimensions. Both hold hyperslabs.
  void unite(const Space& other);
  /// Selects points, in this order: one coordinate after another, as many as there are dimensions
  /// for each point.
  void select_points(std::span<const hsize_t> coordinates);
  /// Moves a selection made at position 0 of a leading time dimension to `time`, and gives the
  /// space the `extent` that its dataset has by now. Costs nothing, however large the selection.
  void move_to(std::uint64_t time, const Extent& extent);
  /// The same where the dataset does not grow: moves the selection itself from time `from`, at the
  /// cost of a walk over it. HDF5 2.2.0 forgets the offset that move_to() sets when it writes an
  /// irregular selection collectively to a dataset without chunks.
  void shift(std::uint64_t from, std::uint64_t time, const Extent& extent);
  /// Makes this the array of the elements that `slab` selects, densely, all selected; with a time
  /// dimension in front if `leading_time`. As memory of a transfer between that slab and a chunked
  /// dataset it is worth its shape: HDF5 2.2.0 takes a memory space of another shape apart element
  /// by element, which made reads of boxes of 256 B x 1 KiB 80 times slower from a line.
  void become_dense(const Hyperslab& slab, bool leading_time);
  /// Makes this the 1-D space of `elements`, all selected.
  void become_line(std::uint64_t elements);

 private:
  Handle handle_;
};

}  // namespace slabmark::hdf5
