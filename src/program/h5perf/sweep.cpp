#include "program/h5perf/sweep.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark::h5perf {

namespace {

/// In one dimension no more fits into a buffer than a process has.
void cut_to_bytes(std::uint64_t& buffer, const char* option, const TransferGeometry& geometry,
                  std::vector<std::string>& notes) {
  if (geometry.two_dimensional || buffer <= geometry.bytes) return;
  notes.push_back(
      fmt::format("The transfer buffer size {} of {} is more than the {} bytes per process, and is "
                  "taken as that.",
                  buffer, option, geometry.bytes));
  buffer = geometry.bytes;
}

}  // namespace

std::vector<int> processes_of(const SweepLimits& limits) {
  if (limits.min_processes > limits.max_processes) {
    throw InputError(
        fmt::format("The fewest processes (-p {}) are more than the most (-P {}); swap them.",
                    limits.min_processes, limits.max_processes));
  }
  std::vector<int> all;
  for (std::uint64_t p = limits.max_processes; p >= limits.min_processes; p /= 2) {
    all.push_back(static_cast<int>(p));
  }
  return all;
}

std::vector<std::uint64_t> buffers_of(const SweepLimits& limits, const TransferGeometry& geometry,
                                      std::vector<std::string>& notes) {
  std::uint64_t smallest = limits.min_buffer;
  std::uint64_t largest = limits.max_buffer;
  cut_to_bytes(smallest, "-x", geometry, notes);
  cut_to_bytes(largest, "-X", geometry, notes);
  if (smallest > 0 && largest > 0 && smallest > largest) {
    throw InputError(fmt::format(
        "The smallest transfer buffer (-x {}) is more than the largest (-X {}); swap them.",
        smallest, largest));
  }
  // A default gives way to what was asked for.
  if (largest == 0) largest = std::max(geometry.bytes, smallest);
  if (smallest == 0) smallest = std::min(std::max(geometry.bytes / 2, geometry.block), largest);
  std::vector<std::uint64_t> all;
  for (std::uint64_t buffer = smallest; buffer <= largest; buffer *= 2) {
    all.push_back(buffer);
    if (buffer > largest / 2) break;  // the next could exceed 64 bits
  }
  return all;
}

}  // namespace slabmark::h5perf
