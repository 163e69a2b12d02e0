#pragma once

#include <cstdint>
#include <vector>

#include <hdf5.h>

namespace slabmark::capture {

/// The selection of a dataspace, as the program made it, in coordinates.
struct Selected {
  enum class Kind {
    none,
    all,
    points,     ///< rank coordinates each, in the program's order
    hyperslab,  ///< start, stride, count and block, rank numbers each; in the order of the array
    blocks,     ///< start and count, rank numbers each; one block after another
  };
  Kind kind = Kind::all;
  std::vector<std::uint64_t> extent;  ///< of the array that is selected from
  std::vector<std::uint64_t> numbers;
};

/// The selection of a call in a dataset, or in memory; `extent`: of the dataset, which holds where
/// `space` is H5S_ALL. Leaves the error stack empty. False where HDF5 refuses it.
bool selected_by(hid_t space, const std::vector<std::uint64_t>& extent, Selected& result);

/// The extent of a dataspace; empty for a scalar or a null space.
std::vector<std::uint64_t> extent_of(hid_t space);

}  // namespace slabmark::capture
