#include "accel/slices/gather.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "accel/slices/lines.hpp"
#include "core/base/error.hpp"

namespace slabmark::slice {

namespace {

template <class From, class To>
void gather_row(const From* __restrict from, std::uint64_t columns, std::uint64_t stride,
                To* __restrict to) {
  if (stride == 1) {
    if constexpr (std::is_same_v<From, To>) {
      std::memcpy(to, from, columns * sizeof(To));
    } else {
      for (std::uint64_t i = 0; i < columns; ++i) to[i] = static_cast<To>(from[i]);
    }
    return;
  }
  for (std::uint64_t i = 0; i < columns; ++i) to[i] = static_cast<To>(from[i * stride]);
}

// Points far apart: every one is a line of its own, often a page too, and the processor guesses
// none of them. Fetching keeps its line buffers full, from one row into the next: 24 points ahead
// took 1.5 times as long as 64 for a plane normal to x of 610 x 520 points in 2 MiB pages.
template <class From, class To>
void gather_far(const From* from, const Points& points, std::byte* target, std::uint64_t pitch) {
  const std::uint64_t stride = points.column_stride;
  const std::uint64_t columns = points.columns;
  const std::uint64_t ahead = std::min<std::uint64_t>(64, columns);
  for (std::uint64_t row = 0; row < points.rows; ++row) {
    auto* to = reinterpret_cast<To*>(target + row * pitch);
    const From* next = row + 1 < points.rows ? from + points.row_stride : from;
    std::uint64_t i = 0;
    for (; i < columns - ahead; ++i) {
      __builtin_prefetch(from + (i + ahead) * stride);
      to[i] = static_cast<To>(from[i * stride]);
    }
    for (; i < columns; ++i) {
      __builtin_prefetch(next + (i + ahead - columns) * stride);
      to[i] = static_cast<To>(from[i * stride]);
    }
    from = next;
  }
}

// Rows are too short, and too far from each other, for the processor to see where the next begins.
// If rows are copied as they are, fetching the lines that are written made plain planes normal to z
// 1.1 to 1.2 times faster. Strided rows have few of these lines, and fetching them kept those that
// are read waiting: without it they were up to 1.15 times faster.
template <bool to_write>
void fetch(const void* row, std::uint64_t bytes) {
  const auto* line = static_cast<const char*>(row);
  for (std::uint64_t at = 0; at < bytes; at += line_bytes) __builtin_prefetch(line + at, to_write);
}

template <class From, class To>
void gather_as(const From* from, const Points& points, std::byte* target, std::uint64_t pitch) {
  constexpr std::uint64_t far_bytes = 512;
  constexpr std::uint64_t fetched_bytes = 8192;  // ahead of the row that is copied
  from += points.first;
  if (points.column_stride * sizeof(From) >= far_bytes) {
    return gather_far<From, To>(from, points, target, pitch);
  }
  const std::uint64_t span = points.columns * points.column_stride * sizeof(From);
  const std::uint64_t ahead = span == 0 ? 0 : std::min(fetched_bytes / span, points.rows);
  const auto fetch_row = [&](const From* row, std::byte* to) {
    fetch<false>(row, span);
    if (points.column_stride == 1) fetch<true>(to, points.columns * sizeof(To));
  };
  for (std::uint64_t row = 0; row < ahead; ++row) {
    fetch_row(from + row * points.row_stride, target + row * pitch);
  }
  for (std::uint64_t row = 0; row < points.rows; ++row) {
    if (ahead > 0 && row + ahead < points.rows) {
      fetch_row(from + ahead * points.row_stride, target + (row + ahead) * pitch);
    }
    gather_row(from, points.columns, points.column_stride,
               reinterpret_cast<To*>(target + row * pitch));
    from += points.row_stride;
  }
}

template <class From>
void gather_from(const void* source, const Points& points, std::byte* target, ElementType to,
                 std::uint64_t pitch) {
  const auto* from = static_cast<const From*>(source);
  if (to == ElementType::float64) return gather_as<From, double>(from, points, target, pitch);
  if (to == ElementType::float32) return gather_as<From, float>(from, points, target, pitch);
  throw InputError(fmt::format("Slices are written as float32 or float64, not {}.", name_of(to)));
}

}  // namespace

void gather(const void* source, ElementType from, const Points& points, std::byte* target,
            ElementType to, std::uint64_t pitch) {
  if (from == ElementType::float64) return gather_from<double>(source, points, target, to, pitch);
  if (from == ElementType::float32) return gather_from<float>(source, points, target, to, pitch);
  throw InputError(
      fmt::format("Slices are taken of fields of float32 or float64, not {}.", name_of(from)));
}

}  // namespace slabmark::slice
