#pragma once

#include <cstdint>

#include "slice/device.hpp"

namespace slabmark::slice {

/// Memory of the host for blocks of fields, zeroed. With `huge` the kernel is asked for pages of
/// 2 MiB: of a plane normal to x each point lies in a page of its own, and finding small pages
/// costs more than reading the points.
Buffer make_pages(std::uint64_t bytes, bool huge);

}  // namespace slabmark::slice
