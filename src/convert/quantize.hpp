#pragma once

#include <cstdint>
#include <memory>

#include "convert/source.hpp"

namespace slabmark::convert {

struct Settings;

enum class Rounding { none, bit_round, granular_bit_round, bit_groom };

/// How elements are rounded.
struct Quantization {
  Rounding rounding = Rounding::none;
  std::uint64_t kept = 0;  ///< bits for bit_round, else decimal digits
};

/// The source with elements rounded as the settings of their variables say, bit by bit as netCDF-C
/// does it, and recorded in its attribute. Only floating-point variables of two and more dimensions
/// are rounded, and none that others need, such as coordinates and bounds. Fill values stay. Throws
/// InputError where a variable has fewer bits.
std::unique_ptr<Source> quantize(std::shared_ptr<Source> source, const Settings& settings);

}  // namespace slabmark::convert
