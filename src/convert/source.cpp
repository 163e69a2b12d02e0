#include "convert/source.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "convert/classic_source.hpp"
#include "convert/netcdf4_source.hpp"
#include "convert/zarr_source.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "storage/hdf5/file.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::convert {

bool Source::reads_in_threads() const {
  const std::vector<Source*> all = parts();
  const auto reads = [](const Source* part) { return part->reads_in_threads(); };
  return !all.empty() && std::ranges::all_of(all, reads);
}

void Source::drop_behind() {
  for (Source* const part : parts()) part->drop_behind();
}

namespace {

// The version behind these letters is PnetCDF's affair.
bool is_classic(const std::string& path) {
  constexpr std::string_view mark = "CDF";
  posix::File file = posix::File::open_input(path, "input");
  std::string begin(mark.size(), '\0');
  if (file.size() < begin.size()) return false;
  file.read_at(0, reinterpret_cast<std::byte*>(begin.data()), begin.size());
  return begin == mark;
}

enum class Format { netcdf4, classic, zarr };

Format format_of(const std::string& path) {
  if (is_zarr(path)) return Format::zarr;
  return is_classic(path) ? Format::classic : Format::netcdf4;
}

}  // namespace

std::unique_ptr<Source> open_source(const Comm& comm, const std::string& path) {
  Format format = Format::netcdf4;
  agreed(comm, [&] {
    format = format_of(path);
    if (format != Format::netcdf4 || hdf5::is_hdf5(path)) return;
    throw InputError(
        fmt::format("Cannot convert '{}': it is neither a classic netCDF nor an HDF5 file, and no "
                    "Zarr v3 store. Name one of those.",
                    path));
  });
  if (format == Format::zarr) return open_zarr(comm, path);
  return format == Format::classic ? open_classic(comm, path) : open_netcdf4(comm, path);
}

std::unique_ptr<Source> open_to_verify(const Comm& comm, const std::string& path,
                                       const FileContents& like) {
  Format format = Format::netcdf4;
  agreed(comm, [&] { format = format_of(path); });
  if (format == Format::zarr) return open_zarr(comm, path, like);
  return format == Format::classic ? open_classic_in_pnetcdf(comm, path) : open_netcdf4(comm, path);
}

}  // namespace slabmark::convert
