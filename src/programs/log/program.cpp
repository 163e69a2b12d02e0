// slabmark log info | canonical | repair: files that were written through the log-layout connector,
// see docs/reference/hdf5-connector.md.

#include "core/parallel/program.hpp"

#include <functional>
#include <string>

#include <hdf5.h>

#include "core/command_line/command_line.hpp"
#include "programs/log/commands.hpp"
#include "programs/programs.hpp"

namespace slabmark::slablog {

namespace {

using Options = std::function<void(const Comm& world)>;  // the command that was given

Parsed<Options> parse(int argc, const char* const* argv) {
  std::string file, output;
  RepairOptions repaired;
  CommandLine line("slabmark log",
                   "Shows, copies and repairs files that were written through slablog");
  Command& shows = line.root().add_command("info", "Print what the log of a file holds");
  shows.add_argument("FILE", file, "HDF5 file").required().existing_file();
  Command& copies = line.root().add_command(
      "canonical",
      "Write what a log file holds as an ordinary HDF5 file: the datasets of the log become "
      "contiguous ones, all else is as it was. Any number of ranks");
  copies.add_argument("INPUT", file, "File that was written through slablog")
      .required()
      .existing_file();
  copies.add_argument("OUTPUT", output, "File to write, which is not there yet").required();
  Command& repairs = line.root().add_command(
      "repair",
      "Make what was flushed into a log file visible to every HDF5 program, where its writer was "
      "killed or closed it without a view. No other program may have the file open");
  repairs.add_flag("--materialise", repaired.materialise, "Write datasets once more, contiguously");
  repairs.add_arguments("FILE", repaired.paths, "HDF5 files").required().existing_file();
  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};
  if (shows.is_given()) return {[file](const Comm& world) { info(world, file); }, ""};
  if (copies.is_given()) {
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
