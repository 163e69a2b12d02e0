#include "accel/hdf5_connector/to_canonical/canonical.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "core/base/progress_line.hpp"
#include "core/parallel/abort.hpp"
#include "core/parallel/agree.hpp"
#include "programs/log/commands.hpp"
#include "storage/mpiio/implementation.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark::slablog {

namespace {

void require_path(const Comm& world, const std::string& input, const std::string& output) {
  if (!world.is_root()) return;
  mpiio::require_path_for_mpi_io(output);
  posix::require_free_path(output, {.inputs = {input}});
}

Conversion write(const Comm& world, const std::string& input, const std::string& output) {
  try {
    ProgressLine line("slabmark log", !world.is_root());
    return write_canonical(world, input, output, line.steps_of("converting"));
  } catch (...) {
    if (world.is_root()) unlink(output.c_str());
    throw;
  }
}

}  // namespace

void canonical(const Comm& world, const std::string& input, const std::string& output) {
  agreed(world, [&] { require_path(world, input, output); });
  const RemoveOnAbort guard(output);
  const auto done = write(world, input, output);
  if (!world.is_root()) return;
  if (done.state == LogState::open) {
    fmt::print(stderr,
               "slabmark log: warning: '{}' was not closed by its writer; the copy holds what was "
               "flushed.\n",
               input);
  }
  fmt::print("{} -> {}: {} datasets, {} bytes\n", input, output, done.datasets, done.bytes);
}

}  // namespace slabmark::slablog
