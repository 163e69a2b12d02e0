#include <algorithm>

#include "slice/cuda/gather.hpp"

namespace slabmark::slice {

namespace {

// A thread takes every so many points, so that any number of them fits into a grid. Neighbouring
// threads take neighbouring points of a row, whose lines the device then reads once.
template <class From, class To>
__global__ void gather_points(const From* source, Points points, To* target) {
  const std::uint64_t step = std::uint64_t{blockDim.x} * gridDim.x;
  const std::uint64_t count = points.rows * points.columns;
  for (auto i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const auto row = i / points.columns;
    const auto column = i % points.columns;
    target[i] = static_cast<To>(source[row * points.row_stride + column * points.column_stride]);
  }
}

template <class From, class To>
cudaError_t launch(const void* source, const Points& points, std::byte* target,
                   cudaStream_t stream) {
  constexpr unsigned threads = 256;
  constexpr std::uint64_t most_blocks = 1 << 16;
  const auto count = points.rows * points.columns;
  if (count == 0) return cudaSuccess;
  const auto blocks = std::min((count + threads - 1) / threads, most_blocks);
  gather_points<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
      static_cast<const From*>(source) + points.first, points, reinterpret_cast<To*>(target));
  return cudaGetLastError();
}

template <class From>
cudaError_t launch_from(const void* source, const Points& points, std::byte* target, ElementType to,
                        cudaStream_t stream) {
  if (to == ElementType::float64) return launch<From, double>(source, points, target, stream);
  return launch<From, float>(source, points, target, stream);
}

}  // namespace

cudaError_t launch_gather(const void* source, ElementType from, const Points& points,
                          std::byte* target, ElementType to, cudaStream_t stream) {
  if (from == ElementType::float64) {
    return launch_from<double>(source, points, target, to, stream);
  }
  return launch_from<float>(source, points, target, to, stream);
}

}  // namespace slabmark::slice
