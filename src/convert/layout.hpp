#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convert/settings.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::convert {

/// Throws InputError where HDF5 has no such filter.
void require_storage(const Settings& settings, const FileContents& contents);

/// The filters of a variable in the output.
VariableFilters filters_of(const FileVariable& variable, const VariableSettings& settings);

/// The lengths of a variable's chunks; empty: contiguous, unless it must have some.
Extent chunk_of(const FileContents& contents, const FileVariable& variable,
                const VariableSettings& settings, bool always = false);

/// The element that stands where nothing was written: the attribute _FillValue, or netCDF's own.
std::vector<std::byte> fill_of(const FileVariable& variable);

/// The list with which HDF5 creates a variable as netCDF-C does. `path` is for messages.
hdf5::Handle creation_of(const FileVariable& variable, const Extent& chunk,
                         const VariableSettings& settings, const std::string& path);

}  // namespace slabmark::convert
