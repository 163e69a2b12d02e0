#include "accel/slices/device.hpp"

#if SLABMARK_WITH_CUDA

#include <array>
#include <chrono>
#include <cstring>
#include <cuda_runtime_api.h>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

// What a program that itself calls CUDA expects of the library. On a node without GPUs all is
// skipped.

namespace slabmark::slice {
namespace {

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
      cudaGetLastError();
      GTEST_SKIP() << "there is no GPU here";
    }
  }
  int gpus = 0;
};

constexpr std::uint64_t too_much = std::uint64_t{1} << 60;

/// Expects every other of ten numbers to come from the device.
void expect_points(Device& device) {
  std::vector<float> numbers(10);
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  const auto bytes = numbers.size() * sizeof(float);
  auto* there = device.allocate(bytes);
  auto* here = device.allocate_pinned(bytes);
  device.copy_in(reinterpret_cast<const std::byte*>(numbers.data()), bytes, there);
  device.gather(there, ElementType::float32, {0, 1, 10, 5, 2}, here, ElementType::float32, bytes);
  device.wait(device.mark());
  std::array<float, 5> points{};
  std::memcpy(points.data(), here, sizeof points);
  EXPECT_EQ(points, (std::array<float, 5>{1, 3, 5, 7, 9}));
  device.release_pinned(here);
  device.release(there);
}

// By the kernel, and by CUDA's copy, which takes the points that lie side by side. So many that the
// last of them come much later than the first.
TEST_F(Cuda, WaitReturnsOnceAGatherAfterWhatTheProgramBeganOnTheDefaultStreamIsDone) {
  const auto device = cuda_device();
  constexpr std::uint64_t count = std::uint64_t{1} << 23;
  constexpr std::uint64_t bytes = count * sizeof(float);
  constexpr int fill = 42;
  auto* there = device->allocate(2 * bytes);
  auto* here = device->allocate_pinned(bytes);
  for (const std::uint64_t apart : {2, 1}) {
    ASSERT_EQ(cudaMemset(there, 0, 2 * bytes), cudaSuccess);
    std::memset(here, 0, bytes);
    const auto take_a_while = [](void*) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    };
    ASSERT_EQ(cudaLaunchHostFunc(cudaStreamLegacy, take_a_while, nullptr), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(there, fill, 2 * bytes, cudaStreamLegacy), cudaSuccess);
    device->gather(there, ElementType::float32, {0, 1, 2 * count, count, apart}, here,
                   ElementType::float32, bytes);
    device->wait(device->mark());
    EXPECT_EQ(static_cast<int>(here[bytes - 1]), fill) << "points " << apart << " apart, the last";
    EXPECT_EQ(static_cast<int>(here[0]), fill) << "points " << apart << " apart, the first";
  }
  device->release_pinned(here);
  device->release(there);
}

TEST_F(Cuda, AnErrorOfTheProgramIsNotTakenForOursAndOursIsNotLeft) {
  const auto device = cuda_device();
  void* none = nullptr;
  ASSERT_EQ(cudaMalloc(&none, too_much), cudaErrorMemoryAllocation);
  expect_points(*device);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation) << "it is the program's to be looked at";
  EXPECT_THROW(device->allocate(too_much), IoError);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "what was thrown has been told";
}

TEST_F(Cuda, ThatIsNotTheCurrentOneLeavesTheCurrentOneSo) {
  if (gpus < 2) GTEST_SKIP() << "there is only one GPU here";
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  const auto other = cuda_device(1);
  expect_points(*other);
  int current = -1;
  ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const auto of_current = cuda_device();
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  expect_points(*of_current);
}

}  // namespace
}  // namespace slabmark::slice

#endif
