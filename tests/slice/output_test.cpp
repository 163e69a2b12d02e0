#include "slice/output.hpp"

#include <csignal>
#include <filesystem>
#include <functional>
#include <random>
#include <sys/resource.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "bench/scratch.hpp"
#include "parallel/comm.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark::slice {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

double value(std::uint64_t field, std::uint64_t x, std::uint64_t y, std::uint64_t z,
             std::uint64_t step) {
  return static_cast<double>(((field * 100 + z) * 100 + y) * 100 + x) +
         static_cast<double>(step) * 0.25;
}

/// The blocks of this rank, and what belongs to a declaration of them.
class Simulation {
 public:
  Simulation(const Comm& comm, BlockedField grid, std::uint64_t fields) : comm_(comm), grid_(grid) {
    shape_ = block_with_halo(grid, rank());
    blocks_.assign(fields, std::vector<double>(shape_[0] * shape_[1] * shape_[2]));
    declaration.grid = grid;
    for (std::uint64_t f = 0; f < fields; ++f) {
      const double* block = blocks_[f].data();
      declaration.fields.emplace_back(fmt::format("f{}", f), block);
    }
  }

  void set(std::uint64_t step) {
    const auto inside = parts_of(grid_, whole_field(grid_), rank());
    for (std::uint64_t f = 0; f < blocks_.size(); ++f) {
      auto* at = blocks_[f].data();
      for (std::uint64_t z = 0; z < shape_[2]; ++z) {
        for (std::uint64_t y = 0; y < shape_[1]; ++y) {
          for (std::uint64_t x = 0; x < shape_[0]; ++x) {
            // Wraps around in the halos before the block, where any value is wrong.
            *at++ = value(f, x + inside[0].file - grid_.halo, y + inside[1].file - grid_.halo,
                          z + inside[2].file - grid_.halo, step) +
                    (x < grid_.halo ? 0.5 : 0.0);
          }
        }
      }
    }
  }

  Declaration declaration;

 private:
  std::uint64_t rank() const { return static_cast<std::uint64_t>(comm_.rank()); }

  const Comm& comm_;
  BlockedField grid_;
  std::array<std::uint64_t, 3> shape_{};
  std::vector<std::vector<double>> blocks_;
};

/// What a file must hold of one output, in its order.
std::vector<double> due(const Slice& slice, std::uint64_t field, std::uint64_t step) {
  std::vector<double> values;
  const auto& [xs, ys, zs] = slice.ranges;
  for (auto z = zs.begin; z < zs.end; z += zs.stride) {
    for (auto y = ys.begin; y < ys.end; y += ys.stride) {
      for (auto x = xs.begin; x < xs.end; x += xs.stride) {
        values.push_back(value(field, x, y, z, step));
      }
    }
  }
  return values;
}

std::vector<double> read(const std::string& path, const std::string& dataset) {
  const auto file = hdf5::File::open_serial(path);
  auto data = file.open_dataset(dataset, ElementType::float64);
  auto space = data.space();
  space.select_all();
  std::vector<double> values(element_count(space.extent()));
  data.read(space, space, hdf5::TransferList(hdf5::TransferList::Mode::serial), values.data());
  return values;
}

/// On root: an appended file holds `steps` outputs of the cut, and no more.
void expect_appended(const std::string& path, const Cut& cut, std::uint64_t fields,
                     const std::vector<std::uint64_t>& steps) {
  std::vector<double> times(steps.begin(), steps.end());
  EXPECT_EQ(read(path, "time"), times);
  for (std::uint64_t f = 0; f < fields; ++f) {
    std::vector<double> all;
    for (const auto step : steps) {
      const auto one = due(cut.slice, f, step);
      all.insert(all.end(), one.begin(), one.end());
    }
    EXPECT_EQ(read(path, fmt::format("VTKHDF/PointData/f{}", f)), all) << path;
  }
}

BlockedField grid_of(const Comm& comm) {
  std::array<int, 3> processes{};
  MPI_Dims_create(comm.size(), 3, processes.data());
  BlockedField grid;
  grid.points = {13, 11, 9};
  grid.halo = 2;
  for (std::size_t i = 0; i < 3; ++i) grid.processes[i] = static_cast<std::uint64_t>(processes[i]);
  return grid;
}

