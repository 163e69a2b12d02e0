#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace slabmark {

/// FNV-1a of 64 bits, eight bytes at a time: it finds what a writer left half-written, and damage.
/// Each step can be undone, so a change of one number, or of bytes within one, is always found.
class Checksum {
 public:
  Checksum& add(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x100000001b3;
    state_ ^= state_ >> 32;  // else the high bits of a value stay among the high bits
    return *this;
  }

  /// As numbers, their lowest byte first, the last one filled up with zeros.
  Checksum& add(std::span<const std::byte> bytes) {
    for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
      add(number(bytes.first(sizeof(std::uint64_t))));
    }
    return add(number(bytes));
  }

  std::uint64_t value() const { return state_; }

 private:
  static std::uint64_t number(std::span<const std::byte> bytes) {
    std::uint64_t word = 0;
    if (bytes.empty()) return word;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&word, bytes.data(), bytes.size());
    } else {
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        word |= std::to_integer<std::uint64_t>(bytes[i]) << i * 8;
      }
    }
    return word;
  }

  std::uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace slabmark
