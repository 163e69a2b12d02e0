#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "accel/slices/gather.hpp"
#include "core/geometry/dataset.hpp"

namespace slabmark::slice {

constexpr std::uint64_t line_bytes = 64;  ///< of memory that a processor reads at once

/// Calls `visit` with an address in each cache line that gather() must read, in its order. Where
/// points are less than a line apart those are the lines between them, too. A line that two
/// neighbouring rows share is visited once.
template <class Visit>
void for_each_line(const void* source, const Points& points, ElementType type, Visit visit) {
  const std::uint64_t element = size_of(type);
  const std::uint64_t apart = points.column_stride * element;
  const auto first = reinterpret_cast<std::uintptr_t>(source) + points.first * element;
  const auto visit_at = [&](std::uintptr_t at) { visit(reinterpret_cast<const std::byte*>(at)); };
  if (points.columns > 1 && apart >= line_bytes) {
    for (std::uint64_t row = 0; row < points.rows; ++row) {
      const auto begin = first + row * points.row_stride * element;
      for (std::uint64_t i = 0; i < points.columns; ++i) visit_at(begin + i * apart);
    }
    return;
  }
  const std::uint64_t span = points.columns == 0 ? 0 : (points.columns - 1) * apart + element;
  std::uintptr_t seen = 0;
  for (std::uint64_t row = 0; row < points.rows; ++row) {
    const auto begin = first + row * points.row_stride * element;
    const auto end = begin + span;
    for (auto at = std::max(begin / line_bytes * line_bytes, seen); at < end; at += line_bytes) {
      visit_at(std::max(at, begin));  // the line may begin before the memory does
      seen = at + line_bytes;
    }
  }
}

/// Bytes that gather() must at least move from memory: the lines of for_each_line().
inline std::uint64_t bytes_touched(const void* source, const Points& points, ElementType type) {
  std::uint64_t bytes = 0;
  for_each_line(source, points, type, [&](const std::byte*) { bytes += line_bytes; });
  return bytes;
}

}  // namespace slabmark::slice
