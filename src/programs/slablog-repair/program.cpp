// slablog-repair [--materialise] FILE...
//
// Brings log files that their writer did not close back to what was flushed, and makes their views.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <hdf5.h>

#include "accel/hdf5_connector/log/write_views.hpp"
#include "core/base/command_line.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/program.hpp"

namespace slabmark::slablog {

namespace {

ExitStatus run(const Comm& world, int argc, char** argv) {
  agreed(world, [&] {
    if (!world.is_root()) return;
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    std::vector<std::string> paths;
    bool materialise = false;
    CLI::App app(
        "Makes what was flushed into a log file visible to every HDF5 program, where its writer "
        "was killed or closed it without a view. No other program may have the file open.",
        "slablog-repair");
    app.add_flag("--materialise", materialise, "Write datasets once more, contiguously");
    app.add_option("file", paths, "HDF5 files")->required()->check(CLI::ExistingFile);
    if (auto help = parse_command_line(app, argc, argv)) {
      fmt::print("{}", *help);
      return;
    }
    Config config;
    if (materialise) config.view = View::materialise;
    for (const auto& path : paths) {
      fmt::print("{}: {} views written\n", path, write_views(path, config));
    }
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::slablog

int main(int argc, char** argv) {
  return slabmark::run_program(argc, argv, "slablog-repair", [&](const slabmark::Comm& world) {
    return slabmark::slablog::run(world, argc, argv);
  });
}
