#pragma once

#include <memory>
#include <string>
#include <vector>

#include "convert/layout.hpp"
#include "convert/target.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::convert {

/// The facts that the target needs before its file is made.
struct Netcdf4Plan {
  const FileContents& contents;
  const std::vector<Extent>& chunks;  ///< by variable; empty: contiguous
  const Settings& settings;
  std::uint64_t window;                  ///< most bytes that a rank holds for the exchange
  const TargetState* resumed = nullptr;  ///< the file is there, in this state
};

/// Collective: makes a netCDF-4 file, which must not exist yet, or goes on with one. The root
/// defines it, and each rank compresses its part of the chunks. The plan outlives it.
std::unique_ptr<Target> create_netcdf4(const Comm& comm, const std::string& path,
                                       const Netcdf4Plan& plan);

}  // namespace slabmark::convert
