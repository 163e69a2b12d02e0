#include <string>

#include <fmt/format.h>

#include "accel/hdf5_connector/log/write_views.hpp"
#include "core/parallel/agree.hpp"
#include "programs/log/commands.hpp"

namespace slabmark::slablog {

namespace {

std::string words_for(LogState state) {
  if (state == LogState::closed) return "closed; any HDF5 program reads it";
  if (state == LogState::no_view)
    return "closed without a view\n    'slabmark log repair' makes one";
  return "not closed by its writer\n    'slabmark log repair' makes its view";
}

void print(const std::string& path) {
  const auto log = summarise(path);
  std::uint64_t hyperslabs = 0;
  for (const auto& dataset : log.datasets) hyperslabs += dataset.hyperslabs;
  // A line is what a script searches, so none is broken where a path happens to be long.
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

}  // namespace

void info(const Comm& world, const std::string& path) {
  agreed(world, [&] {
    if (world.is_root()) print(path);
  });
}

}  // namespace slabmark::slablog
