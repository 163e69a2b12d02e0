/// seism-read: how fast the checkpoints of seism-core-slice are read back.
///
///   mpiexec -n 4 seism-read seism-test.h5
///
/// On any number of ranks, all time steps; see docs/seism-core.md.

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/path.hpp"
#include "bench/run.hpp"
#include "bench/run_arguments.hpp"
#include "checkpoint/attributes.hpp"
#include "checkpoint/content.hpp"
#include "measure/manifest.hpp"
#include "measure/record_file.hpp"
#include "method/environment.hpp"
#include "method/registry.hpp"
#include "parallel/agree.hpp"
#include "parallel/program.hpp"

namespace slabmark::seism_read {

namespace {

struct Options : CommonOptions {
  std::string file;
};

Parsed<Options> parse(int argc, const char* const* argv) {
  CLI::App app(
      "Reads all time steps of a file that seism-core-slice wrote, on any number of ranks.",
      "seism-read");
  Options options;
  options.run = one_trial();
  bool ignore_subfile = false;
  app.add_option("file", options.file, "The file")->required();
  app.add_flag("--ignore-subfile", ignore_subfile,
               "Has no effect: how the file is stored says how it is read");
  app.add_flag_callback(
      "--no-verify", [&options] { options.run.verify = false; }, "Do not compare what was read");
  add_common_arguments(app, options);
  for (const char* name : {"--keep", "--overwrite", "--sync"}) {
    app.remove_option(app.get_option(name));
  }
  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};
  resolve_common(options);
  return {std::move(options), ""};
}

std::string format_report(const CellRecord& record) {
  constexpr double mib = 1024.0 * 1024.0;
  const double read = record.summary.transfer.seconds.median;
  const double total = record.summary.open_to_close.seconds.median;
  const auto bytes = static_cast<double>(record.pattern.bytes);
  const auto line = [](std::string_view label, const std::string& value) {
    return fmt::format("{:<32}{}\n", fmt::format("{}:", label), value);
  };
  std::string text = line("Number of time steps", fmt::to_string(record.pattern.rounds));
  text += line("Total bytes read", fmt::to_string(record.pattern.bytes));
  text += line("Read time", fmt::format("{:.6g} s", read));
  text += line("Read throughput", fmt::format("{:.6g} MB/s", bytes / mib / read));
  text += line("Aggregate throughput", fmt::format("{:.6g} MB/s", bytes / mib / total));
  text += line("Pages when reading began", record.cache);
  if (record.verified.state == Verified::yes) {
    text += line("Verified", fmt::format("yes, {} elements", record.verified.elements));
  }
  return text + line("MB", "2^20 bytes");
}

ExitStatus run(const Comm& world, const Options& options) {
  require_record_file(world, options.json);
  const CheckpointSettings settings = read_checkpoint_attributes(world, options.file);
  Pattern pattern;
  Cell cell;
  cell.method = &find_method(method_for(options.file));
  cell.settings = options.settings;
  cell.settings.options.emplace("hdf5.collective", "off");  // as the original read
  agreed(world, [&] {
    check_options(options.settings, {&cell.method, 1});
    pattern = make_checkpoint(world, settings, options.run.verify);
  });
  cell.direction = Direction::read;
  cell.written = &pattern;
  cell.read = &pattern;
  cell.path = options.file;
  cell.existing = true;

  const std::string directory = directory_of(options.file);
  const LibraryEnvironment environment = library_environment(world, directory);
  nlohmann::json manifest = collect_manifest(
      world,
      {"seism-read", directory, {{"file", options.file}}, options.run.seed, environment.to_json()});
  CellRecord record = run_cells(world, {&cell, 1}, options.run).front();
  agreed(world, [&] {
    if (!world.is_root()) return;
    manifest["ended"] = utc_now();
    record.manifest = manifest;
    fmt::print("{}", format_report(record));
    if (!options.json.empty()) append_record(options.json, record);
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::seism_read

int main(int argc, char** argv) {
  using namespace slabmark;
  const auto body = [&](const Comm& world) {
    return parse_and_run(
        world, [&] { return seism_read::parse(argc, argv); }, seism_read::run);
  };
  // The file may lie in subfiles, whose driver wants all threads.
  return run_program(argc, argv, "seism-read", body, MPI_THREAD_MULTIPLE);
}
