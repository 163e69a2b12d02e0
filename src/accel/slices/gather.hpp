#pragma once

#include <cstddef>
#include <cstdint>

#include "core/geometry/dataset.hpp"

namespace slabmark::slice {

/// A regular 2-D choice of points in a rank's memory: `rows` rows of `columns` points. Offsets and
/// strides are in elements of the source.
struct Points {
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_stride = 0;
  std::uint64_t columns = 0;
  std::uint64_t column_stride = 1;
};

/// Copies the points of `source` to `target`, whose rows are dense and begin `pitch` bytes apart,
/// and converts them if the types differ. One pass, no other memory. Both types are float32 or
/// float64; throws InputError for others.
void gather(const void* source, ElementType from, const Points& points, std::byte* target,
            ElementType to, std::uint64_t pitch);

}  // namespace slabmark::slice
