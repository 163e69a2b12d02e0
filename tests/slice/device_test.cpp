#include "slice/device.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "scratch.hpp"
#include "slice/lazy_device.hpp"
#include "slice/output.hpp"
#include "slice/simulation.hpp"

// The library with fields on a device; which device it is makes no difference to it.

namespace slabmark::slice {
namespace {

using testing::HasSubstr;

/// Fields whose blocks are on a device.
class DeviceSimulation {
 public:
  DeviceSimulation(const Comm& comm, std::uint64_t fields)
      : device(std::make_shared<LazyDevice>()), host_(comm, grid_of(comm), fields) {
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

  std::shared_ptr<LazyDevice> device;
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

class DeviceOutput
    : public testing::TestWithParam<std::tuple<FileMode, std::uint64_t, ElementType>> {};

TEST_P(DeviceOutput, HoldsEveryPointAndMovesNoOther) {
  const auto [mode, waiting, type] = GetParam();
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  DeviceSimulation simulation(comm, 2);
  auto& declaration = simulation.declaration;
  declaration.cuts = planes_of(declaration.grid);
  declaration.prefix = scratch.file("gpu");
  declaration.mode = mode;
  declaration.waiting = waiting;
  declaration.type = type;
  constexpr std::uint64_t steps = 5;
  std::uint64_t moved = 0;
  {
    Output output(comm.get(), declaration);
    write_steps(output, simulation, steps);
    output.close();
    moved = comm.sum(output.tally().bytes_from_device);
  }
  EXPECT_EQ(moved, comm.sum(simulation.device->bytes_out));
  std::uint64_t points = 0;
  for (const auto& cut : declaration.cuts) {
    points += 2 * ((steps - 1) / cut.every + 1) * due(cut.slice, 0, 0).size();
  }
  EXPECT_EQ(moved, points * size_of(type)) << "of a slice its points, never the field";
  comm.barrier();
  if (comm.is_root()) expect_files(declaration, steps);
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
  DeviceSimulation simulation(comm, 1);
  auto& declaration = simulation.declaration;
  declaration.cuts = {{plane_of(whole_field(declaration.grid), 2, 4), {}, 1},
                      {whole_field(declaration.grid), {}, 1}};
  declaration.prefix = scratch.file("ahead");
  simulation.set(0);
  Output output(comm.get(), declaration);
  output.write(0, 0.0);
  EXPECT_EQ(simulation.device->waits, 2U);
  EXPECT_GE(simulation.device->most_waiting, 2U) << "a gather and a copy of the second cut";
  output.close();
}

TEST(Device, ThatFailsOnOneRankIsAnErrorOnAllAndEveryOutputBeforeIsWhole) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  DeviceSimulation simulation(comm, 1);
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
