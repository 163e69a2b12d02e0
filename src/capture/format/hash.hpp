#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace slabmark::capture {

/// 128 bits of some bytes or numbers: two with the same are taken to be the same.
struct Hash {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Hash&) const = default;

  static Hash of(std::span<const std::uint8_t> bytes);
};

struct HashOfHash {
  std::size_t operator()(const Hash& hash) const { return static_cast<std::size_t>(hash.low); }
};

/// Of pairs of numbers, as they come: one product a pair, so that next to nothing of the 128 bits
/// is lost in a step.
class HashOfPairs {
 public:
  HashOfPairs(std::uint64_t a, std::uint64_t b) : hash_{a ^ factors[1], b ^ factors[2]} {}

  void add(std::int64_t a, std::int64_t b) {
    const std::uint64_t first = hash_.low ^ static_cast<std::uint64_t>(a);
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(first) * (static_cast<std::uint64_t>(b) ^ factors[0]);
    hash_.low = static_cast<std::uint64_t>(product) ^ hash_.high;
    hash_.high = static_cast<std::uint64_t>(product >> 64) + first;
  }
  Hash value() const {
    HashOfPairs last = *this;
    last.add(0, 0);
    last.add(0, 0);
    return last.hash_;
  }

 private:
  static constexpr std::uint64_t factors[] = {0x9e3779b97f4a7c15, 0xa0761d6478bd642f,
                                              0xe7037ed1a0b428db};

  Hash hash_;
};

inline Hash Hash::of(std::span<const std::uint8_t> bytes) {
  HashOfPairs hash(bytes.size(), ~bytes.size());
  constexpr std::size_t pair = 2 * sizeof(std::int64_t);
  std::int64_t numbers[2] = {};
  for (; bytes.size() >= pair; bytes = bytes.subspan(pair)) {
    std::memcpy(numbers, bytes.data(), pair);
    hash.add(numbers[0], numbers[1]);
  }
  if (!bytes.empty()) {
    numbers[0] = numbers[1] = 0;
    std::memcpy(numbers, bytes.data(), bytes.size());
    hash.add(numbers[0], numbers[1]);
  }
  return hash.value();
}

}  // namespace slabmark::capture
