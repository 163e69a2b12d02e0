#pragma once

#include <cstdint>

#include "core/geometry/extent.hpp"

namespace slabmark::convert {

/// What readers want of a variable with time in front: all times at one place, one level at a time,
/// all of it at a time, or each of these about as fast as it may be.
enum class ChunkUse { series, level, field, mix };

/// The chunk for that use, of those that `slabmark advise --chunks` tries: the one of which a
/// reader touches fewest bytes, where each chunk counts as 64 KiB more.
Extent advised_chunk(ChunkUse use, const Extent& extent, std::uint64_t element_bytes);

}  // namespace slabmark::convert
