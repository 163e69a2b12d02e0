#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace slabmark::capture {

/// 128 bits of some bytes: two with the same are taken to be the same.
struct Hash {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Hash&) const = default;

  static Hash of(std::span<const std::uint8_t> bytes) {
    Hash hash{bytes.size(), ~bytes.size()};
    while (bytes.size() >= sizeof(std::uint64_t)) {
      hash.add(bytes.data(), sizeof(std::uint64_t));
      bytes = bytes.subspan(sizeof(std::uint64_t));
    }
    hash.add(bytes.data(), bytes.size());
    hash.add(nullptr, 0);
    return hash;
  }

 private:
  void add(const std::uint8_t* at, std::size_t bytes) {
    std::uint64_t word = 0;
    if (bytes > 0) std::memcpy(&word, at, bytes);
    low = mix(low ^ word, 0x9e3779b97f4a7c15);
    high = mix(high + word, 0xd1342543de82ef95);
  }
  /// The halves of a product, put together: every bit of the value counts in every bit of the
  /// result.
  static std::uint64_t mix(std::uint64_t value, std::uint64_t factor) {
    value ^= value >> 29;
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(value) * factor;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64) ^ value;
  }
};

struct HashOfHash {
  std::size_t operator()(const Hash& hash) const { return static_cast<std::size_t>(hash.low); }
};

}  // namespace slabmark::capture
