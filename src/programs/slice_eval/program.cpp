/// slice_eval: what strided slices of a field cost beside plain ones, and where the time goes.
///
///   mpiexec -n 2 slice_eval --preset seed-360
///
/// docs/reference/slice_eval.md has the options, the methods and a sample of the output.

#include "core/parallel/program.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "bench/harness/run.hpp"
#include "bench/harness/session.hpp"
#include "bench/method/registry.hpp"
#include "core/parallel/agree.hpp"
#include "programs/programs.hpp"
#include "programs/slice_eval/measure.hpp"
#include "programs/slice_eval/report.hpp"

namespace slabmark::slice_eval {

namespace {

/// The study's "Regular": the whole field, a new file each time, through HDF5's selection of the
/// block within its halos, which for so many points is faster than a copy.
CellRecord write_regular(const Comm& world, const Options& options) {
  const auto whole =
      options.with_halos ? whole_field_with_halos(options.grid) : whole_field(options.grid);
  const auto pattern = make_slice_pattern(
      {options.grid, {whole}, options.fields, ElementType::float64}, 1,
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

/// The ranks of a node take its GPUs in turns.
std::shared_ptr<slice::Device> gpu_of(const Comm& world) {
  MPI_Comm shared = MPI_COMM_NULL;
  check_mpi(
      MPI_Comm_split_type(world.get(), MPI_COMM_TYPE_SHARED, world.rank(), MPI_INFO_NULL, &shared),
      "MPI_Comm_split_type");
  return slice::cuda_device(static_cast<std::uint64_t>(Comm::taking_over(shared)->rank()));
}

void check_sizes(const Comm& world, const Options& options) {
  agreed(world, [&] {
    check_field(options.grid, static_cast<std::uint64_t>(world.size()));
    auto kept = whole_field(options.grid);
    for (std::size_t axis = 0; axis < 3; ++axis) kept.ranges[axis].stride = options.stride[axis];
    check_slice(options.grid, kept);
  });
}

ExitStatus run(const Comm& world, Options options) {
  const auto ranks = static_cast<std::uint64_t>(world.size());
  if (options.balanced) options.grid.processes = {ranks, 1, 1};
  check_sizes(world, options);
  Session session(world, "slice_eval", options);
  std::shared_ptr<slice::Device> device;
  agreed(world, [&] {
    if (options.on_gpu) device = gpu_of(world);
  });
  session.begin(options.directory, options.configuration);
  std::optional<CellRecord> regular;
  if (options.regular > 0) {
    regular = write_regular(world, options);
    session.finish(world, {&*regular, 1});
  }
  std::unique_ptr<Fields> fields;
  agreed(world, [&] {
    fields = std::make_unique<Fields>(options.grid, options.fields,
                                      static_cast<std::uint64_t>(world.rank()), options.huge_pages,
                                      device);
  });
  auto rows = measure(world, options, *fields);
  for (Row& row : rows) session.finish(world, {&row.record, 1});
  if (world.is_root()) fmt::print("{}", format_report(options, rows, regular));
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::slice_eval

const slabmark::Program& slabmark::programs::slice_eval() {
  static const Program program = make_program("slice_eval", slice_eval::parse, slice_eval::run);
  return program;
}
