#pragma once

#include <cstdint>

#include "accel/c_library/api/rearrange.h"

namespace slabmark::rearrange {

/// Bytes of an element; 0 for what is no type.
std::uint64_t size_of(slabmark_type type);

/// Whether elements need no conversion; all types of one byte are alike.
bool are_alike(slabmark_type a, slabmark_type b);

const char* name_of(slabmark_type type);  ///< "float64"

}  // namespace slabmark::rearrange
