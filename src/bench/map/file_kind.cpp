#include "bench/map/file_kind.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "capture/read/pattern_file.hpp"
#include "core/base/error.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {

namespace {

/// The next thing to try. E3SM-IO has each of its maps in all formats in one folder, and its
/// decomp_copy opens files only.
std::string instead_of_adios(const std::string& name) {
  std::filesystem::path other = name;
  for (const char* ending : {"nc", "nc4", "h5"}) {
    if (std::filesystem::exists(other.replace_extension(ending))) {
      return fmt::format("Name '{}' instead.", other.string());
    }
  }
  other.replace_extension("nc");
  if (std::filesystem::is_directory(name)) {
    return fmt::format(
        "Make it again from its .dat files: slabmark decomp convert *.dat --map-layout many -o "
        "'{}'.",
        other.string());
  }
  return fmt::format(
      "Convert it with E3SM-IO's program, built with ADIOS2: decomp_copy -a cdf5 -i '{}' -o '{}'.",
      name, other.string());
}

/// ADIOS makes files or folders. No library of ours reads them.
void refuse_adios(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  if (!name.ends_with(".bp") || !std::filesystem::exists(name)) return;
  throw InputError(
      fmt::format("'{}' is a decomposition map in ADIOS's format, which cannot be read here. {}",
                  path, instead_of_adios(name)));
}

std::string first_bytes(const std::string& path) {
  refuse_adios(path);
  posix::File file = posix::File::open_input(path, "decomposition file");
  std::string bytes(std::min<std::uint64_t>(file.size(), 16), '\0');
  if (bytes.empty()) {
    throw InputError(fmt::format("The decomposition file \"{}\" is empty.", path));
  }
  file.read_at(0, reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  return bytes;
}

bool is_classic_netcdf(std::string_view bytes) {
  return bytes.size() >= 4 && bytes.substr(0, 3) == "CDF" &&
         (bytes[3] == 1 || bytes[3] == 2 || bytes[3] == 5);
}

}  // namespace

FileKind kind_of_file(const std::string& path) {
  const std::string bytes = first_bytes(path);
  if (bytes.starts_with("version")) return FileKind::pio_text;
  if (is_classic_netcdf(bytes)) return FileKind::classic_netcdf;
  if (bytes.starts_with("\x89HDF\r\n\x1a\n")) {
    return is_pattern_file(path) ? FileKind::pattern : FileKind::hdf5;
  }
  throw InputError(
      fmt::format("\"{}\" is no decomposition file: it begins neither with \"version\" as PIO text "
                  "does nor with \"CDF\" as classic NetCDF does, and is no HDF5 file.",
                  path));
}

}  // namespace slabmark
