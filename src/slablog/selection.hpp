#pragma once

#include <cstdint>
#include <functional>

#include <hdf5.h>

#include "geometry/extent.hpp"
#include "geometry/run.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

/// Calls `visit` with the contiguous elements of a selection, in the order in which HDF5 walks it.
void for_each_sequence(const hdf5::Space& space, const std::function<void(Run)>& visit);

/// The same, neighbours as one.
RunList runs_of(const hdf5::Space& space);

/// The selection of a caller in a dataset of `extent`, H5S_ALL for all of it. Throws Refusal, as
/// HDF5 does, where it leaves the dataset.
hdf5::Space file_selection(hid_t given, const Extent& extent);

/// The selection of a caller in memory, whose elements go to or come from `file`. Throws Refusal
/// where they are not as many.
hdf5::Space memory_selection(hid_t given, hid_t given_file, const hdf5::Space& file);

}  // namespace slabmark::slablog
