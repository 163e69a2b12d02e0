#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "map/captured_map.hpp"
#include "map/decomposition.hpp"
#include "map/file_kind.hpp"
#include "map/netcdf_map.hpp"
#include "map/pio_text.hpp"
#include "parallel/agree.hpp"

namespace slabmark {

namespace {

std::unique_ptr<MapFile> open_hdf5_map(const Comm& comm, const std::string& path) {
  try {
    return open_captured_map(comm, path);
  } catch (const InputError& error) {
    if (std::string_view(error.what()).find("no pattern file") == std::string_view::npos) throw;
    throw InputError(
        fmt::format("{} An HDF5 or NetCDF-4 file with a decomposition is to be converted with "
                    "'nccopy -k cdf5'.",
                    error.what()));
  }
}

}  // namespace

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
      return open_netcdf_map(comm, path);
    case FileKind::hdf5:
      break;
  }
  return open_hdf5_map(comm, path);
}

}  // namespace slabmark
