#include "map/decomposition.hpp"
#include "map/file_kind.hpp"
#include "map/netcdf_map.hpp"
#include "map/pio_text.hpp"
#include "parallel/agree.hpp"

namespace slabmark {

std::unique_ptr<MapFile> open_map(const Comm& comm, const std::string& path) {
  FileKind kind = FileKind::pio_text;
  agreed(comm, [&] {
    if (comm.is_root()) kind = kind_of_file(path);
  });
  kind = static_cast<FileKind>(comm.broadcast(static_cast<std::uint64_t>(kind)));
  return kind == FileKind::pio_text ? open_pio_text_map(comm, path) : open_netcdf_map(comm, path);
}

}  // namespace slabmark
