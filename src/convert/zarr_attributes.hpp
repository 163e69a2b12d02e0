#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convert/contents.hpp"
#include "core/json/json.hpp"

namespace slabmark::convert {

/// Attributes as a Zarr store holds them for xarray: texts, numbers, lists of either. `_FillValue`
/// of floating-point variables is in base64. Throws InputError, which calls their owner `owner`,
/// for what JSON cannot hold: text that is not UTF-8, and numbers that are not finite.
Json zarr_attributes(const std::vector<FileAttribute>& attributes, const std::string& owner);

/// The reverse. Whole numbers become int32 or int64 and others float64, but `_FillValue` has the
/// type of its variable. Throws InputError for what netCDF cannot hold: true, null, objects.
std::vector<FileAttribute> attributes_of_zarr(const Json& json, std::optional<ElementType> variable,
                                              const std::string& owner);

}  // namespace slabmark::convert