Slice strided(const BlockedField& grid, std::array<std::uint64_t, 3> stride) {
  auto all = whole_field(grid);
  for (std::size_t axis = 0; axis < 3; ++axis) all.ranges[axis].stride = stride[axis];
  return all;
}

std::vector<Cut> cuts_of_all_kinds(const BlockedField& grid) {
  auto box = strided(grid, {2, 3, 4});
  box.name = "_box";
  box.ranges[0].begin = 3;
  box.ranges[1].end = 8;
  auto line = plane_of(strided(grid, {1, 2, 1}), 0, 12);
  line.ranges[2] = {4, 5, 1};
  line.name = "_line";
  return {{plane_of(whole_field(grid), 2, 4), {}, 1},
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
    for (std::uint64_t step = 0; step < steps; ++step) {
      simulation.set(step);
      output.write(step, static_cast<double>(step));
    }
    output.close();
  }
  comm.barrier();
  if (!comm.is_root()) return;
  for (const auto& cut : declaration.cuts) {
    const auto stem = declaration.prefix + cut.slice.name;
    std::vector<std::uint64_t> written;
    for (std::uint64_t step = 0; step < steps; step += cut.every) written.push_back(step);
    if (mode == FileMode::append) {
      expect_appended(stem + ".vtkhdf", cut, 2, written);
      continue;
    }
    for (const auto step : written) {
      const auto path = fmt::format("{}_{:06}.vtkhdf", stem, step);
      EXPECT_EQ(read(path, "VTKHDF/PointData/f1"), due(cut.slice, 1, step)) << path;
      EXPECT_EQ(read(path, "time"), std::vector<double>{static_cast<double>(step)});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OutputModes,
                         testing::Combine(testing::Values(FileMode::append,
                                                          FileMode::file_per_output),
                                          testing::Values(0U, 2U, 4U), testing::Values(0U, 3U)));

TEST(Output, GrowsBeyondTheFirstNodeOfTheIndex) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  simulation.declaration.cuts = {{plane_of(whole_field(simulation.declaration.grid), 2, 3), {}, 1}};
  simulation.declaration.prefix = scratch.file("long");
  std::vector<std::uint64_t> steps;
  Output output(comm.get(), simulation.declaration);
  for (std::uint64_t step = 0; step < 120; ++step) {
    simulation.set(step);
    output.write(step, static_cast<double>(step));
    steps.push_back(step);
  }
  output.close();
  if (comm.is_root()) {
    expect_appended(scratch.file("long_z3.vtkhdf"), simulation.declaration.cuts[0], 1, steps);
  }
}

TEST(Output, IsReadableAfterAFlushWithoutAClose) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  simulation.declaration.cuts = {{plane_of(whole_field(simulation.declaration.grid), 1, 3), {}, 1}};
  simulation.declaration.prefix = scratch.file("open");
  simulation.declaration.waiting = 2;
  Output output(comm.get(), simulation.declaration);
  simulation.set(1);
  output.write(1, 1.0);
  output.flush();
  if (comm.is_root()) {
    const auto copy = scratch.file("copy");
    fs::copy_file(scratch.file("open_y3.vtkhdf"), copy);
    EXPECT_EQ(read(copy, "time").front(), 1.0);
  }
  output.close();
}

/// The message of the InputError that the declaration leads to, on every rank.
std::string refusal(const Comm& comm, const Declaration& declaration) {
  try {
    Output output(comm.get(), declaration);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_input) << error.what();
    return error.what();
  }
  return "accepted";
}

