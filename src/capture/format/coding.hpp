#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

// The numbers of the pattern file; docs/pattern-file.md has the format.

namespace slabmark::capture {

using Bytes = std::vector<std::uint8_t>;

/// The first number of a token of the events.
enum class Token : std::uint64_t { block = 1, again = 2, uncaptured = 3, end = 4 };

/// How an event says its selection in the file.
constexpr std::uint64_t select_all_code = 0, select_none_code = 1, select_box_code = 2,
                        first_list_code = 3;

/// How an event says which requests it waits for.
constexpr std::uint64_t all_requests = 0, writing_requests = 1, reading_requests = 2,
                        listed_requests = 3;

/// Flags of an event beside those of recorder.hpp.
constexpr std::uint32_t has_memory_flag = 32, names_requests_flag = 64;

/// Flags of a list.
constexpr std::uint64_t strided_list = 1, list_has_origin = 2, list_has_extent = 4, list_is_map = 8;

enum class Column : std::uint64_t { constant = 0, plain = 1, runs = 2 };

inline std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t code) {
  return static_cast<std::int64_t>(code >> 1) ^ -static_cast<std::int64_t>(code & 1);
}

/// a - b, also where that is more than a signed number holds.
inline std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

inline std::size_t varint_bytes(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

inline void put_varint(Bytes& bytes, std::uint64_t value) {
  for (; value >= 128; value >>= 7) bytes.push_back(static_cast<std::uint8_t>(value | 128));
  bytes.push_back(static_cast<std::uint8_t>(value));
}
inline void put_varint(Bytes& bytes, Token token) {
  put_varint(bytes, static_cast<std::uint64_t>(token));
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
