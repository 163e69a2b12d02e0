/// e3sm_io: how fast PnetCDF writes the decomposed variables of a climate model.
///
///   mpiexec -n 8 e3sm_io -q datasets/48602x72_64p.nc -n 10
///
/// docs/e3sm_io.md has the options, a sample of the output, and what differs from the original.

#include <vector>

#include <fmt/format.h>

#include "base/path.hpp"
#include "bench/run.hpp"
#include "map/map_pattern.hpp"
#include "measure/manifest.hpp"
#include "measure/record_file.hpp"
#include "method/environment.hpp"
#include "parallel/agree.hpp"
#include "parallel/program.hpp"
#include "program/e3sm_io/options.hpp"
#include "program/e3sm_io/report.hpp"

namespace slabmark::e3sm_io {

namespace {

ExitStatus run(const Comm& world, const Options& options) {
  require_record_file(world, options.json);
  std::vector<Cell> cells;
  for (const MethodInfo* method : options.methods) {
    Cell cell;
    cell.method = method;
    cell.settings = options.settings;
    cell.path = output_path(options.output, *method);
    cells.push_back(std::move(cell));
  }
  MapPatternRequest request;
  request.path = options.map;
  request.variables = options.variables;
  request.type = options.type;
  request.only_map = options.only_map;
  const MapPattern pattern = make_map_pattern(world, request);
  for (Cell& cell : cells) cell.written = &pattern.mine;

  const std::string directory = directory_of(cells.front().path);
  const LibraryEnvironment environment = library_environment(world, directory);
  if (world.is_root()) {
    if (const std::string warning = environment.warning(); !warning.empty()) {
      fmt::print(stderr, "e3sm_io: warning: {}\n", warning);
    }
  }
  nlohmann::json manifest = collect_manifest(world, {"e3sm_io", directory, options.configuration,
                                                     options.run.seed, environment.to_json()});

  std::vector<CellRecord> records = run_cells(world, cells, options.run);

  agreed(world, [&] {
    if (!world.is_root()) return;
    manifest["ended"] = utc_now();
    for (CellRecord& record : records) {
      record.setup = pattern.setup;
      record.manifest = manifest;
      if (!options.json.empty()) append_record(options.json, record);
    }
    fmt::print("{}", format_setup(pattern.setup, environment.mpi_io));
    for (std::size_t i = 0; i < records.size(); ++i) {
      fmt::print("{}", format_block(
                           {*options.methods[i], records[i], pattern.max_requests, options.quiet}));
      if (options.run.keep) fmt::print("Output file kept: {}\n", cells[i].path);
    }
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::e3sm_io

int main(int argc, char** argv) {
  using namespace slabmark;
  return run_program(argc, argv, "e3sm_io", [&](const Comm& world) {
    return parse_and_run(
        world, [&] { return e3sm_io::parse(argc, argv); }, e3sm_io::run);
  });
}
