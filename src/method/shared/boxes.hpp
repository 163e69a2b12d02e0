#pragma once

#include <cstdint>
#include <functional>

#include "geometry/hyperslab.hpp"

namespace slabmark {

/// Visits `slab` as boxes (start and size, as NetCDF's vara takes them) of at most `most_elements`
/// (> 0). The row-major elements of the boxes, box after box, are the elements of the hyperslab in
/// its own row-major order, so a dense buffer is moved from front to back. That decides the shape:
/// a box reaches over a dimension only if all faster ones have one block, so a slab with several
/// blocks in its fastest dimension becomes single rows.
void for_each_box(const Hyperslab& slab, std::uint64_t most_elements,
                  const std::function<void(const Extent& start, const Extent& size)>& visit);

}  // namespace slabmark
