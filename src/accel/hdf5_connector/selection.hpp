#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <hdf5.h>

#include "core/geometry/extent.hpp"
#include "core/geometry/run.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

using RunsPtr = std::shared_ptr<const RunList>;

/// The last selections of many elements, with their runs: programs write dataset after dataset by
/// the same few, and HDF5 compares two hyperslab selections much faster than it walks one.
class SelectionCache {
 public:
  /// The runs of what `given` selects in an array of `extent`; null where it is not kept.
  RunsPtr find(hid_t given, const Extent& extent);
  /// Keeps hyperslabs of many elements.
  void keep(hdf5::Space space, const RunsPtr& runs);

 private:
  using Bounds = std::vector<hsize_t>;  ///< lowest and highest coordinates
  struct CachedSelection {
    hdf5::Space space;
    Extent extent;
    hssize_t elements;
    Bounds bounds;
    RunsPtr runs;
  };
  static Bounds bounds_of(hid_t space, std::size_t rank);

  std::deque<CachedSelection> kept_;  ///< the latest first
};

/// Calls `visit` with the contiguous elements of a selection, in the order in which HDF5 walks it.
void for_each_sequence(const hdf5::Space& space, const std::function<void(Run)>& visit);

/// The same, neighbours as one.
RunList runs_of(const hdf5::Space& space);

/// The selection of a caller in a dataset of `extent`, H5S_ALL for all of it. Throws Refusal, as
/// HDF5 does, where it leaves the dataset.
hdf5::Space file_selection(hid_t given, const Extent& extent);

/// The elements of one call of this rank, in one order: where they are in the dataset, and where
/// in the memory of the caller.
struct Elements {
  RunsPtr in_dataset;
  RunsPtr in_memory;
  std::uint64_t count = 0;  ///< of the elements
  bool ascending = false;   ///< known to be, without overlap, in the dataset
};

Elements elements_of(RunList in_dataset, RunList in_memory);

/// Those of an H5Dwrite or H5Dread of a dataset of `extent`. Throws Refusal, as HDF5 does, where
/// they leave it, or where others as many are selected in memory. `kept` may be null.
Elements selected(const Extent& extent, hid_t memory, hid_t file, SelectionCache* kept);

}  // namespace slabmark::slablog
