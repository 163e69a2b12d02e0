#include "accel/slices/device.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accel/slices/gather.hpp"
#include "accel/slices/lazy_device.hpp"
#include "accel/slices/output.hpp"
#include "accel/slices/simulation.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"

// The library with fields on a device; which device it is makes no difference to it. One that
// stands in for a GPU is everywhere; what a GPU itself must do is tried where there is one.

namespace slabmark::slice {
namespace {

using testing::HasSubstr;

/// Nothing where there is none.
std::shared_ptr<Device> gpu_if_any(const Comm& comm) {
  try {
    return cuda_device(static_cast<std::uint64_t>(comm.rank()));
  } catch (const InputError&) {
    return nullptr;
  }
}

/// Fields whose blocks are on a device.
template <class OfDevice>
class DeviceSimulation {
 public:
  DeviceSimulation(const Comm& comm, std::uint64_t fields, std::shared_ptr<OfDevice> of_device)
      : device(std::move(of_device)), host_(comm, grid_of(comm), fields) {
    declaration = host_.declaration;
    declaration.fields.clear();
    for (std::uint64_t f = 0; f < fields; ++f) {
      blocks_.push_back(device->allocate(host_.blocks()[f].size() * sizeof(double)));
      const auto* block = reinterpret_cast<const double*>(blocks_.back());
      declaration.fields.emplace_back(fmt::format("f{}", f), block);
    }
    declaration.device = device;
  }
  ~DeviceSimulation() {
    for (auto* block : blocks_) device->release(block);
  }
  DeviceSimulation(const DeviceSimulation&) = delete;
  DeviceSimulation& operator=(const DeviceSimulation&) = delete;

  void set(std::uint64_t step) {
    host_.set(step);
    for (std::size_t f = 0; f < blocks_.size(); ++f) {
      const auto& block = host_.blocks()[f];
      device->copy_in(reinterpret_cast<const std::byte*>(block.data()),
                      block.size() * sizeof(double), blocks_[f]);
    }
  }

  std::shared_ptr<OfDevice> device;
  Declaration declaration;

 private:
  Simulation host_;
  std::vector<std::byte*> blocks_;
};

std::vector<Cut> planes_of(const BlockedField& grid) {
  return {{plane_of(whole_field(grid), 2, 4), {}, 1},
          {plane_of(strided(grid, {5, 3, 1}), 2, 8), {}, 1},
          {plane_of(strided(grid, {1, 2, 2}), 0, 6), {}, 1},
          {plane_of(strided(grid, {2, 1, 1}), 1, 10), {}, 2}};
}

using Kind = std::tuple<FileMode, std::uint64_t, ElementType>;

class DeviceOutput : public testing::TestWithParam<Kind> {};

constexpr std::uint64_t steps_written = 5;

/// Writes two fields, expects the points due in the files, and returns the bytes moved.
template <class OfDevice>
std::uint64_t expect_every_point(const Comm& comm, const Kind& kind,
                                 DeviceSimulation<OfDevice>& simulation) {
  const auto [mode, waiting, type] = kind;
  const Scratch scratch(comm);
  auto& declaration = simulation.declaration;
  declaration.cuts = planes_of(declaration.grid);
  declaration.prefix = scratch.file("gpu");
  declaration.mode = mode;
  declaration.waiting = waiting;
  declaration.type = type;
  std::uint64_t moved = 0;
  {
    Output output(comm.get(), declaration);
    write_steps(output, simulation, steps_written);
    output.close();
    moved = comm.sum(output.tally().bytes_from_device);
  }
  std::uint64_t points = 0;
  for (const auto& cut : declaration.cuts) {
    points += 2 * ((steps_written - 1) / cut.every + 1) * due(cut.slice, 0, 0).size();
  }
  EXPECT_EQ(moved, points * size_of(type)) << "of a slice its points, never the field";
  comm.barrier();
  if (comm.is_root()) expect_files(declaration, steps_written);
  return moved;
}

TEST_P(DeviceOutput, HoldsEveryPointAndMovesNoOther) {
  const Comm comm(MPI_COMM_WORLD);
  DeviceSimulation simulation(comm, 2, std::make_shared<LazyDevice>());
  const auto moved = expect_every_point(comm, GetParam(), simulation);
  EXPECT_EQ(moved, comm.sum(simulation.device->bytes_out));
}

TEST_P(DeviceOutput, OfAGpuHoldsEveryPoint) {
  const Comm comm(MPI_COMM_WORLD);
  const auto gpu = gpu_if_any(comm);
  if (!gpu) GTEST_SKIP() << "there is no GPU here, or this build has no CUDA";
  DeviceSimulation simulation(comm, 2, gpu);
  expect_every_point(comm, GetParam(), simulation);
}

// The values of the simulation are quarters below 2^24, which a float32 holds exactly.
INSTANTIATE_TEST_SUITE_P(
    All, DeviceOutput,
    testing::Combine(testing::Values(FileMode::append, FileMode::file_per_output),
                     testing::Values(0U, 3U),
                     testing::Values(ElementType::float64, ElementType::float32)));

TEST(Device, IsGivenTheNextCutBeforeTheFirstIsWritten) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  DeviceSimulation simulation(comm, 1, std::make_shared<LazyDevice>());
  auto& declaration = simulation.declaration;
  declaration.cuts = {{plane_of(whole_field(declaration.grid), 2, 4), {}, 1},
                      {whole_field(declaration.grid), {}, 1}};
  declaration.prefix = scratch.file("ahead");
  simulation.set(0);
  Output output(comm.get(), declaration);
  output.write(0, 0.0);
  EXPECT_EQ(simulation.device->waits, 2U);
  EXPECT_GE(simulation.device->most_waiting, 1U) << "the gather of the second cut";
  output.close();
}

TEST(Device, ThatFailsOnOneRankIsAnErrorOnAllAndEveryOutputBeforeIsWhole) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  DeviceSimulation simulation(comm, 1, std::make_shared<LazyDevice>());
  auto& declaration = simulation.declaration;
  declaration.cuts = {{whole_field(declaration.grid), {}, 1}};
  declaration.prefix = scratch.file("failed");
  declaration.writers = 1;  // which is not the rank that fails, where there are several
  if (comm.rank() == comm.size() - 1) simulation.device->failing_wait = 4;
  {
    Output output(comm.get(), declaration);
    write_steps(output, simulation, 3);
    simulation.set(3);
    EXPECT_THROW(output.write(3, 3.0), Error);
    EXPECT_THROW(output.write(4, 4.0), Error) << "it has ended";
  }
  comm.barrier();
  if (comm.is_root()) {
    expect_appended(scratch.file("failed.vtkhdf"), declaration.cuts[0], 1, {0, 1, 2});
  }
}

