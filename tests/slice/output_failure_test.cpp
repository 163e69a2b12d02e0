#include <csignal>
#include <filesystem>
#include <functional>
#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "bench/scratch.hpp"
#include "slice/output.hpp"
#include "slice/simulation.hpp"

namespace slabmark::slice {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

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
