// slabmark log info | canonical | repair: files that were written through the log-layout connector,
// see docs/slablog.md.

#include "core/parallel/program.hpp"

#include <functional>
#include <string>

#include <hdf5.h>

#include "core/base/command_line.hpp"
#include "programs/log/commands.hpp"
#include "programs/programs.hpp"

namespace slabmark::slablog {

namespace {

using Options = std::function<void(const Comm& world)>;  // the command that was given

Parsed<Options> parse(int argc, const char* const* argv) {
  std::string file, output;
  RepairOptions repaired;
  CLI::App app("Shows, copies and repairs files that were written through slablog.",
               "slabmark log");
  app.require_subcommand(1);
  CLI::App* shows = app.add_subcommand("info", "Print what the log of a file holds");
  shows->add_option("file", file, "HDF5 file")->required()->check(CLI::ExistingFile);
  CLI::App* copies = app.add_subcommand(
      "canonical",
      "Write what a log file holds as an ordinary HDF5 file: the datasets of the log become "
      "contiguous ones, all else is as it was. Any number of ranks");
  copies->add_option("input", file, "File that was written through slablog")
      ->required()
      ->check(CLI::ExistingFile);
  copies->add_option("output", output, "File to write, which is not there yet")->required();
  CLI::App* repairs = app.add_subcommand(
      "repair",
      "Make what was flushed into a log file visible to every HDF5 program, where its writer was "
      "killed or closed it without a view. No other program may have the file open");
  repairs->add_flag("--materialise", repaired.materialise,
                    "Write datasets once more, contiguously");
  repairs->add_option("file", repaired.paths, "HDF5 files")->required()->check(CLI::ExistingFile);
  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};
  if (shows->parsed()) return {[file](const Comm& world) { info(world, file); }, ""};
  if (copies->parsed()) {
    return {[file, output](const Comm& world) { canonical(world, file, output); }, ""};
  }
  return {[repaired](const Comm& world) { repair(world, repaired); }, ""};
}

ExitStatus run(const Comm& world, const Options& command) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  command(world);
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::slablog

const slabmark::Program& slabmark::programs::log() {
  static const Program program = make_program("slabmark log", slablog::parse, slablog::run);
  return program;
}
