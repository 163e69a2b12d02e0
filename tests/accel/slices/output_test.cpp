#include "accel/slices/output.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "accel/slices/simulation.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"

namespace slabmark::slice {
namespace {

namespace fs = std::filesystem;

std::vector<Cut> cuts_of_all_kinds(const BlockedField& grid) {
  auto box = strided(grid, {2, 3, 4});
  box.name = "_box";
  box.ranges[0].begin = 3;
  box.ranges[1].end = 8;
  auto line = plane_of(strided(grid, {1, 2, 1}), 0, 12);
  line.ranges[2] = {4, 5, 1};
  line.name = "_line";
  auto halos = whole_field_with_halos(grid);
  halos.name = "_halos";
  return {{halos, {}, 1},
          {plane_of(whole_field(grid), 2, 4), {}, 1},
          {plane_of(strided(grid, {5, 5, 1}), 2, 8), {}, 1},
          {plane_of(strided(grid, {3, 1, 2}), 1, 0), {}, 2},
          {plane_of(whole_field(grid), 0, 6), {}, 1},
          {box, {}, 3},
          {line, {}, 1}};
}

class OutputModes
    : public testing::TestWithParam<std::tuple<FileMode, std::uint64_t, std::uint64_t>> {};

TEST_P(OutputModes, HoldEveryPointOfEveryKindOfCut) {
  const auto [mode, writers, waiting] = GetParam();
  const Comm comm(MPI_COMM_WORLD);
  if (writers > static_cast<std::uint64_t>(comm.size())) GTEST_SKIP() << "more writers than ranks";
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 2);
  auto& declaration = simulation.declaration;
  declaration.cuts = cuts_of_all_kinds(declaration.grid);
  declaration.prefix = scratch.file("run");
  declaration.mode = mode;
  declaration.writers = writers;
  declaration.waiting = waiting;
  constexpr std::uint64_t steps = 7;
  {
    Output output(comm.get(), declaration);
    write_steps(output, simulation, steps);
    output.close();
  }
  comm.barrier();
  if (comm.is_root()) expect_files(declaration, steps);
}

TEST(Output, TakesTheBlockThatASimulationSwappedIn) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  auto& declaration = simulation.declaration;
  const std::vector<double> elsewhere(simulation.blocks()[0].size(), -1.0);
  declaration.fields = {{"f0", elsewhere.data()}};
  declaration.cuts = {{plane_of(whole_field(declaration.grid), 2, 4), {}, 1}};
  declaration.prefix = scratch.file("run");
  {
    Output output(comm.get(), declaration);
    EXPECT_THROW(output.set_block("f1", elsewhere.data()), InputError);
    output.set_block("f0", simulation.blocks()[0].data());
    write_steps(output, simulation, 2);
    output.close();
  }
  comm.barrier();
  if (comm.is_root()) expect_files(declaration, 2);
}

INSTANTIATE_TEST_SUITE_P(All, OutputModes,
                         testing::Combine(testing::Values(FileMode::append,
                                                          FileMode::file_per_output),
                                          testing::Values(0U, 2U, 4U), testing::Values(0U, 3U)));

TEST(Output, WithHalosSaysThatItBeginsBeforeTheGrid) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  auto& declaration = simulation.declaration;
  declaration.cuts = {{whole_field_with_halos(declaration.grid), {}, 1}};
  declaration.prefix = scratch.file("halos");
  declaration.origin = {10, 20, 30};
  declaration.spacing = {1, 2, 3};
  Output(comm.get(), declaration).close();
  if (!comm.is_root()) return;
  EXPECT_EQ(read(scratch.file("halos.vtkhdf"), "x").front(), 10.0 - 2);
  EXPECT_EQ(read(scratch.file("halos.vtkhdf"), "z").front(), 30.0 - 2 * 3);
}

TEST(Output, GrowsBeyondTheFirstNodeOfTheIndex) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  simulation.declaration.cuts = {{plane_of(whole_field(simulation.declaration.grid), 2, 3), {}, 1}};
  simulation.declaration.prefix = scratch.file("long");
  Output output(comm.get(), simulation.declaration);
  write_steps(output, simulation, 120);
  output.close();
  if (comm.is_root()) expect_files(simulation.declaration, 120);
}

std::int64_t steps_of(const std::string& path) {
  auto file = hdf5::File::open_serial(path);
  const auto group = file.open_group("/VTKHDF/Steps");
  const auto attribute = H5Aopen(group.get(), "NSteps", H5P_DEFAULT);
  std::int64_t steps = -1;
  H5Aread(attribute, H5T_NATIVE_INT64, &steps);
  H5Aclose(attribute);
  return steps;
}

/// On root: a copy of the file, as a job that is killed now would leave it, has as many outputs.
void expect_steps(const Comm& comm, const std::string& path, std::uint64_t steps) {
  if (!comm.is_root()) return;
  const auto copy = path + ".copy";
  fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
  std::vector<double> times(steps);
  for (std::uint64_t step = 0; step < steps; ++step) times[step] = static_cast<double>(step);
  EXPECT_EQ(read(copy, "VTKHDF/Steps/Values"), times) << "VTK has room for no more than NSteps";
  EXPECT_EQ(steps_of(copy), static_cast<std::int64_t>(steps));
  const auto all = read(copy, "VTKHDF/PointData/f0");
  const auto one = due(plane_of(whole_field(grid_of(comm)), 1, 3), 0, steps - 1);
  const auto last = all.begin() + static_cast<std::ptrdiff_t>((steps - 1) * one.size());
  EXPECT_EQ(std::vector<double>(last, last + static_cast<std::ptrdiff_t>(one.size())), one);
}

/// Declares one plane in files of the prefix "open", for whose outputs a thread may wait.
void declare_waiting_plane(Simulation& simulation, const Scratch& scratch) {
  auto& declaration = simulation.declaration;
  declaration.cuts = {{plane_of(whole_field(declaration.grid), 1, 3), {}, 1}};
  declaration.prefix = scratch.file("open");
  declaration.waiting = 2;
}

TEST(Output, IsReadableUpToItsWholeOutputsWithoutAClose) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  declare_waiting_plane(simulation, scratch);
  Output output(comm.get(), simulation.declaration);
  const auto path = scratch.file("open_y3.vtkhdf");
  std::uint64_t step = 0;
  const auto write_until = [&](std::uint64_t end) {
    for (; step < end; ++step) {
      simulation.set(step);
      output.write(step, static_cast<double>(step));
    }
  };
  write_until(1);
  output.flush();
  expect_steps(comm, path, 1);
  // Room is made for more when the thread may still have two to write.
  write_until(hdf5::chunks_a_node + 1);
  expect_steps(comm, path, hdf5::chunks_a_node - 2);
  // Beyond the first chunk of times.
  for (const std::uint64_t end : {64U, 65U, 130U}) {
    write_until(end);
    output.flush();
    expect_steps(comm, path, end);
  }
  output.close();
}

TEST(Output, KeepsWhatWasFlushedWhenRoomIsMade) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  declare_waiting_plane(simulation, scratch);
  Output output(comm.get(), simulation.declaration);
  write_steps(output, simulation, hdf5::chunks_a_node);
  output.flush();
  simulation.set(hdf5::chunks_a_node);
  output.write(hdf5::chunks_a_node, 0.0);
  expect_steps(comm, scratch.file("open_y3.vtkhdf"), hdf5::chunks_a_node);
  output.close();
}

}  // namespace
}  // namespace slabmark::slice
