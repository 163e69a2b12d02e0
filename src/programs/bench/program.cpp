/// slabmark bench: any pattern through any methods, beside the limit.
///
///   mpiexec -n 4 slabmark bench decomp --map f_case_866x72_16p.nc --method pnetcdf-varn,hdf5-slab
///
/// docs/reference/bench.md has the options and explains the table.

#include "core/parallel/program.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/harness/block_reader.hpp"
#include "bench/harness/bound.hpp"
#include "bench/harness/run.hpp"
#include "bench/harness/session.hpp"
#include "bench/harness/table.hpp"
#include "bench/method/registry.hpp"
#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "core/base/progress_line.hpp"
#include "core/parallel/agree.hpp"
#include "programs/bench/environment_command.hpp"
#include "programs/bench/options.hpp"
#include "programs/programs.hpp"

namespace slabmark::bench_program {

namespace {

/// Methods that the bound runs through: the plainest of either kind.
constexpr const char* bound_methods[] = {"posix", "mpiio-independent"};

/// Patterns of the cells; they stay where they are while cells point to them.
struct Patterns {
  BuiltPattern built;
  Pattern bound;
  std::optional<Pattern> bound_read;
};

/// Gives a pattern the contents that were asked for.
void set_content(ContentKind kind, Pattern& pattern) {
  if (kind == ContentKind::position) return;
  if (pattern.content) {
    throw InputError(fmt::format(
        "A pattern of kind {} has contents of its own; leave --content out.", pattern.name));
  }
  pattern.content = make_content(kind, pattern.datasets);
  pattern.settings["content"] = word_for(kind, content_kinds);
}

Patterns build_patterns(const Comm& world, const Options& options) {
  const bool by_all = options.read && !options.read_shape;
  Patterns patterns{options.pattern->build(world, by_all), {}, std::nullopt};
  if (options.written_by) {
    Pattern& written = patterns.built.written;
    written.settings["written_by"] = std::to_string(*options.written_by);
    patterns.built.read = make_block_reader(world, written);
  }
  if (options.read_shape) {
    agreed(world, [&] {
      patterns.built.read =
          make_read_pattern(patterns.built.written, *options.read_shape, world.is_root());
    });
  }
  set_content(options.content, patterns.built.written);
  if (patterns.built.read) set_content(options.content, *patterns.built.read);
  if (options.bounds) {
    const bool reads_otherwise =
        patterns.built.read && (patterns.built.reads_otherwise || options.written_by);
    const Pattern& bounded = reads_otherwise ? *patterns.built.read : patterns.built.written;
    patterns.bound = bound_of(world, bounded);
    // Reading back what the next rank wrote: ranks' bytes differ, so the parts are the next rank's.
    if (options.read) patterns.bound_read = bound_of(world, bounded, true);
  }
  return patterns;
}

/// Elements that nobody writes hold anything, so what is read of such a dataset is not verified.
bool can_be_verified(const Comm& world, const Options& options, const BuiltPattern& built) {
  if (!options.read_shape || options.read_shape == ReadShape::series) return true;
  const auto first = built.written.transfers(0).front();
  return world.sum(elements_of_first(built.written)) == element_count(first.file->extent());
}

Cell make_cell(const Options& options, const MethodInfo& method, const char* stem,
               const Pattern& written, const Pattern* read) {
  Cell cell;
  cell.method = &method;
  cell.direction = options.read ? Direction::read : Direction::write;
  cell.written = &written;
  cell.read = read;
  cell.rounds_together = options.rounds_together;
  cell.path = (std::filesystem::path(options.directory) /
               fmt::format("{}-{}{}", stem, method.name, method.file().ending))
                  .string();
  return cell;
}

std::vector<Cell> make_cells(const Options& options, const Patterns& patterns) {
  const auto address = [](const std::optional<Pattern>& pattern) {
    return pattern ? &*pattern : nullptr;
  };
  std::vector<Cell> cells;
  for (const MethodInfo* method : options.methods) {
    cells.push_back(make_cell(options, *method, "slabmark", patterns.built.written,
                              address(patterns.built.read)));
    cells.back().settings = options.settings;
    cells.back().reason = options.pattern->unsupported_reason(*method);
    cells.back().before_round = options.pattern->before_round();
  }
  if (!options.bounds) return cells;
  for (const char* name : bound_methods) {
    cells.push_back(make_cell(options, find_method(name), "slabmark-bound", patterns.bound,
                              address(patterns.bound_read)));
    cells.back().is_bound = true;
    // The limit of the disk or that of the page cache. Other options are the methods'.
    const auto direct = options.settings.options.find("posix.direct");
    if (direct != options.settings.options.end()) cells.back().settings.options.insert(*direct);
  }
  return cells;
}

Progress make_progress(ProgressLine& line) {
  return {[&line](const Cell& cell, std::uint64_t trial, bool warm_up,
                  std::optional<double> seconds_left) {
    line.show(fmt::format("{} {}{}", warm_up ? "warm-up" : fmt::format("trial {}", trial),
                          cell.method->name, cell.is_bound ? " (upper bound)" : ""),
              seconds_left);
  }};
}

void report(const Options& options, const LibraryEnvironment& environment,
            const std::vector<CellRecord>& records) {
  std::string libraries = "MPI-IO: " + environment.mpi_io;
  for (const auto& [name, version] : environment.libraries) {
    libraries += fmt::format("; {} {}", name, version.empty() ? "not in this build" : version);
  }
  fmt::print("{}\n", libraries);
  const auto& settings = records.front().pattern.settings;
  if (const auto guess = settings.find("guess"); guess != settings.end()) {
    fmt::print("The pattern is a guess: {}\n", printable(guess->second));
  }
  if (const auto caveats = settings.find("caveats"); caveats != settings.end()) {
    fmt::print("{}\n", printable(caveats->second));
  }
  fmt::print("{}", format_table(records));
  if (options.chart) fmt::print("\n{}", format_bars(records));
  if (!options.run.records.empty()) fmt::print("Records appended to {}\n", options.run.records);
}

ExitStatus run(const Comm& world, const Options& options) {
  if (options.environment) {
    const Json found = describe_environment(world, options.directory);
    if (world.is_root()) fmt::print("{}\n", found.dump());
    return ExitStatus::good;
  }
  Session session(world, "slabmark bench", options);
  const Patterns patterns = build_patterns(world, options);
  const std::vector<Cell> cells = make_cells(options, patterns);
  session.begin(options.directory, options.configuration);
  RunOptions how = options.run;
  how.verify = how.verify && can_be_verified(world, options, patterns.built);
  ProgressLine line("slabmark bench", options.quiet);
  std::vector<CellRecord> records = run_cells(world, cells, how, make_progress(line));
  line.clear();
  session.finish(
      world, records, [&] { report(options, session.environment(), records); },
      patterns.built.setup);
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::bench_program

const slabmark::Program& slabmark::programs::bench() {
  static const Program program =
      make_program("slabmark bench", bench_program::parse, bench_program::run);
  return program;
}
