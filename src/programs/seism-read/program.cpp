/// seism-read: how fast the checkpoints of seism-core-slice are read back.
///
///   mpiexec -n 4 seism-read seism-test.h5
///
/// On any number of ranks, all time steps; see docs/reference/seism-core.md.

#include "core/parallel/program.hpp"

#include <string>

#include <fmt/format.h>

#include "bench/checkpoint/attributes.hpp"
#include "bench/checkpoint/content.hpp"
#include "bench/harness/run.hpp"
#include "bench/harness/session.hpp"
#include "bench/measure/record.hpp"
#include "bench/method/registry.hpp"
#include "core/base/path.hpp"
#include "core/command_line/command_line.hpp"
#include "core/parallel/agree.hpp"
#include "programs/programs.hpp"

namespace slabmark::seism_read {

namespace {

struct Options : CommonOptions {
  std::string file;
};

Parsed<Options> parse(int argc, const char* const* argv) {
  CommandLine line(
      "seism-read",
      "Reads all time steps of a file that seism-core-slice wrote, on any number of ranks.");
  Command& root = line.root();
  Options options;
  options.run = one_trial();
  bool ignore_subfile = false;
  root.add_argument("FILE", options.file, "The file").required();
  root.add_flag("--ignore-subfile", ignore_subfile,
                "Has no effect: how the file is stored says how it is read");
  root.add_flag(
      "--no-verify", [&options] { options.run.verify = false; }, "Do not compare what was read");
  add_common_arguments(root, options);
  root.remove({"--keep", "--overwrite", "--sync"});
  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};
  const MethodInfo* possible[] = {&find_method(checkpoint_methods[0]),
                                  &find_method(checkpoint_methods[1])};
  resolve_common(options, possible);
  return {std::move(options), ""};
}

std::string format_report(const CellRecord& record) {
  const double read = record.summary.transfer.seconds.median;
  const double total = record.summary.open_to_close.seconds.median;
  const std::uint64_t bytes = record.pattern.bytes;
  const auto line = [](std::string_view label, const std::string& value) {
    return fmt::format("{:<32}{}\n", fmt::format("{}:", label), value);
  };
  std::string text = line("Number of time steps", fmt::to_string(record.pattern.rounds));
  text += line("Total bytes read", fmt::to_string(record.pattern.bytes));
  text += line("Read time", fmt::format("{:.6g} s", read));
  text += line("Read throughput", fmt::format("{:.6g} MB/s", mib_per_second(bytes, read)));
  text += line("Aggregate throughput", fmt::format("{:.6g} MB/s", mib_per_second(bytes, total)));
  text += line("Pages when reading began", record.cache);
  if (record.verified.state == Verified::yes) {
    text += line("Verified", fmt::format("yes, {} elements", record.verified.elements));
  }
  return text + line("MB", "2^20 bytes");
}

ExitStatus run(const Comm& world, const Options& options) {
  Session session(world, "seism-read", options);
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

  session.begin(directory_of(options.file), {{"file", options.file}});
  std::vector<CellRecord> records = run_cells(world, {&cell, 1}, options.run);
  session.finish(world, records, [&] { fmt::print("{}", format_report(records.front())); });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::seism_read

const slabmark::Program& slabmark::programs::seism_read() {
  static const Program program = make_program("seism-read", seism_read::parse, seism_read::run);
  return program;
}
