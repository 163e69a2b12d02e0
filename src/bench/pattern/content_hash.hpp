#pragma once

#include <cstddef>
#include <cstdint>

namespace slabmark {

inline constexpr std::uint64_t golden_gamma = 0x9E3779B97F4A7C15;

/// The finaliser of splitmix64.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// Start of the sequence of hashes of one dataset at one time.
constexpr std::uint64_t content_key(std::size_t dataset, std::uint64_t time) {
  return mix(mix((dataset + 1) * golden_gamma) + (time + 1) * golden_gamma);
}

/// Hash of an element, or of a group of elements.
constexpr std::uint64_t content_hash(std::uint64_t key, std::uint64_t index) {
  return mix(key + index * golden_gamma);
}

}  // namespace slabmark