TEST(Output, RefusesWrongDeclarationsOnAllRanksAndLeavesNoFile) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  auto good = simulation.declaration;
  good.cuts = {{plane_of(whole_field(good.grid), 2, 3), {}, 1}};
  good.prefix = scratch.file("wrong");
  const auto expect_refused = [&](const std::function<void(Declaration&)>& spoil,
                                  const std::string& culprit) {
    auto declaration = good;
    spoil(declaration);
    EXPECT_THAT(refusal(comm, declaration), HasSubstr(culprit));
  };
  expect_refused([](auto& d) { d.cuts[0].slice = plane_of(whole_field(d.grid), 2, 9); }, "along z");
  expect_refused([](auto& d) { d.cuts[0].slice.ranges[0].stride = 0; }, "stride 0");
  expect_refused([](auto& d) { d.cuts[0].slice.ranges[0].stride = 14; }, "stride 14");
  expect_refused([](auto& d) { d.cuts[0].fields = {"rho"}; }, "'rho'");
  expect_refused([](auto& d) { d.cuts[0].every = 0; }, "every 0");
  expect_refused([](auto& d) { d.cuts.push_back(d.cuts[0]); }, "_z3");
  expect_refused([](auto& d) { d.cuts.clear(); }, "no slice");
  expect_refused([](auto& d) { d.fields.clear(); }, "no field");
  expect_refused([](auto& d) { d.fields[0].data = nullptr; }, "'f0'");
  expect_refused([](auto& d) { d.fields[0].name = "a/b"; }, "'a/b'");
  expect_refused([](auto& d) { d.grid.processes[0] += 1; }, "process grid");
  expect_refused([](auto& d) { d.writers = 99; }, "99 writers");
  expect_refused([](auto& d) { d.type = ElementType::int32; }, "int32");
  expect_refused([](auto& d) { d.prefix = "/no/such/directory/run"; }, "/no/such/directory");
  if (comm.is_root()) {
    EXPECT_TRUE(fs::is_empty(fs::path(good.prefix).parent_path()));
  }
}

TEST(Output, RefusesFilesThatAreThereUnlessItMayReplaceThem) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  auto& declaration = simulation.declaration;
  declaration.cuts = {{plane_of(whole_field(declaration.grid), 2, 3), {}, 1}};
  declaration.prefix = scratch.file("there");
  for (const auto mode : {FileMode::append, FileMode::file_per_output}) {
    declaration.mode = mode;
    declaration.overwrite = true;
    Output output(comm.get(), declaration);
    output.write(5, 5.0);
    output.close();
    declaration.overwrite = false;
    EXPECT_THAT(refusal(comm, declaration), HasSubstr("exists already"));
  }
}

/// No file may grow beyond `bytes` while this lives: what a full disk looks like.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    auto lower = before_;
    lower.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

class FullDisk : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FullDisk, IsAnErrorInTheCallerAndEveryOutputBeforeIsWhole) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 2);
  auto& declaration = simulation.declaration;
  declaration.cuts = {{whole_field(declaration.grid), {}, 1}};  // 20 KiB an output
  declaration.prefix = scratch.file("full");
  declaration.waiting = GetParam();
  std::vector<std::uint64_t> steps;
  std::string message;
  {
    Output output(comm.get(), declaration);
    const FileSizeLimit limit(200 << 10);
    for (std::uint64_t step = 0; step < 40 && message.empty(); ++step) {
      simulation.set(step);
      try {
        output.write(step, static_cast<double>(step));
        steps.push_back(step);
      } catch (const IoError&) {
        FAIL() << "the error is agreed, so it is the base class";
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), ExitStatus::failed);
        message = error.what();
      }
    }
    EXPECT_THROW(output.write(40, 40.0), Error) << "it has ended";
  }
  EXPECT_THAT(message, HasSubstr("ulimit -f"));
  ASSERT_GE(steps.size(), 3U);
  if (comm.is_root()) {
    expect_appended(scratch.file("full.vtkhdf"), declaration.cuts[0], 2, steps);
  }
}

INSTANTIATE_TEST_SUITE_P(SynchronousOrWaiting, FullDisk, testing::Values(0U, 3U));

TEST(Output, ThatFailsInFilesOfItsOwnLeavesOnlyWholeOnes) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  auto& declaration = simulation.declaration;
  declaration.cuts = {{whole_field(declaration.grid), {}, 1}};
  declaration.prefix = scratch.file("part");
  declaration.mode = FileMode::file_per_output;
  declaration.waiting = 2;
  Output output(comm.get(), declaration);
  simulation.set(0);
  output.write(0, 0.0);
  output.flush();
  {
    const FileSizeLimit limit(8 << 10);
    EXPECT_THROW(
        {
          output.write(1, 1.0);
          output.flush();
        },
        Error);
  }
  comm.barrier();
  if (!comm.is_root()) return;
  EXPECT_TRUE(fs::exists(scratch.file("part_000000.vtkhdf")));
  EXPECT_FALSE(fs::exists(scratch.file("part_000001.vtkhdf")));
}

}  // namespace
}  // namespace slabmark::slice
