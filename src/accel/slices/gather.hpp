/// @file
/// Copies regular selections of points.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/geometry/dataset.hpp"

namespace slabmark::slice {

/// A regular 2-D selection of points in a rank's memory. Offsets and strides are in elements of the
/// source.
struct Points {
  std::uint64_t first = 0;          ///< offset of the first point
  std::uint64_t rows = 0;           ///< number of rows
  std::uint64_t row_stride = 0;     ///< from row to row
  std::uint64_t columns = 0;        ///< points of a row
  std::uint64_t column_stride = 1;  ///< from point to point of a row
};

/// Copies the points of `source` to `target`, whose rows are dense and begin `pitch` bytes apart,
/// and converts them if the types differ, in one pass without other memory. Throws InputError if a
/// type is neither float32 nor float64.
void gather(const void* source, ElementType from, const Points& points, std::byte* target,
            ElementType to, std::uint64_t pitch);

}  // namespace slabmark::slice
