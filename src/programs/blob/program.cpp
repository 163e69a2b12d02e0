/// slabmark blob: brings files of the private layout into the canonical one.
///
///   mpiexec -n 4 slabmark blob convert run.blob -o run.nc

#include "core/parallel/program.hpp"

#include <memory>

#include <fmt/format.h>

#include "bench/harness/buffers.hpp"
#include "bench/harness/run_arguments.hpp"
#include "bench/harness/trial_file.hpp"
#include "bench/measure/clock.hpp"
#include "bench/method/environment.hpp"
#include "bench/method/raw/blob_pattern.hpp"
#include "bench/method/registry.hpp"
#include "bench/method/timed_file.hpp"
#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "core/base/progress_line.hpp"
#include "core/command_line/command_line.hpp"
#include "core/parallel/agree.hpp"
#include "programs/programs.hpp"

namespace slabmark::blob_program {

namespace {

struct Options : CommonOptions {
  std::string input;
  std::string output;
  const MethodInfo* method = nullptr;
};

Parsed<Options> parse(int argc, const char* const* argv) {
  Options options;
  std::string method = "pnetcdf-rearranged";
  CommandLine line("slabmark blob",
                   "Brings files of the private layout (method blob) into the canonical one");
  Command& convert = line.root().add_command("convert", "Write a canonical file");
  convert.add_argument("INPUT", options.input, "File that the method blob wrote").required();
  convert.add_text("-o,--output", "FILE", options.output, "File to write").required();
  convert.add_text("--method", "METHOD", method,
                   "pnetcdf-rearranged, hdf5-rearranged or mpiio-rearranged");
  add_output_arguments(convert, options);
  convert.remove({"--json", "--keep"});  // nothing is measured, and what is made stays
  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};
  options.method = &find_method(method);
  if (!method.ends_with("-rearranged")) {
    throw InputError(fmt::format(
        "Method {} does not write what a conversion brings together; use a rearranged one.",
        method));
  }
  resolve_common(options, {&options.method, 1});
  return {std::move(options), ""};
}

/// Collective. Writes what the input holds to the output, which does not exist yet, in the seconds
/// that it returns. Memory: the largest round of the recorded ranks that a rank stands for. Throws
/// an agreed Error; an incomplete output is removed.
double convert(const Comm& comm, const Options& options) {
  std::unique_ptr<BlobPattern> content;
  agreed(comm, [&] { content = std::make_unique<BlobPattern>(comm, options.input); });
  const Pattern& pattern = content->pattern();
  const MethodInfo& method = *options.method;
  agreed(comm, [&] {
    if (const auto reason = method.supports(pattern, options.settings)) {
      throw InputError(
          fmt::format("Method {} cannot write '{}': {}.", method.name, options.input, *reason));
    }
  });
  TrialFile file(comm, options.output);
  PhaseClock clock(comm);
  TimedFile written(method, {comm, pattern, Direction::write, options.settings, clock});
  written.begin(options.output);
  Buffers buffers;
  agreed(comm, [&] { buffers.fit(pattern); });
  ProgressLine line("slabmark blob", !comm.is_root());
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    line.show_step("converting", round, pattern.rounds);
    const auto memory = buffers.lay_out(pattern, make_group(pattern, round, 1));
    // Not in the method's phase, since some methods talk in post(), and a rank that cannot read
    // must not be waited for.
    agreed(comm, [&] { content->read(round, memory); });
    const std::span<std::byte* const> posted[] = {memory};
    written.move(round, posted);
  }
  written.end();
  file.keep();
  return comm.max(clock.times().open_to_close);
}

ExitStatus run(const Comm& world, const Options& options) {
  require_libraries(world);
  require_free_path(world, options.output, {options.run.overwrite, "-o", {options.input}});
  const double seconds = convert(world, options);
  if (world.is_root()) {
    fmt::print("{} -> {} by {} on {} ranks in {:.4f} s\n", printable(options.input),
               printable(options.output), options.method->name, world.size(), seconds);
  }
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::blob_program

const slabmark::Program& slabmark::programs::blob() {
  static const Program program =
      make_program("slabmark blob", blob_program::parse, blob_program::run);
  return program;
}
