// slablog-info FILE
//
// Prints what the log of a file holds.

#include "core/parallel/program.hpp"

#include <string>

#include <fmt/format.h>
#include <hdf5.h>

#include "accel/hdf5_connector/log/write_views.hpp"
#include "core/base/command_line.hpp"
#include "core/parallel/agree.hpp"
#include "programs/programs.hpp"

namespace slabmark::slablog {

namespace {

std::string words_for(LogState state) {
  if (state == LogState::closed) return "closed; any HDF5 program reads it";
  if (state == LogState::no_view) return "closed without a view; slablog-repair makes one";
  return "not closed by its writer; slablog-repair makes its view";
}

void print(const std::string& path) {
  const auto log = summarise(path);
  std::uint64_t hyperslabs = 0;
  for (const auto& dataset : log.datasets) hyperslabs += dataset.hyperslabs;
  fmt::print("{}: {}\n", path, words_for(log.state));
  fmt::print("{} flushes, {} hyperslabs, index of {} bytes\n", log.flushes, hyperslabs,
             log.index_bytes);
  for (const auto& dataset : log.datasets) {
    const auto all = element_count(dataset.extent);
    fmt::print("{}: {}, {} hyperslabs, {} of {} elements written, {}\n", dataset.path,
               slabmark::to_string(dataset.extent), dataset.hyperslabs, dataset.elements, all,
               dataset.viewed ? "view up to date" : "view not up to date");
  }
}

Parsed<std::string> parse(int argc, const char* const* argv) {
  std::string path;
  CLI::App app("Says what the log of a file holds that was written through slablog.",
               "slablog-info");
  app.add_option("file", path, "HDF5 file")->required()->check(CLI::ExistingFile);
  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};
  return {std::move(path), ""};
}

ExitStatus run(const Comm& world, const std::string& path) {
  agreed(world, [&] {
    if (!world.is_root()) return;
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    print(path);
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::slablog

const slabmark::Program& slabmark::programs::slablog_info() {
  static const Program program = make_program("slablog-info", slablog::parse, slablog::run);
  return program;
}
