#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/mixing.hpp"

namespace slabmark {

/// Start of the sequence of hashes of one dataset at one time.
constexpr std::uint64_t content_key(std::size_t dataset, std::uint64_t time) {
  return mix(mix((dataset + 1) * golden_gamma) + (time + 1) * golden_gamma);
}

/// Hash of an element, or of a group of elements.
constexpr std::uint64_t content_hash(std::uint64_t key, std::uint64_t index) {
  return mix(key + index * golden_gamma);
}

}  // namespace slabmark
