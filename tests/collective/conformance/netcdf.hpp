#pragma once

#include <string>
#include <vector>

#include <pnetcdf.h>

#include "collective/conformance/program.hpp"

namespace slabmark::conformance {

/// Throws what PnetCDF says of an error.
void check_netcdf(int error, const std::string& call);

/// Defines a program's arrays in a file that is in define mode, and returns their variables.
std::vector<int> define_netcdf(int ncid, const Program& program);

/// Returns the variables of a program's arrays in an existing file.
std::vector<int> find_netcdf(int ncid, const Program& program);

}  // namespace slabmark::conformance
