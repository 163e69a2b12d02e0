#pragma once

#include "geometry/hyperslab.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

/// A dataspace with its selection. The extent of a scalar is empty.
class Space {
 public:
  Space() = default;
  /// With `unlimited`, the slowest dimension may grow.
  explicit Space(const Extent& extent, bool unlimited = false);
  explicit Space(Handle handle) : handle_(std::move(handle)) {}

  hid_t get() const { return handle_.get(); }

  void select_all();
  void select_none();
  /// Replaces the selection by `slab`.
  void select(const Hyperslab& slab);
  /// The same, in an array with a leading time dimension, at `time`.
  void select(const Hyperslab& slab, std::uint64_t time);
  /// Makes this the 1-D space of `elements`, all selected.
  void become_line(std::uint64_t elements);

 private:
  Handle handle_;
};

}  // namespace slabmark::hdf5
