/// seism-core-check: does a file of seism-core-slice hold what it should?
///
///   mpiexec -n 4 seism-core-check seism-test.h5
///
/// Exit status 0: every element of every time step is right; 1: some are not; see
/// docs/seism-core.md.

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/command_line.hpp"
#include "bench/verify.hpp"
#include "checkpoint/attributes.hpp"
#include "checkpoint/content.hpp"
#include "method/environment.hpp"
#include "method/registry.hpp"
#include "parallel/agree.hpp"
#include "parallel/program.hpp"

namespace slabmark::seism_core_check {

namespace {

Parsed<std::string> parse(int argc, const char* const* argv) {
  CLI::App app("Checks every element of every time step of a file that seism-core-slice wrote.",
               "seism-core-check");
  std::string file;
  app.add_option("file", file, "The file")->required();
  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};
  return {file, ""};
}

ExitStatus run(const Comm& world, const std::string& path) {
  require_hdf5(world);
  const CheckpointSettings settings = read_checkpoint_attributes(world, path);
  const CheckpointGrid& grid = settings.grid;
  Pattern pattern;
  agreed(world, [&] { pattern = make_checkpoint(world, settings); });
  const FileCheck check = verify_file(world, find_method(method_for(path)).format, pattern, path);
  if (world.is_root()) {
    fmt::print(
        "Checking {}: {} time steps of {}, written by {} x {} x {} processes: {}\n", path,
        grid.steps, to_string(grid.extent()), grid.processor[0], grid.processor[1],
        grid.processor[2],
        settings.use_function_name.empty()
            ? "ranks"
            : fmt::format("{} of {}", settings.use_function_name, settings.use_function_lib));
    fmt::print("Checking complete. Found totals of: {} correct / {} incorrect.\n",
               check.elements_checked - check.elements_wrong, check.elements_wrong);
  }
  if (!check.passed()) throw IoError(check.first_mismatch);
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::seism_core_check

int main(int argc, char** argv) {
  using namespace slabmark::seism_core_check;
  // The file may lie in subfiles, whose driver wants all threads.
  return slabmark::run_parsed(argc, argv, "seism-core-check", parse, run, MPI_THREAD_MULTIPLE);
}
