#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/slice_eval/way.hpp"

namespace slabmark::slice_eval {

/// On one rank: reads the files back through HDF5's serial driver and compares every element with
/// what the fields held in `iterations`, an output each. Returns how many; throws IoError at the
/// first that is wrong.
std::uint64_t check_files(const WayContext& context, const FileLayout& layout,
                          const std::vector<std::string>& files,
                          const std::vector<std::uint64_t>& iterations);

}  // namespace slabmark::slice_eval
