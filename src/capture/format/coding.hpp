#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/varint.hpp"

// The numbers of the pattern file; docs/reference/pattern-file.md has the format.

namespace slabmark::capture {

using slabmark::put_varint;

using Bytes = std::vector<std::uint8_t>;

/// The first number of a token of the events.
enum class Token : std::uint64_t { block = 1, again = 2, uncaptured = 3, end = 4 };

/// How an event says its selection in the file.
constexpr std::uint64_t select_all_code = 0, select_none_code = 1, select_box_code = 2,
                        first_list_code = 3;

/// How an event says which requests it waits for.
constexpr std::uint64_t all_requests = 0, writing_requests = 1, reading_requests = 2,
                        listed_requests = 3;

/// Flags of a list.
constexpr std::uint64_t strided_list = 1, list_has_origin = 2, list_has_extent = 4, list_is_map = 8;

enum class Column : std::uint64_t { constant = 0, plain = 1, runs = 2 };

/// a - b, also where that is more than a signed number holds.
inline std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

inline void put_varint(Bytes& bytes, Token token) {
  slabmark::put_varint(bytes, static_cast<std::uint64_t>(token));
}
inline void put_signed(Bytes& bytes, std::int64_t value) { put_varint(bytes, zigzag(value)); }

/// The column of value(0), ..., value(n - 1), in the shortest of its forms.
template <class Value>
void put_column(Bytes& bytes, std::size_t n, const Value& value) {
  std::size_t plain = 0;
  std::size_t in_runs = 0;
  std::size_t run = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t own = varint_bytes(zigzag(value(i)));
    plain += own;
    ++run;
    if (i + 1 == n || value(i + 1) != value(i)) {
      in_runs += varint_bytes(run) + own;
      if (run == n) {
        put_varint(bytes, static_cast<std::uint64_t>(Column::constant));
        put_signed(bytes, value(i));
        return;
      }
      run = 0;
    }
  }
  if (n == 0) {
    put_varint(bytes, static_cast<std::uint64_t>(Column::constant));
  } else if (plain <= in_runs) {
    put_varint(bytes, static_cast<std::uint64_t>(Column::plain));
    for (std::size_t i = 0; i < n; ++i) put_signed(bytes, value(i));
  } else {
    put_varint(bytes, static_cast<std::uint64_t>(Column::runs));
    for (std::size_t i = 0; i < n; ++i) {
      if (++run; i + 1 < n && value(i + 1) == value(i)) continue;
      put_varint(bytes, run);
      put_signed(bytes, value(i));
      run = 0;
    }
  }
}

inline void put_column(Bytes& bytes, std::span<const std::int64_t> values) {
  put_column(bytes, values.size(), [&](std::size_t i) { return values[i]; });
}

}  // namespace slabmark::capture
