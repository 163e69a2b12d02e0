/// slice_eval: what strided slices of a field cost beside plain ones, and where the time goes.
///
///   mpiexec -n 2 slice_eval --preset seed-360
///
/// docs/slice_eval.md has the options, the methods and a sample of the output.

#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "bench/run.hpp"
#include "bench/run_arguments.hpp"
#include "measure/manifest.hpp"
#include "measure/record_file.hpp"
#include "method/environment.hpp"
#include "method/registry.hpp"
#include "parallel/agree.hpp"
#include "parallel/program.hpp"
#include "program/slice_eval/measure.hpp"
#include "program/slice_eval/report.hpp"

namespace slabmark::slice_eval {

namespace {

/// The study's "Regular": the whole field, a new file each time, through HDF5's selection of the
/// block within its halos, which for so many points is faster than a copy.
CellRecord write_regular(const Comm& world, const Options& options) {
  const auto whole =
      options.with_halos ? whole_field_with_halos(options.grid) : whole_field(options.grid);
  const auto pattern = make_slice_pattern(
      options.grid, {whole}, ElementType::float64, options.fields, 1,
      static_cast<std::uint64_t>(world.rank()), static_cast<std::uint64_t>(world.size()));
  Cell cell;
  cell.method = &find_method("hdf5-union");
  cell.settings = options.settings;
  cell.written = &pattern;
  cell.path = options.directory + "/slice_eval_regular.h5";
  auto run = options.run;
  run.rule = fixed_trials(options.regular);
  return run_cells(world, {&cell, 1}, run).front();
}

void check_sizes(const Comm& world, const Options& options) {
  agreed(world, [&] {
    check_field(options.grid, static_cast<std::uint64_t>(world.size()));
    auto kept = whole_field(options.grid);
    for (std::size_t axis = 0; axis < 3; ++axis) kept.ranges[axis].stride = options.stride[axis];
    check_slice(options.grid, kept);
  });
}

/// On root, if records were asked for.
void keep_record(const Options& options, nlohmann::json manifest, CellRecord& record) {
  if (options.json.empty()) return;
  manifest["ended"] = utc_now();
  record.manifest = std::move(manifest);
  append_record(options.json, record);
}

ExitStatus run(const Comm& world, Options options) {
  const auto ranks = static_cast<std::uint64_t>(world.size());
  if (options.balanced) options.grid.processes = {ranks, 1, 1};
  check_sizes(world, options);
  require_record_file(world, options.json);
  std::shared_ptr<slice::Device> device;
  agreed(world, [&] {
    if (options.on_gpu) device = slice::cuda_device();
  });
  const LibraryEnvironment environment = library_environment(world, options.directory);
  const nlohmann::json manifest =
      collect_manifest(world, {"slice_eval", options.directory, options.configuration,
                               options.run.seed, environment.to_json()});

  std::optional<CellRecord> regular;
  if (options.regular > 0) {
    regular = write_regular(world, options);
    agreed(world, [&] {
      if (world.is_root()) keep_record(options, manifest, *regular);
    });
  }
  std::unique_ptr<Fields> fields;
  agreed(world, [&] {
    fields = std::make_unique<Fields>(options.grid, options.fields,
                                      static_cast<std::uint64_t>(world.rank()), options.huge_pages,
                                      device);
  });
  auto rows = measure(world, options, *fields);
  agreed(world, [&] {
    if (!world.is_root()) return;
    for (auto& row : rows) keep_record(options, manifest, row.record);
    fmt::print("{}", format_report(options, rows, regular));
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::slice_eval

int main(int argc, char** argv) {
  using namespace slabmark;
  return run_program(argc, argv, "slice_eval", [&](const Comm& world) {
    slice_eval::CommandLine line;
    agreed(world, [&] { line = slice_eval::parse(argc, argv); });
    if (!line.options) {
      if (world.is_root()) fmt::print("{}", line.text);
      return ExitStatus::good;
    }
    return slice_eval::run(world, std::move(*line.options));
  });
}
