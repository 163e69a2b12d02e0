#pragma once

#include <cstdint>
#include <memory>

#include "convert/source.hpp"

namespace slabmark::convert {

/// The source with elements rounded to so many significant bits (BitRound), bit by bit as netCDF-C
/// does it, and recorded in its attribute. Only floating-point variables of two and more dimensions
/// are rounded, and none that others need, such as coordinates and bounds. Fill values stay. Throws
/// InputError where a variable has fewer bits.
std::unique_ptr<Source> bit_round(std::shared_ptr<Source> source, std::uint64_t bits);

}  // namespace slabmark::convert
