#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace slabmark::convert {

/// Attributes by which netCDF-C and HDF5's dimension scales store the structure of a file.
inline constexpr std::array<std::string_view, 8> reserved_attributes = {
    "CLASS",         "NAME",          "DIMENSION_LIST",      "REFERENCE_LIST",
    "_Netcdf4Dimid", "_NCProperties", "_Netcdf4Coordinates", "_nc3_strict"};

inline bool is_reserved(std::string_view attribute) {
  return std::ranges::find(reserved_attributes, attribute) != reserved_attributes.end();
}

/// Before the name of the classic format that a file was made of, in its attribute _NCProperties.
inline constexpr std::string_view classic_property = "classic=";

/// Before the name of a variable that is called like a dimension, whose coordinates it does not
/// hold.
inline constexpr std::string_view no_coordinates = "_nc4_non_coord_";

/// How the name of a scale begins that only stands for a dimension.
inline constexpr std::string_view no_variable =
    "This is a netCDF dimension but not a netCDF variable.";

}  // namespace slabmark::convert
