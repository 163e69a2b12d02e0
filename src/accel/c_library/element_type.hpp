#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "accel/c_library/api/rearrange.h"
#include "core/geometry/element_type.hpp"

namespace slabmark::rearrange {

/// Nothing for what is no type of the library, which has no characters.
constexpr std::optional<ElementType> element_type_of(slabmark_type type) {
  if (type < SLABMARK_INT8 || type > SLABMARK_FLOAT64) return std::nullopt;
  return static_cast<ElementType>(type - SLABMARK_INT8);
}
static_assert(element_type_of(SLABMARK_INT8) == ElementType::int8 &&
              element_type_of(SLABMARK_FLOAT64) == ElementType::float64);

constexpr slabmark_type slabmark_type_of(ElementType type) {
  if (type == ElementType::character) return SLABMARK_UINT8;
  return static_cast<slabmark_type>(static_cast<int>(type) + SLABMARK_INT8);
}

/// Bytes of an element; 0 for what is no type.
constexpr std::uint64_t size_of(slabmark_type type) {
  const auto known = element_type_of(type);
  return known ? size_of(*known) : 0;
}

/// Whether elements need no conversion; all types of one byte are alike.
constexpr bool are_alike(slabmark_type a, slabmark_type b) {
  return a == b || (size_of(a) == 1 && size_of(b) == 1);
}

constexpr std::string_view name_of(slabmark_type type) {
  const auto known = element_type_of(type);
  return known ? name_of(*known) : "no type";
}

}  // namespace slabmark::rearrange
