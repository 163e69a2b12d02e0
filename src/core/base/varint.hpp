#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Varints: numbers of 64 bits in 7 bits a byte, lowest first; the high bit is set in all bytes but
// the last.

namespace slabmark {

constexpr std::size_t varint_bytes(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

/// Appends `value` to bytes of any kind.
template <class Byte>
void put_varint(std::vector<Byte>& bytes, std::uint64_t value) {
  for (; value >= 128; value >>= 7) bytes.push_back(static_cast<Byte>(value | 128));
  bytes.push_back(static_cast<Byte>(value));
}

/// Returns the number at `at`, and sets `at` behind it. Returns nothing if the bytes end within the
/// number (`at` is then their end), or if the number has more than 64 bits.
template <class Byte>
std::optional<std::uint64_t> read_varint(std::span<const Byte> bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<std::uint64_t>(bytes[at++]);
    if (shift == 63 && byte > 1) return std::nullopt;
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
  return std::nullopt;
}

/// Signed numbers as unsigned ones, those near 0 as small ones: 0, -1, 1, -2 are 0, 1, 2, 3.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t code) {
  return static_cast<std::int64_t>(code >> 1) ^ -static_cast<std::int64_t>(code & 1);
}

}  // namespace slabmark
