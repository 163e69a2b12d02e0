#pragma once

#include <memory>
#include <string>

#include "convert/target.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::convert {

enum class NetcdfKind { netcdf4, cdf1, cdf2, cdf5, zarr };

/// Throws InputError that names what a file of that classic kind cannot hold: types, strings, a
/// second unlimited dimension, one that is not the slowest. `input` is for messages.
void require_classic(const FileContents& contents, NetcdfKind kind, const std::string& input);

/// Collective: makes a classic file through PnetCDF, which must not exist yet, or goes on with one
/// that it made (`resumed`). The contents outlive it.
std::unique_ptr<Target> create_classic(const Comm& comm, const std::string& path,
                                       const FileContents& contents, NetcdfKind kind,
                                       const TargetState* resumed);

}  // namespace slabmark::convert
