#pragma once

#include <memory>
#include <string>

#include "convert/source.hpp"

namespace slabmark::convert {

/// Collective: a netCDF-4 file, or another HDF5 file that netCDF-C would read. Each rank reads it
/// through HDF5, and so decompresses what it reads. Throws an agreed InputError that names what no
/// netCDF file of our contents holds: groups, types of the user, and variables of strings.
std::unique_ptr<Source> open_netcdf4(const Comm& comm, const std::string& path);

}  // namespace slabmark::convert
