#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace slabmark {

/// Random numbers that are the same on every machine and library, which those of <random>'s
/// distributions are not. splitmix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();

  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// In [0, limit); limit > 0. The bias is below limit / 2^64.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

/// A smooth random height over space that has hills of all sizes, from 1 unit of length down by
/// factors of 2: the sum of octaves of value noise, each `roughness` times as high as the one
/// before it. Cut at some height it makes continents and islands with ragged coasts.
class FractalNoise {
 public:
  FractalNoise(std::uint64_t seed, int octaves, double roughness)
      : seed_(seed), octaves_(octaves), roughness_(roughness) {}

  double at(double x, double y, double z) const;

 private:
  std::uint64_t seed_;
  int octaves_;
  double roughness_;
};

/// Marks the `count` greatest of `values` with 1, the others with 0; of equal values the first
/// ones.
std::vector<std::uint8_t> mark_greatest(const std::vector<float>& values, std::uint64_t count);

}  // namespace slabmark
