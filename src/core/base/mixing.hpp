#pragma once

#include <cstdint>

namespace slabmark {

/// 2^64 divided by the golden ratio, made odd: products with it spread numbers that lie close
/// together.
inline constexpr std::uint64_t golden_gamma = 0x9E3779B97F4A7C15;

/// The last step of splitmix64, which can be undone: each bit of the result depends on all bits.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace slabmark
