#include <fmt/format.h>

#include "accel/hdf5_connector/log/write_views.hpp"
#include "core/parallel/agree.hpp"
#include "programs/log/commands.hpp"

namespace slabmark::slablog {

void repair(const Comm& world, const RepairOptions& options) {
  agreed(world, [&] {
    if (!world.is_root()) return;
    Config config;
    if (options.materialise) config.view = View::materialise;
    for (const auto& path : options.paths) {
      fmt::print("{}: {} views written\n", path, write_views(path, config));
    }
  });
}

}  // namespace slabmark::slablog
