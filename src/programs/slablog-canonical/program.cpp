// slablog-canonical IN OUT
//
// Writes what a log file holds as an ordinary file of contiguous datasets, on any number of ranks.

#include "core/parallel/program.hpp"

#include <optional>
#include <string>
#include <unistd.h>

#include <fmt/format.h>
#include <hdf5.h>

#include "accel/hdf5_connector/to_canonical/canonical.hpp"
#include "core/base/command_line.hpp"
#include "core/parallel/abort.hpp"
#include "core/parallel/agree.hpp"
#include "programs/programs.hpp"
#include "storage/mpiio/implementation.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark::slablog {

namespace {

struct Options {
  std::string input;
  std::string output;
};

Parsed<Options> parse(int argc, const char* const* argv) {
  Options options;
  CLI::App app(
      "Writes what a log file holds as an ordinary HDF5 file: the datasets of the log become "
      "contiguous ones, all else is as it was. Any number of ranks.",
      "slablog-canonical");
  app.add_option("input", options.input, "File that was written through slablog")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("output", options.output, "File to write, which is not there yet")->required();
  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};
  return {std::move(options), ""};
}

void report(const Options& options, const Conversion& done) {
  if (done.state == LogState::open) {
    fmt::print(stderr,
               "slablog-canonical: warning: '{}' was not closed by its writer; the copy holds what "
               "was flushed.\n",
               options.input);
  }
  fmt::print("{} -> {}: {} datasets, {} bytes\n", options.input, options.output, done.datasets,
             done.bytes);
}

void require_path(const Comm& world, const Options& options) {
  if (!world.is_root()) return;
  mpiio::require_path_for_mpi_io(options.output);
  posix::require_free_path(options.output, {.inputs = {options.input}});
}

/// What fails leaves no output.
Conversion write(const Comm& world, const Options& options) {
  try {
    return write_canonical(world, options.input, options.output);
  } catch (...) {
    if (world.is_root()) unlink(options.output.c_str());
    throw;
  }
}

ExitStatus run(const Comm& world, const Options& options) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  agreed(world, [&] { require_path(world, options); });
  const RemoveOnAbort guard(options.output);
  const auto done = write(world, options);
  if (world.is_root()) report(options, done);
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::slablog

const slabmark::Program& slabmark::programs::slablog_canonical() {
  static const Program program = make_program("slablog-canonical", slablog::parse, slablog::run);
  return program;
}
