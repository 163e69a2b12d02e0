/// seism-core-slice: how fast a simulation writes its checkpoints.
///
///   mpiexec -n 8 seism-core-slice < check.in
///
/// docs/reference/seism-core.md has the input, the report, and what differs from the original.

#include "core/parallel/program.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/checkpoint/attributes.hpp"
#include "bench/checkpoint/content.hpp"
#include "bench/harness/run.hpp"
#include "bench/harness/session.hpp"
#include "bench/harness/trial_file.hpp"
#include "bench/measure/manifest_file_system.hpp"
#include "bench/method/registry.hpp"
#include "core/base/path.hpp"
#include "core/base/version.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/deadline.hpp"
#include "programs/programs.hpp"
#include "programs/seism-core-slice/input.hpp"
#include "programs/seism-core-slice/options.hpp"
#include "programs/seism-core-slice/output_file.hpp"
#include "programs/seism-core-slice/report.hpp"
#include "storage/hdf5/subfiles.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::seism_core_slice {

namespace {

std::string read_text(const Options& options) {
  if (options.input.empty()) return read_until_done(std::cin);
  posix::File::open_input(options.input, "input");
  std::ifstream file(options.input);
  return read_until_done(file);
}

/// Rank 0 reads, and all ranks parse the same text.
CheckpointSettings read_input(const Comm& world, const Options& options) {
  std::string text;
  agreed(world, [&] {
    if (world.is_root()) text = read_text(options);
  });
  text = world.broadcast(text);
  CheckpointSettings settings;
  agreed(world, [&] { settings = parse_input(text); });
  return settings;
}

void require_ranks(const Comm& world, const CheckpointGrid& grid) {
  const auto size = static_cast<std::uint64_t>(world.size());
  if (grid.blocks() == size) return;
  throw InputError(fmt::format(
      "processor {} {} {} makes {} processes, but there are {} ranks; start as many ranks, or "
      "change the grid.",
      grid.processor[0], grid.processor[1], grid.processor[2], grid.blocks(), size));
}

void require_supported(const Cell& cell) {
  if (const auto reason = cell.method->supports(*cell.written, cell.settings)) {
    throw InputError(fmt::format("This cannot be written: {}.", *reason));
  }
}

Json configuration_of(const CheckpointSettings& settings, const Settings& method) {
  return {{"filename", settings.filename},
          {"function", settings.use_function_name},
          {"library", settings.use_function_lib},
          {"arguments", settings.use_function_argv},
          {"n_nodes", settings.n_nodes},
          {"options", method.options},
          {"lfs_stripe_count", settings.lfs_stripe_count},
          {"lfs_stripe_size", settings.lfs_stripe_size}};
}

void finish_file(const Comm& world, const CheckpointSettings& settings, const Cell& cell,
                 const CellRecord& record, const LibraryEnvironment& environment) {
  TrialFile unfinished(world, cell.path, &cell.method->file());
  Json facts;
  if (world.is_root()) facts = facts_of(record);
  facts = Json::parse(world.broadcast(facts.dump()));
  facts["hdf5_version"] = environment.libraries.at("HDF5");
  facts["mpi_version"] = mpi_library_version();
  facts["slabmark_version"] = std::string(version());
  write_checkpoint_attributes(world, cell.path, settings, facts);
  agreed(world, [&] {
    if (world.is_root()) hdf5::rename_with_subfiles(cell.path, settings.filename);
  });
  unfinished.keep();
}

ExitStatus run(const Comm& world, const Options& options) {
  Session session(world, "seism-core-slice", options);
  const CheckpointSettings settings = read_input(world, options);
  Cell cell;
  cell.method = &find_method(checkpoint_methods[settings.subfile > 0]);
  agreed(world, [&] {
    require_ranks(world, settings.grid);
    check_options(options.settings, {&cell.method, 1});
  });
  Pattern pattern;
  {
    Deadline deadline(options.run.deadline);
    deadline.watch("Loading the library of use_function_lib");
    agreed(world, [&] { pattern = make_checkpoint(world, settings); });
  }
  cell.path = name_to_write(world, settings, options.run.records);
  cell.settings = method_settings(settings, options.settings);
  cell.written = &pattern;
  const bool striped = world.broadcast(world.is_root() && can_stripe(settings) ? 1u : 0u) != 0;
  if (striped) {
    cell.settings.options["hdf5.into_existing"] = "on";
    cell.before_create = [&](const std::string& path) { make_striped(settings, path); };
  }
  agreed(world, [&] { require_supported(cell); });
  // Before anything is printed: nothing is echoed of a run that cannot begin.
  require_free_path(world, cell.path, {.overwrite = true}, cell.method->file().companions);

  session.begin(directory_of(settings.filename), configuration_of(settings, cell.settings));
  if (world.is_root()) {
    fmt::print("{}", format_echo(settings));
    std::fflush(stdout);
  }

  std::vector<CellRecord> records = run_cells(world, {&cell, 1}, options.run);
  CellRecord& record = records.front();
  finish_file(world, settings, cell, record, session.environment());
  if (striped && world.is_root()) {
    record.effective["lustre"] = lustre_striping(settings.filename, "lustre");
  }
  session.finish(world, records, [&] { fmt::print("{}", format_results(settings, record)); });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::seism_core_slice

const slabmark::Program& slabmark::programs::seism_core_slice() {
  static const Program program =
      make_program("seism-core-slice", seism_core_slice::parse, seism_core_slice::run);
  return program;
}
