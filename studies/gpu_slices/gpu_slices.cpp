// How long a plane of a field on a GPU takes into the host's memory, by the library's kernel that
// writes there, beside a copy of as many bytes that are dense already, which is the limit, and
// beside other ways. See README.md for the command.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <cuda_runtime_api.h>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "accel/slices/cuda/gather.hpp"
#include "accel/slices/device.hpp"
#include "accel/slices/plan.hpp"
#include "bench/measure/statistics.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace {

using namespace slabmark;

void must(cudaError_t status) {
  if (status != cudaSuccess) throw IoError(cudaGetErrorString(status));
}

struct Size {
  std::array<std::uint64_t, 3> points;
  std::uint64_t stride;
};

/// Of the study, as slice_eval has them.
constexpr Size sizes[] = {{{180, 170, 150}, 2}, {{360, 355, 300}, 5}, {{650, 610, 520}, 5}};

struct Way {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds;
};

/// A block of one rank on the GPU and, as a copy, in the host's pinned memory.
class Block {
 public:
  Block(slice::Device& gpu, const BlockedField& field) : gpu_(gpu) {
    const auto shape = block_with_halo(field, 0);
    points = shape[0] * shape[1] * shape[2];
    on_host = reinterpret_cast<double*>(gpu.allocate_pinned(bytes()));
    for (std::uint64_t i = 0; i < points; ++i) on_host[i] = static_cast<double>(i);
    on_gpu = gpu.allocate(bytes());
    gpu.copy_in(reinterpret_cast<const std::byte*>(on_host), bytes(), on_gpu);
  }
  ~Block() {
    gpu_.release(on_gpu);
    gpu_.release_pinned(reinterpret_cast<std::byte*>(on_host));
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::uint64_t bytes() const { return points * sizeof(double); }

  std::uint64_t points = 0;
  double* on_host = nullptr;
  std::byte* on_gpu = nullptr;

 private:
  slice::Device& gpu_;
};

/// CUDA's own copy of rows of points that lie apart: one call, an element a row.
void copy_apart(const std::byte* from, const slice::Points& points, std::byte* to) {
  cudaMemcpy3DParms copy{};
  const auto pitch = points.column_stride * sizeof(double);
  auto* first = const_cast<std::byte*>(from) + points.first * sizeof(double);
  copy.srcPtr = {first, pitch, sizeof(double), points.row_stride / points.column_stride};
  copy.dstPtr = {to, sizeof(double), sizeof(double), points.columns};
  copy.extent = {sizeof(double), points.columns, points.rows};
  copy.kind = cudaMemcpyDeviceToHost;
  must(cudaMemcpy3DAsync(&copy, cudaStreamPerThread));
}

void copy_rows(const std::byte* from, const slice::Points& points, std::byte* to) {
  const auto width = points.columns * sizeof(double);
  must(cudaMemcpy2DAsync(to, width, from + points.first * sizeof(double),
                         points.row_stride * sizeof(double), width, points.rows,
                         cudaMemcpyDeviceToHost, cudaStreamPerThread));
}

void measure(slice::Device& gpu, const Size& size, std::size_t normal, bool strided,
             const Block& block, const BlockedField& field, std::uint64_t trials) {
  auto kept = whole_field(field);
  if (strided) {
    for (std::size_t axis = 0; axis < 3; ++axis) kept.ranges[axis].stride = size.stride;
  }
  const auto plane = plane_of(kept, normal, field.points[normal] / 2);
  const auto plan = slice::make_plan(field, plane, 1, ElementType::float64, {0}, 0);
  const auto& points = plan.gatherings.front().points;
  const auto width = points.columns * sizeof(double);
  const auto bytes = points.rows * width;
  auto* dense = gpu.allocate(bytes);
  auto* target = gpu.allocate_pinned(bytes);
  std::vector<std::byte> expected(bytes);
  const auto gather_on_host = [&](std::byte* to) {
    slice::gather(block.on_host, ElementType::float64, points, to, ElementType::float64, width);
  };
  gather_on_host(expected.data());

  std::vector<Way> ways;
  ways.push_back(
      {"dense",
       [&] {
         must(cudaMemcpyAsync(target, dense, bytes, cudaMemcpyDeviceToHost, cudaStreamPerThread));
         must(cudaStreamSynchronize(cudaStreamPerThread));
       },
       {}});
  ways.push_back({"library",
                  [&] {
                    gpu.gather(block.on_gpu, ElementType::float64, points, target,
                               ElementType::float64, width);
                    gpu.wait(gpu.mark());
                  },
                  {}});
  ways.push_back(
      {"kernel and copy",
       [&] {
         must(slice::launch_gather(block.on_gpu, ElementType::float64, points, dense,
                                   ElementType::float64, width, cudaStreamPerThread));
         must(cudaMemcpyAsync(target, dense, bytes, cudaMemcpyDeviceToHost, cudaStreamPerThread));
         must(cudaStreamSynchronize(cudaStreamPerThread));
       },
       {}});
  ways.push_back({"cudaMemcpy",
                  [&] {
                    if (points.column_stride == 1) {
                      copy_rows(block.on_gpu, points, target);
                    } else {
                      copy_apart(block.on_gpu, points, target);
                    }
                    must(cudaStreamSynchronize(cudaStreamPerThread));
                  },
                  {}});
  ways.push_back({"whole field",
                  [&] {
                    must(cudaMemcpyAsync(block.on_host, block.on_gpu, block.bytes(),
                                         cudaMemcpyDeviceToHost, cudaStreamPerThread));
                    must(cudaStreamSynchronize(cudaStreamPerThread));
                    gather_on_host(target);
                  },
                  {}});

  std::mt19937 random(17);
  std::vector<std::size_t> order(ways.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::uint64_t trial = 0; trial <= trials; ++trial) {
    std::shuffle(order.begin(), order.end(), random);
    for (const auto which : order) {
      auto& way = ways[which];
      std::memset(target, 0, bytes);
      must(cudaDeviceSynchronize());
      const auto begin = std::chrono::steady_clock::now();
      way.run();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (trial > 0) way.seconds.push_back(took.count());
      if (which != 0 && std::memcmp(target, expected.data(), bytes) != 0) {
        throw IoError(way.name + " gave other points.");
      }
    }
  }
  fmt::print("{} {} {:10} {:8.3f} MB", fmt::join(size.points, "x"), axis_names[normal],
             strided ? fmt::format("stride {}", size.stride) : "plain",
             static_cast<double>(bytes) / 1e6);
  for (const auto& way : ways) {
    const auto summary = summarise_trials(way.seconds);
    fmt::print("  {} {:.1f} [{:.1f}, {:.1f}]", way.name, 1e6 * summary.median, 1e6 * summary.low,
               1e6 * summary.high);
  }
  fmt::print("  library");
  for (const std::size_t other : {0, 3}) {
    std::vector<double> ratios;
    for (std::uint64_t i = 0; i < trials; ++i) {
      ratios.push_back(ways[1].seconds[i] / ways[other].seconds[i]);
    }
    const auto ratio = summarise_trials(ratios);
    fmt::print(" over {} {:.2f} [{:.2f}, {:.2f}]", ways[other].name, ratio.median, ratio.low,
               ratio.high);
  }
  fmt::print("\n");
  gpu.release_pinned(target);
  gpu.release(dense);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 2) {
    fmt::print("usage: gpu_slices [TRIALS]\n");
    return 2;
  }
  const auto trials = argc == 2 ? parse_count(argv[1], "the number of trials", 6) : 101;
  const auto gpu = slice::cuda_device();
  cudaDeviceProp properties{};
  must(cudaGetDeviceProperties(&properties, 0));
  fmt::print("{}; one rank; microseconds, median [95 % interval] of {}\n", properties.name, trials);
  for (const auto& size : sizes) {
    BlockedField field;
    field.points = size.points;
    field.halo = 5;
    const Block block(*gpu, field);
    for (const std::size_t normal : {2, 1, 0}) {
      for (const bool strided : {false, true}) {
        measure(*gpu, size, normal, strided, block, field, trials);
      }
    }
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
