#pragma once

#include <cstdint>

#include "core/geometry/element_type.hpp"

namespace slabmark::dropin {

/// True if each value of `from` has its place in `to`.
bool always_fits(ElementType from, ElementType to);

/// Converts `count` elements. False where a value does not fit, which PnetCDF has rules for: then
/// what stands at `to` is of no use. Text is converted to nothing else.
bool convert(ElementType from, const void* source, ElementType to, void* target,
             std::uint64_t count);

}  // namespace slabmark::dropin
