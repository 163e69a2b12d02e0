#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "accel/c_library/api/rearrange.h"
#include "core/geometry/element_type.hpp"

namespace slabmark::rearrange {

inline constexpr LibraryTypes<slabmark_type> slabmark_types{
    {{{ElementType::int8, SLABMARK_INT8},
      {ElementType::uint8, SLABMARK_UINT8},
      {ElementType::int16, SLABMARK_INT16},
      {ElementType::uint16, SLABMARK_UINT16},
      {ElementType::int32, SLABMARK_INT32},
      {ElementType::uint32, SLABMARK_UINT32},
      {ElementType::int64, SLABMARK_INT64},
      {ElementType::uint64, SLABMARK_UINT64},
      {ElementType::float32, SLABMARK_FLOAT32},
      {ElementType::float64, SLABMARK_FLOAT64},
      {ElementType::character, SLABMARK_UINT8}}}};  // the library has no characters

/// Returns nothing if the number is not a type of the library.
constexpr std::optional<ElementType> element_type_of(slabmark_type type) {
  return slabmark_types.find(type);
}

constexpr slabmark_type slabmark_type_of(ElementType type) { return slabmark_types.at(type); }

/// Bytes of an element; 0 if the number is not a type of the library.
constexpr std::uint64_t size_of(slabmark_type type) {
  const auto known = element_type_of(type);
  return known ? size_of(*known) : 0;
}

/// True if elements need no conversion; all types of one byte are alike.
constexpr bool are_alike(slabmark_type a, slabmark_type b) {
  return a == b || (size_of(a) == 1 && size_of(b) == 1);
}

constexpr std::string_view name_of(slabmark_type type) {
  const auto known = element_type_of(type);
  return known ? name_of(*known) : "no type";
}

}  // namespace slabmark::rearrange
