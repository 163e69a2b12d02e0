#pragma once

#include <string>
#include <vector>

#include "convert/contents.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark::convert {

/// Throws InputError, which names `input`, for names that netCDF-4 keeps for itself.
void require_netcdf4_names(const FileContents& contents, const std::string& input);

/// Makes dimensions, variables and attributes in an empty HDF5 file, as netCDF-C does: a dimension
/// scale for each dimension, attached to the variables that have it, and all in the order of the
/// contents. `creations`: one list for each variable. Returns the datasets of the variables.
std::vector<hdf5::Dataset> define_netcdf4(hdf5::File& file, const FileContents& contents,
                                          const std::vector<hdf5::Handle>& creations);

/// The datasets of the variables in a file that define_netcdf4() made.
std::vector<hdf5::Dataset> open_netcdf4_variables(const hdf5::Handle& file,
                                                  const FileContents& contents,
                                                  const std::string& path);

}  // namespace slabmark::convert
