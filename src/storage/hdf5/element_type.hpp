#pragma once

#include <optional>

#include <hdf5.h>

#include "core/geometry/element_type.hpp"

namespace slabmark::hdf5 {

/// Memory and file type of an element: the machine's own, so nothing is converted.
inline hid_t native_type(ElementType type) {
  switch (type) {
    case ElementType::int8:
      return H5T_NATIVE_INT8;
    case ElementType::uint8:
      return H5T_NATIVE_UINT8;
    case ElementType::int16:
      return H5T_NATIVE_INT16;
    case ElementType::uint16:
      return H5T_NATIVE_UINT16;
    case ElementType::int32:
      return H5T_NATIVE_INT32;
    case ElementType::uint32:
      return H5T_NATIVE_UINT32;
    case ElementType::int64:
      return H5T_NATIVE_INT64;
    case ElementType::uint64:
      return H5T_NATIVE_UINT64;
    case ElementType::float32:
      return H5T_NATIVE_FLOAT;
    case ElementType::float64:
      return H5T_NATIVE_DOUBLE;
    case ElementType::character:
      return H5T_C_S1;  // as NetCDF-4 stores NC_CHAR
  }
  return H5I_INVALID_HID;
}

/// The type whose elements a file or memory of `type` holds as they are; nothing for others.
inline std::optional<ElementType> element_type_of(hid_t type) {
  for (const ElementTypeInfo& info : element_types) {
    if (H5Tequal(type, native_type(info.type)) > 0) return info.type;
  }
  return std::nullopt;
}

}  // namespace slabmark::hdf5
