#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slabmark {

/// Lengths of an array's dimensions in C order: the slowest-varying dimension first. An empty
/// extent is a scalar (one element).
using Extent = std::vector<std::uint64_t>;

/// Product of the lengths. Throws InputError where it does not fit in 63 bits, the largest offset
/// that the file libraries can express.
std::uint64_t element_count(const Extent& extent);

/// Row-major position of the element with these indices, one for each dimension.
template <class Number>
std::uint64_t offset_of(const Number* indices, const Extent& extent) {
  std::uint64_t offset = 0;
  for (std::size_t d = 0; d < extent.size(); ++d) {
    offset = offset * extent[d] + static_cast<std::uint64_t>(indices[d]);
  }
  return offset;
}

/// The inverse: stores one index for each dimension.
template <class Number>
void store_indices(std::uint64_t offset, const Extent& extent, Number* indices) {
  for (std::size_t d = extent.size(); d-- > 0; offset /= extent[d]) {
    indices[d] = static_cast<Number>(offset % extent[d]);
  }
}

inline Extent indices_of(std::uint64_t offset, const Extent& extent) {
  Extent indices(extent.size());
  store_indices(offset, extent, indices.data());
  return indices;
}

/// "72 x 866"; "scalar" for an empty extent.
std::string to_string(const Extent& extent);

}  // namespace slabmark
