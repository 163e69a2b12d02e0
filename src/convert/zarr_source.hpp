#pragma once

#include <memory>
#include <string>

#include "convert/source.hpp"

namespace slabmark::convert {

/// Whether a directory is a Zarr v3 store.
bool is_zarr(const std::string& path);

/// Collective: the arrays in the root group of a Zarr v3 store. Variables and dimensions have the
/// order of `like`, and others follow by name. Throws an agreed InputError for what netCDF does not
/// hold: groups, and types other than numbers.
std::unique_ptr<Source> open_zarr(const Comm& comm, const std::string& path,
                                  const FileContents& like = {});

}  // namespace slabmark::convert
