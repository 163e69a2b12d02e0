// slablog-repair [--materialise] FILE...
//
// Brings log files that their writer did not close back to what was flushed, and makes their views.

#include "core/parallel/program.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <hdf5.h>

#include "accel/hdf5_connector/log/write_views.hpp"
#include "core/base/command_line.hpp"
#include "core/parallel/agree.hpp"
#include "programs/programs.hpp"

namespace slabmark::slablog {

namespace {

struct Options {
  std::vector<std::string> paths;
  bool materialise = false;
};

Parsed<Options> parse(int argc, const char* const* argv) {
  Options options;
  CLI::App app(
      "Makes what was flushed into a log file visible to every HDF5 program, where its writer "
      "was killed or closed it without a view. No other program may have the file open.",
      "slablog-repair");
  app.add_flag("--materialise", options.materialise, "Write datasets once more, contiguously");
  app.add_option("file", options.paths, "HDF5 files")->required()->check(CLI::ExistingFile);
  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};
  return {std::move(options), ""};
}

ExitStatus run(const Comm& world, const Options& options) {
  agreed(world, [&] {
    if (!world.is_root()) return;
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    Config config;
    if (options.materialise) config.view = View::materialise;
    for (const auto& path : options.paths) {
      fmt::print("{}: {} views written\n", path, write_views(path, config));
    }
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::slablog

const slabmark::Program& slabmark::programs::slablog_repair() {
  static const Program program = make_program("slablog-repair", slablog::parse, slablog::run);
  return program;
}
