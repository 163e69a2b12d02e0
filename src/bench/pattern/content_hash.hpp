#pragma once

#include <cstddef>
#include <cstdint>

#include "core/geometry/dataset.hpp"

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

/// Calls `work` with a value of the C++ type that `type` stands for.
template <class Work>
auto with_type(ElementType type, const Work& work) {
  switch (type) {
    case ElementType::uint8:
      return work(std::uint8_t{});
    case ElementType::int32:
      return work(std::int32_t{});
    case ElementType::int64:
      return work(std::int64_t{});
    case ElementType::float32:
      return work(float{});
    case ElementType::character:
      return work(char{});
    case ElementType::int8:
      return work(std::int8_t{});
    case ElementType::int16:
      return work(std::int16_t{});
    case ElementType::uint16:
      return work(std::uint16_t{});
    case ElementType::uint32:
      return work(std::uint32_t{});
    case ElementType::uint64:
      return work(std::uint64_t{});
    case ElementType::float64:
      break;
  }
  return work(double{});
}

}  // namespace slabmark
