#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pattern/transfer_pattern.hpp"

namespace slabmark::h5perf {

/// Ends of the ranges; a buffer size of 0 stands for the default.
struct SweepLimits {
  std::uint64_t min_processes = 1;
  std::uint64_t max_processes = 1;
  std::uint64_t min_buffer = 0;
  std::uint64_t max_buffer = 0;
};

/// From the most processes on, each the half of the one before. Throws InputError where the fewest
/// are more than the most.
std::vector<int> processes_of(const SweepLimits& limits);

/// From the smallest buffer on, each the double of the one before. Defaults and the bounds of 1-D
/// buffers follow the guide: half the bytes per process up to all of them. Says in `notes` where a
/// size was cut. Throws InputError where the smallest that was asked for is more than the largest.
std::vector<std::uint64_t> buffers_of(const SweepLimits& limits, const TransferGeometry& geometry,
                                      std::vector<std::string>& notes);

}  // namespace slabmark::h5perf
