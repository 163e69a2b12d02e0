#pragma once

#include <optional>

#include <pnetcdf.h>

#include "core/geometry/element_type.hpp"

// PnetCDF's header alone: programs that load Slabmark bring the library.

namespace slabmark::pnetcdf {

inline constexpr LibraryTypes<nc_type> nc_types{{{{ElementType::int8, NC_BYTE},
                                                  {ElementType::uint8, NC_UBYTE},
                                                  {ElementType::int16, NC_SHORT},
                                                  {ElementType::uint16, NC_USHORT},
                                                  {ElementType::int32, NC_INT},
                                                  {ElementType::uint32, NC_UINT},
                                                  {ElementType::int64, NC_INT64},
                                                  {ElementType::uint64, NC_UINT64},
                                                  {ElementType::float32, NC_FLOAT},
                                                  {ElementType::float64, NC_DOUBLE},
                                                  {ElementType::character, NC_CHAR}}}};

constexpr nc_type nc_type_of(ElementType type) { return nc_types.at(type); }

/// Returns nothing if the number is not a type of the classic formats.
constexpr std::optional<ElementType> element_type_of(nc_type type) { return nc_types.find(type); }

}  // namespace slabmark::pnetcdf
