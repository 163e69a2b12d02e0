/// seism-core-check: does a file of seism-core-slice hold what it should?
///
///   mpiexec -n 4 seism-core-check seism-test.h5
///
/// Exit status 0: every element of every time step is right; 1: some are not; see
/// docs/reference/seism-core.md.

#include "core/parallel/program.hpp"

#include <string>

#include <fmt/format.h>

#include "bench/checkpoint/attributes.hpp"
#include "bench/checkpoint/content.hpp"
#include "bench/harness/verify.hpp"
#include "bench/method/environment.hpp"
#include "bench/method/registry.hpp"
#include "core/command_line/command_line.hpp"
#include "core/parallel/agree.hpp"
#include "programs/programs.hpp"

namespace slabmark::seism_core_check {

namespace {

struct Options {
  std::string file;
  /// It may lie in subfiles.
  int thread_level = info_of(FileFormat::hdf5_subfiles).thread_level;
};

Parsed<Options> parse(int argc, const char* const* argv) {
  CommandLine line(
      "seism-core-check",
      "Checks every element of every time step of a file that seism-core-slice wrote.");
  Options options;
  line.root().add_argument("FILE", options.file, "The file").required();
  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};
  return {std::move(options), ""};
}

ExitStatus run(const Comm& world, const Options& options) {
  const std::string& path = options.file;
  require_libraries(world);
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

const slabmark::Program& slabmark::programs::seism_core_check() {
  static const Program program =
      make_program("seism-core-check", seism_core_check::parse, seism_core_check::run);
  return program;
}
