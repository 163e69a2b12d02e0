#include <string>

#include <fmt/format.h>

#include "accel/hdf5_connector/log/write_views.hpp"
#include "core/base/printable.hpp"
#include "core/parallel/agree.hpp"
#include "programs/log/commands.hpp"

namespace slabmark::slablog {

namespace {

std::string words_for(LogState state) {
  if (state == LogState::closed) return "closed; any HDF5 program reads it";
  if (state == LogState::no_view) return "closed without a view; 'slabmark log repair' makes one";
  return "not closed by its writer; 'slabmark log repair' makes its view";
}

void print(const std::string& path) {
  const auto log = summarise(path);
  std::uint64_t hyperslabs = 0;
  for (const auto& dataset : log.datasets) hyperslabs += dataset.hyperslabs;
  const auto say = [](const std::string& line) { fmt::print("{}\n", wrapped(line, 4)); };
  say(fmt::format("{}: {}", path, words_for(log.state)));
  say(fmt::format("{} flushes, {} hyperslabs, index of {} bytes", log.flushes, hyperslabs,
                  log.index_bytes));
  for (const auto& dataset : log.datasets) {
    const auto all = element_count(dataset.extent);
    say(fmt::format("{}: {}, {} hyperslabs, {} of {} elements written, {}", dataset.path,
                    slabmark::to_string(dataset.extent), dataset.hyperslabs, dataset.elements, all,
                    dataset.viewed ? "view up to date" : "view not up to date"));
  }
}

}  // namespace

void info(const Comm& world, const std::string& path) {
  agreed(world, [&] {
    if (world.is_root()) print(path);
  });
}

}  // namespace slabmark::slablog
