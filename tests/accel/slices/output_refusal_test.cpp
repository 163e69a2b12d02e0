#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accel/slices/output.hpp"
#include "accel/slices/simulation.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"

namespace slabmark::slice {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The message of the InputError that the declaration leads to, on every rank.
std::string refusal(const Comm& comm, const Declaration& declaration) {
  try {
    Output output(comm.get(), declaration);
  } catch (const InputError& error) {
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

}  // namespace
}  // namespace slabmark::slice
