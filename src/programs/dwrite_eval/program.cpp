/// dwrite_eval: what each way of handing hyperslabs to HDF5 costs on a real decomposition.
///
///   mpiexec -n 16 dwrite_eval -c datasets/f_case_866x72_16p.nc -o out_dir
///
/// docs/reference/dwrite_eval.md has the options, the report, and what differs from the original.

#include "core/parallel/program.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/harness/output_directory.hpp"
#include "bench/harness/run.hpp"
#include "bench/harness/session.hpp"
#include "bench/map/map_pattern.hpp"
#include "bench/measure/record_gather.hpp"
#include "programs/dwrite_eval/options.hpp"
#include "programs/dwrite_eval/report.hpp"
#include "programs/programs.hpp"

namespace slabmark::dwrite_eval {

namespace {

/// One line, at once: who watches a long run wants to see what it does.
void say(const Comm& world, const std::string& line) {
  if (!world.is_root()) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

const Way& way_of(const Options& options, const Cell& cell) {
  return *std::find_if(options.ways.begin(), options.ways.end(),
                       [&](const Way& way) { return way.method == cell.method; });
}

/// Says which way is tested when its first trial begins.
Progress progress_of(const Comm& world, const Options& options) {
  return {[&](const Cell& cell, std::uint64_t round, bool warm_up, std::optional<double>) {
    const bool first = warm_up || (round == 1 && !options.run.warm_up);
    if (first) say(world, fmt::format("Testing {} ...", way_of(options, cell).progress));
  }};
}

void say_what_is_missing(const Comm& world, const Options& options) {
  for (const Way& way : options.ways) {
    if (way.method != nullptr) continue;
    say(world, fmt::format("Testing {} ... left out, because {}", way.progress, way.missing));
  }
}

std::vector<Cell> make_cells(const Options& options, const Pattern& pattern) {
  std::vector<Cell> cells;
  for (const Way& way : options.ways) {
    if (way.method == nullptr) continue;
    Cell cell;
    cell.method = way.method;
    cell.settings = options.settings;
    cell.written = &pattern;
    cell.path = (std::filesystem::path(options.output) / way.file).string();
    cells.push_back(std::move(cell));
  }
  return cells;
}

std::vector<Result> join(const std::vector<Way>& ways, const std::vector<CellRecord>& records) {
  std::vector<Result> results;
  std::size_t next = 0;
  for (const Way& way : ways) {
    results.push_back({&way, way.method == nullptr ? nullptr : &records[next++]});
  }
  return results;
}

ExitStatus run(const Comm& world, const Options& options) {
  Session session(world, "dwrite_eval", options);
  OutputDirectory directory(world, options.output, "-o");
  session.begin(options.output, options.configuration);

  world.barrier();
  const auto start = std::chrono::steady_clock::now();
  say(world, "Reading decom file ...");
  MapPatternRequest request;
  request.path = options.map;
  request.variables = options.variables;
  request.type = ElementType::int32;
  request.prefix = "D_";
  const MapPattern pattern = make_map_pattern(world, request);
  const std::vector<Cell> cells = make_cells(options, pattern.mine);
  std::vector<CellRecord> records =
      run_cells(world, cells, options.run, progress_of(world, options));
  say_what_is_missing(world, options);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const RankSummary total = gather_summary(world, seconds);

  const auto report = [&] {
    const std::vector<Result> results = join(options.ways, records);
    fmt::print("{}", format_report({total, results, pattern.setup, pattern.max_requests,
                                    session.environment().mpi_io, options.verbose}));
  };
  session.finish(world, records, report, pattern.setup);
  directory.keep();
  if (options.run.keep) {
    for (const Cell& cell : cells) say(world, fmt::format("kept: {}", cell.path));
  }
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::dwrite_eval

const slabmark::Program& slabmark::programs::dwrite_eval() {
  static const Program program = make_program("dwrite_eval", dwrite_eval::parse, dwrite_eval::run);
  return program;
}
