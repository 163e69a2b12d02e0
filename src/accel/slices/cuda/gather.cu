#include <algorithm>

#include "accel/slices/cuda/gather.hpp"

namespace slabmark::slice {

namespace {

// A thread takes every so many points, so that any number of them fits into a grid. Neighbouring
// threads take neighbouring points of a row, whose lines the device then reads once, and write one
// line of the host's memory together.
template <class From, class To>
__global__ void gather_points(const From* source, Points points, std::byte* target,
                              std::uint64_t pitch) {
  const std::uint64_t step = std::uint64_t{blockDim.x} * gridDim.x;
  const std::uint64_t rows_apart = step / points.columns;
  const std::uint64_t columns_apart = step % points.columns;
  const auto first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto row = first / points.columns;
  auto column = first % points.columns;
  while (row < points.rows) {
    reinterpret_cast<To*>(target + row * pitch)[column] =
        static_cast<To>(source[row * points.row_stride + column * points.column_stride]);
    row += rows_apart;
    column += columns_apart;
    if (column >= points.columns) {
      column -= points.columns;
      ++row;
    }
  }
}

template <class From, class To>
cudaError_t launch(const void* source, const Points& points, std::byte* target, std::uint64_t pitch,
                   cudaStream_t stream) {
  constexpr unsigned threads = 256;
  // Enough for the host's memory, which 32 to 4096 of them filled alike; the program's own kernels
  // have the rest of the GPU.
  constexpr std::uint64_t most_blocks = 128;
  const auto count = points.rows * points.columns;
  if (count == 0) return cudaSuccess;
  cudaLaunchConfig_t grid{};
  grid.gridDim.x = static_cast<unsigned>(std::min((count + threads - 1) / threads, most_blocks));
  grid.blockDim.x = threads;
  grid.stream = stream;
  // Says what this launch came to, where the last error may be an older one of the program's.
  return cudaLaunchKernelEx(&grid, gather_points<From, To>,
                            static_cast<const From*>(source) + points.first, points, target, pitch);
}

template <class From>
cudaError_t launch_from(const void* source, const Points& points, std::byte* target, ElementType to,
                        std::uint64_t pitch, cudaStream_t stream) {
  if (to == ElementType::float64)
    return launch<From, double>(source, points, target, pitch, stream);
  return launch<From, float>(source, points, target, pitch, stream);
}

}  // namespace

cudaError_t launch_gather(const void* source, ElementType from, const Points& points,
                          std::byte* target, ElementType to, std::uint64_t pitch,
                          cudaStream_t stream) {
  if (from == ElementType::float64) {
    return launch_from<double>(source, points, target, to, pitch, stream);
  }
  return launch_from<float>(source, points, target, to, pitch, stream);
}

}  // namespace slabmark::slice
