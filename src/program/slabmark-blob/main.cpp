/// slabmark-blob: brings files of the private layout into the canonical one.
///
///   mpiexec -n 4 slabmark-blob convert run.blob -o run.nc

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "bench/run_arguments.hpp"
#include "method/registry.hpp"
#include "parallel/agree.hpp"
#include "parallel/program.hpp"
#include "program/slabmark-blob/convert.hpp"
#include "storage/mpiio/trial_file.hpp"

namespace slabmark::blob_program {

namespace {

struct Options {
  std::string input;
  std::string output;
  std::string method = "pnetcdf-rearranged";
  bool overwrite = false;
  Settings settings;
};

std::optional<std::string> parse(int argc, const char* const* argv, Options& options) {
  CLI::App app("Brings files of the private layout (method blob) into the canonical one.",
               "slabmark-blob");
  app.require_subcommand(1);
  CLI::App* convert = app.add_subcommand("convert", "Write a canonical file");
  convert->add_option("input", options.input, "File that the method blob wrote")->required();
  convert->add_option("-o,--output", options.output, "File to write")->required();
  convert->add_option("--method", options.method,
                      "pnetcdf-rearranged (default), hdf5-rearranged or mpiio-rearranged");
  add_settings_arguments(*convert, options.settings);
  convert->add_flag("--overwrite", options.overwrite, "Replace the output if it exists already");
  return parse_command_line(app, argc, argv);
}

const MethodInfo& writer(const std::string& name) {
  const MethodInfo& method = find_method(name);
  if (name.ends_with("-rearranged")) return method;
  throw InputError(fmt::format(
      "Method {} does not write what a conversion brings together; use a rearranged one.", name));
}

ExitStatus run(const Comm& world, int argc, char** argv) {
  Options options;
  std::optional<std::string> help;
  const MethodInfo* method = nullptr;
  agreed(world, [&] {
    help = parse(argc, argv, options);
    if (help) return;
    method = &writer(options.method);
    check_options(options.settings, {&method, 1});
  });
  if (help) {
    if (world.is_root()) fmt::print("{}", *help);
    return ExitStatus::good;
  }
  mpiio::require_free_path(world, options.output, {options.overwrite, "-o", {options.input}});
  PhaseClock clock(world);
  convert(world, options.input, options.output, *method, options.settings, clock);
  const double seconds = world.max(clock.times().open_to_close);
  if (world.is_root()) {
    fmt::print("{} -> {} by {} on {} ranks in {:.4f} s\n", printable(options.input),
               printable(options.output), method->name, world.size(), seconds);
  }
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::blob_program

int main(int argc, char** argv) {
  return slabmark::run_program(argc, argv, "slabmark-blob", [&](const slabmark::Comm& world) {
    return slabmark::blob_program::run(world, argc, argv);
  });
}
