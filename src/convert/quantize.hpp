#pragma once

#include <cstdint>
#include <memory>

#include "convert/source.hpp"

namespace slabmark::convert {

struct Settings;

/// How elements are rounded.
struct Quantization {
  std::uint64_t bits = 0;  ///< that BitRound keeps; 0: elements are not rounded
};

/// The source with elements rounded as the settings of their variables say, bit by bit as netCDF-C
/// does it, and recorded in its attribute. Only floating-point variables of two and more dimensions
/// are rounded, and none that others need, such as coordinates and bounds. Fill values stay. Throws
/// InputError where a variable has fewer bits.
std::unique_ptr<Source> quantize(std::shared_ptr<Source> source, const Settings& settings);

}  // namespace slabmark::convert