/// Expects a GPU to gather, to rows with gaps, the very bits that the host gathers.
template <class From, class To>
void expect_as_on_host(Device& gpu, const std::vector<From>& source, const Points& points,
                       ElementType from, ElementType to) {
  const std::uint64_t width = points.columns * sizeof(To);
  const std::uint64_t pitch = width + 3 * sizeof(To);
  const auto bytes = points.rows * pitch;
  std::vector<std::byte> expected(bytes);
  gather(source.data(), from, points, expected.data(), to, pitch);

  auto* there = gpu.allocate(source.size() * sizeof(From));
  auto* here = gpu.allocate_pinned(bytes + 1);
  std::memset(here, 0, bytes);
  gpu.copy_in(reinterpret_cast<const std::byte*>(source.data()), source.size() * sizeof(From),
              there);
  gpu.gather(there, from, points, here, to, pitch);
  gpu.wait(gpu.mark());
  EXPECT_EQ(std::memcmp(here, expected.data(), bytes), 0)
      << points.rows << " x " << points.columns << " points, " << points.column_stride << " apart";
  gpu.release_pinned(here);
  gpu.release(there);
}

// Numbers that a float32 holds only roughly, or not at all: too large, too small. Points beyond one
// grid of threads, too.
TEST(Device, AGpuGathersAndConvertsAsTheHostDoes) {
  const Comm comm(MPI_COMM_WORLD);
  const auto gpu = gpu_if_any(comm);
  if (!gpu) GTEST_SKIP() << "there is no GPU here, or this build has no CUDA";
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> exponent(-330.0, 308.0);
  std::vector<double> doubles(20'000'000);
  for (double& value : doubles) value = std::pow(10.0, exponent(random)) * 1.23456789;
  std::vector<float> floats(doubles.begin(), doubles.end());
  const std::vector<Points> choices = {
      {5, 7, 100, 13, 1}, {0, 700, 10000, 1300, 5}, {3, 4, 9, 31, 33},        {1, 300, 1, 60, 300},
      {2, 3, 1, 1, 300},  {0, 1, 0, 900, 1},        {0, 19999, 1000, 999, 1}, {9, 3, 100, 0, 1}};
  for (const auto& points : choices) {
    expect_as_on_host<double, double>(*gpu, doubles, points, ElementType::float64,
                                      ElementType::float64);
    expect_as_on_host<double, float>(*gpu, doubles, points, ElementType::float64,
                                     ElementType::float32);
    expect_as_on_host<float, double>(*gpu, floats, points, ElementType::float32,
                                     ElementType::float64);
    expect_as_on_host<float, float>(*gpu, floats, points, ElementType::float32,
                                    ElementType::float32);
  }
}

TEST(Device, AGpuThatHasNotSoMuchMemoryIsAnErrorAndWorksOn) {
  const Comm comm(MPI_COMM_WORLD);
  const auto gpu = gpu_if_any(comm);
  if (!gpu) GTEST_SKIP() << "there is no GPU here, or this build has no CUDA";
  EXPECT_THROW(gpu->allocate(std::uint64_t{1} << 60), IoError);
  expect_as_on_host<double, double>(*gpu, {1.0, 2.0, 3.0}, {0, 1, 1, 2, 2}, ElementType::float64,
                                    ElementType::float64);
}

TEST(Device, OfCudaIsAnErrorWithTheRemedyWhereThereIsNone) {
  try {
    cuda_device();
    GTEST_SKIP() << "there is a GPU here";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("keep the fields in host memory"));
  }
}

}  // namespace
}  // namespace slabmark::slice
