/// e3sm_io: how fast PnetCDF writes the decomposed variables of a climate model.
///
///   mpiexec -n 8 e3sm_io -q datasets/48602x72_64p.nc -n 10
///
/// docs/reference/e3sm_io.md has the options, a sample of the output, and what differs from the
/// original.

#include "core/parallel/program.hpp"

#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "bench/harness/run.hpp"
#include "bench/harness/session.hpp"
#include "bench/map/map_pattern.hpp"
#include "bench/method/registry.hpp"
#include "core/base/path.hpp"
#include "core/command_line/command_line.hpp"
#include "core/geometry/dataset.hpp"
#include "programs/e3sm_io/report.hpp"
#include "programs/programs.hpp"

namespace slabmark::e3sm_io {

namespace fs = std::filesystem;

namespace {

/// The command line, checked.
struct Options : CommonOptions {
  std::string map;
  std::string output;  ///< file or directory, as given
  std::uint64_t variables = 1;
  bool quiet = false;
  ElementType type = ElementType::float64;
  std::optional<std::uint64_t> only_map;  ///< 0-based
  std::vector<const MethodInfo*> methods;
};

// Variables are named with four digits; more would still work, but a million is a typing error.
constexpr std::uint64_t most_variables = 1'000'000;

const MethodInfo& find_by_short_name(const std::string& name) {
  for (const MethodInfo& method : methods()) {
    if (short_name(method) == name) return find_method(method.name);
  }
  return find_method(name);
}

/// File that `method` writes: testfile_vard.nc in a directory, name_vard.nc for name.nc. The
/// methods must not share one file, and the original's used these names.
std::string output_path(const std::string& output, const MethodInfo& method) {
  fs::path path(output);
  if (fs::is_directory(path) || output.ends_with('/')) path /= "testfile.nc";
  const bool netcdf = method.format == FileFormat::netcdf;
  const std::string ending = netcdf ? path.extension().string() : method.file().ending;
  return (path.parent_path() / (path.stem().string() + "_" + short_name(method) + ending)).string();
}

Parsed<Options> parse(int argc, const char* const* argv) {
  CommandLine line(
      "e3sm_io",
      "Writes the variables of an E3SM decomposition through PnetCDF in three ways (vard, varn, "
      "vara).");
  Command& root = line.root();
  Options options;
  options.run = one_trial();  // as often as the original ran each method
  std::optional<std::uint64_t> map_index;
  bool use_float = false;
  bool use_double = false;
  std::vector<std::string> names = {"vard", "varn", "vara"};

  root.add_flag("-q,--quiet", options.quiet, "Quiet mode: without the hints in effect");
  root.add_count("-n,--variables", options.variables, "Number of variables",
                 {.min = 1, .max = most_variables});
  root.add_text("-o,--output", "FILE", options.output,
                "Output file, or a directory for testfile_*.nc; each method inserts its name "
                "before the extension")
      .default_text("./testfile.nc");
  root.add_argument("input_file", options.map, "Decomposition file (PIO text, NetCDF or HDF5)")
      .required();
  const OptionHandle float_flag =
      root.add_flag("--float", use_float, "Variables of 4 bytes per element");
  root.add_flag("--double", use_double, "Variables of 8 bytes per element (default)")
      .excludes(float_flag);
  root.add_count("--map", map_index,
                 "Use only this map of a file with several; else variable i uses map i mod maps",
                 {.min = 1, .value = "K"});
  root.add_list("--methods", names, "Methods, separated by commas");
  add_verify_arguments(root, options, "Skip read-back verification");
  add_common_arguments(root, options);

  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};

  if (map_index) options.only_map = *map_index - 1;
  if (use_float) options.type = ElementType::float32;
  if (options.output.empty()) options.output = "testfile.nc";
  for (const std::string& name : names) options.methods.push_back(&find_by_short_name(name));

  resolve_common(options, options.methods);
  options.run.inputs = {options.map};
  options.configuration = {{"map", options.map},
                           {"variables", options.variables},
                           {"type", name_of(options.type)},
                           {"output", options.output},
                           {"verify", options.run.verify},
                           {"sync", options.run.sync},
                           {"hints", root.option("--hint").given()},
                           {"options", root.option("--set").given()}};
  return {std::move(options), ""};
}

ExitStatus run(const Comm& world, const Options& options) {
  Session session(world, "e3sm_io", options);
  MapPatternRequest request;
  request.path = options.map;
  request.variables = options.variables;
  request.type = options.type;
  request.only_map = options.only_map;
  const MapPattern pattern = make_map_pattern(world, request);
  std::vector<Cell> cells;
  for (const MethodInfo* method : options.methods) {
    Cell cell;
    cell.method = method;
    cell.settings = options.settings;
    cell.written = &pattern.mine;
    cell.path = output_path(options.output, *method);
    cells.push_back(std::move(cell));
  }
  session.begin(directory_of(cells.front().path), options.configuration);
  std::vector<CellRecord> records = run_cells(world, cells, options.run);
  const auto report = [&] {
    fmt::print("{}", format_setup(pattern.setup, session.environment().mpi_io));
    for (std::size_t i = 0; i < records.size(); ++i) {
      fmt::print("{}", format_block(
                           {*options.methods[i], records[i], pattern.max_requests, options.quiet}));
      if (options.run.keep) fmt::print("Output file kept: {}\n", cells[i].path);
    }
  };
  session.finish(world, records, report, pattern.setup);
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::e3sm_io

const slabmark::Program& slabmark::programs::e3sm_io() {
  static const Program program = make_program("e3sm_io", e3sm_io::parse, e3sm_io::run);
  return program;
}
