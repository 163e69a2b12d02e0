#pragma once

#include "accel/pnetcdf_dropin/compressor/compressor.hpp"

namespace slabmark::dropin {

/// The library that compresses, which is loaded at the first call. Throws InputError with the end
/// of a sentence where it cannot be used.
const Compressor& compressor();

}  // namespace slabmark::dropin
