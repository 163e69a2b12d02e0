#pragma once

#include <cuda_runtime_api.h>

#include "accel/slices/gather.hpp"

namespace slabmark::slice {

/// Starts the kernel that does what Device::gather() says.
cudaError_t launch_gather(const void* source, ElementType from, const Points& points,
                          std::byte* target, ElementType to, std::uint64_t pitch,
                          cudaStream_t stream);

}  // namespace slabmark::slice
