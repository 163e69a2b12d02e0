#include "bench/map/captured_map.hpp"
#include "bench/map/decomposition.hpp"
#include "bench/map/file_kind.hpp"
#include "bench/map/map_input.hpp"
#include "bench/map/map_layout.hpp"
#include "bench/map/pio_text.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

std::unique_ptr<MapFile> open_map(const Comm& comm, const std::string& path) {
  FileKind kind = FileKind::pio_text;
  agreed(comm, [&] {
    if (comm.is_root()) kind = kind_of_file(path);
  });
  kind = static_cast<FileKind>(comm.broadcast(static_cast<std::uint64_t>(kind)));
  switch (kind) {
    case FileKind::pio_text:
      return open_pio_text_map(comm, path);
    case FileKind::classic_netcdf:
      return open_map_layout(open_classic_input(comm, path));
    case FileKind::hdf5:
      return open_map_layout(open_hdf5_input(comm, path));
    case FileKind::pattern:
      break;
  }
  return open_captured_map(comm, path);
}

}  // namespace slabmark
