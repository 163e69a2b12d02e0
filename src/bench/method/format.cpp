#include "bench/method/format.hpp"

#include <array>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "accel/hdf5_connector/api/slablog.h"
#include "bench/method/pnetcdf/info.hpp"
#include "bench/method/raw/blob_file.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "bench/method/slice/reader.hpp"
#include "bench/method/zarr/reader.hpp"
#include "core/base/error.hpp"
#include "core/geometry/hyperslab.hpp"
#include "storage/hdf5/file.hpp"
#include "storage/hdf5/subfiles.hpp"
#include "storage/mpiio/element_type.hpp"
#include "storage/posix/file.hpp"
#include "storage/zarr/store.hpp"

#if SLABMARK_WITH_NETCDF4
#include "storage/netcdf4/file.hpp"
#endif
#if SLABMARK_WITH_PNETCDF
#include "bench/method/pnetcdf/method.hpp"
#include "storage/pnetcdf/file.hpp"
#endif

namespace slabmark {

namespace {

class RawReader : public PlainReader {
 public:
  RawReader(const Comm&, const Pattern& pattern, const std::string& path)
      : pattern_(pattern),
        layout_(pattern),
        file_(posix::File::open(path, posix::File::Access::read)) {}

  void read(std::size_t dataset, std::uint64_t time, Run run, std::byte* out) override {
    const auto size = size_of(pattern_.datasets[dataset].type);
    file_.read_at(layout_.offset(dataset, time) + run.offset * size, out, run.length * size);
  }

 private:
  const Pattern& pattern_;
  RawLayout layout_;
  posix::File file_;
};

#if SLABMARK_WITH_PNETCDF

// Far below what PnetCDF's int counts hold.
constexpr std::uint64_t largest_read = std::uint64_t{1} << 28;

class NetcdfReader : public PlainReader {
 public:
  NetcdfReader(const Comm& comm, const Pattern& pattern, const std::string& path)
      : pattern_(pattern), file_(pnetcdf::File::open(comm.get(), path)) {
    variables_ = find_variables(file_, pattern);
    file_.begin_indep_data();
  }

  void read(std::size_t dataset, std::uint64_t time, Run run, std::byte* out) override {
    const auto& description = pattern_.datasets[dataset];
    const auto size = size_of(description.type);
    const auto read_box = [&](const Extent& start, const Extent& count) {
      const auto elements = element_count(count);
      file_.get_vara(variables_[dataset], numbers(start, description.has_time, time).data(),
                     numbers(count, description.has_time, 1).data(), out,
                     static_cast<MPI_Offset>(elements), mpiio::mpi_type_of(description.type));
      out += elements * size;
    };
    for (const auto& box : boxes_of_range(run, description.extent())) {
      for_each_box(box, largest_read / size, read_box);
    }
  }

 private:
  static std::vector<MPI_Offset> numbers(const Extent& extent, bool has_time, std::uint64_t first) {
    std::vector<MPI_Offset> all;
    if (has_time) all.push_back(static_cast<MPI_Offset>(first));
    all.insert(all.end(), extent.begin(), extent.end());
    // A scalar has no start and count, but PnetCDF wants them not to be null.
    if (all.empty()) all.push_back(0);
    return all;
  }

  const Pattern& pattern_;
  pnetcdf::File file_;
  std::vector<int> variables_;
};

#endif

/// Reads without MPI-IO, each rank for itself. The files of a captured program have its types, and
/// what it wrote was not converted.
class Hdf5Reader : public PlainReader {
 public:
  Hdf5Reader(const Comm&, const Pattern& pattern, const std::string& path)
      : Hdf5Reader(pattern, hdf5::File::open_serial(path)) {}
  Hdf5Reader(const Pattern& pattern, hdf5::File file)
      : Hdf5Reader(pattern, std::move(file), names_of(pattern)) {}
  /// Of datasets that have these names in the file.
  Hdf5Reader(const Pattern& pattern, hdf5::File file, const std::vector<std::string>& names)
      : pattern_(pattern), file_(std::move(file)) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      datasets_.push_back(file_.open_dataset(names[i], pattern.datasets[i].type));
    }
  }

  void read(std::size_t dataset, std::uint64_t time, Run run, std::byte* out) override {
    const auto& description = pattern_.datasets[dataset];
    const auto at = description.has_time ? std::optional(time) : std::nullopt;
    if (pattern_.captured) {
      datasets_[dataset].read_as_stored(run, description.extent(), at, out);
    } else {
      datasets_[dataset].read(run, description.extent(), at, out);
    }
  }

 private:
  static std::vector<std::string> names_of(const Pattern& pattern) {
    std::vector<std::string> names;
    for (const Dataset& dataset : pattern.datasets) names.push_back(dataset.name);
    return names;
  }

  const Pattern& pattern_;
  hdf5::File file_;
  std::vector<hdf5::Dataset> datasets_;
};

/// A variable that is called as a dimension, but has other ones, has another name in HDF5.
class Netcdf4Reader : public Hdf5Reader {
 public:
  Netcdf4Reader(const Comm&, const Pattern& pattern, const std::string& path)
      : Hdf5Reader(pattern, hdf5::File::open_serial(path), names_in(path, pattern)) {}

 private:
  static std::vector<std::string> names_in(const std::string& path, const Pattern& pattern) {
    const auto file = hdf5::File::open_serial(path);
    std::vector<std::string> names = netcdf_names(pattern);
    for (std::string& name : names) {
      const std::string other = "_nc4_non_coord_" + name;
      if (file.has(other)) name = other;
    }
    return names;
  }
};

class BlobReader : public PlainReader {
 public:
  BlobReader(const Comm&, const Pattern& pattern, const std::string& path)
      : pattern_(pattern), file_(path) {}

  void read(std::size_t dataset, std::uint64_t time, Run run, std::byte* out) override {
    const Piece wanted{run.offset, 0, run.length};
    file_.read_elements(dataset, time, {&wanted, 1}, size_of(pattern_.datasets[dataset].type), out);
  }

 private:
  const Pattern& pattern_;
  BlobFile file_;
};

/// The driver knows no way without MPI, but each rank then reads for itself.
class SubfilesReader : public Hdf5Reader {
 public:
  SubfilesReader(const Comm& comm, const Pattern& pattern, const std::string& path)
      : Hdf5Reader(pattern, hdf5::File::open(comm.get(), MPI_INFO_NULL, path,
                                             {.collective_metadata = false, .subfiling = true})) {}
};

template <class Reader>
std::unique_ptr<PlainReader> open_by(const Comm& comm, const Pattern& pattern,
                                     const std::string& path) {
  return std::make_unique<Reader>(comm, pattern, path);
}

std::unique_ptr<PlainReader> open_nothing(const Comm&, const Pattern&, const std::string& path) {
  throw InputError(fmt::format(
      "There is nothing to read at '{}': the method leaves no file, so it cannot be verified.",
      path));
}

#if SLABMARK_WITH_PNETCDF
constexpr auto open_netcdf = open_by<NetcdfReader>;
const FileLibrary pnetcdf_library{"PnetCDF", pnetcdf::library_version};
#else
const FileLibrary pnetcdf_library{"PnetCDF", nullptr};
std::unique_ptr<PlainReader> open_netcdf(const Comm&, const Pattern&, const std::string& path) {
  throw InputError(fmt::format(
      "'{}' cannot be read: PnetCDF was not found when Slabmark was configured.", path));
}
#endif

const FileLibrary hdf5_library{"HDF5", hdf5::library_version, hdf5::start};

#if SLABMARK_WITH_NETCDF4
const FileLibrary netcdf_c{"netCDF-C", netcdf4::library_version};
constexpr const FileLibrary* netcdf4_library = &netcdf_c;
#else  // few builds have it, so the others do not speak of it
constexpr const FileLibrary* netcdf4_library = nullptr;
#endif

constexpr std::size_t format_count = 9;

}  // namespace

const FormatInfo& info_of(FileFormat format) {
  static const std::array<FormatInfo, format_count> formats = {{
      {"none", ".raw", open_nothing},
      {"raw", ".raw", open_by<RawReader>},
      {"netcdf", ".nc", open_netcdf, nullptr, false, "", &pnetcdf_library},
      {"hdf5", ".h5", open_by<Hdf5Reader>, nullptr, false, SLABLOG_JOURNAL, &hdf5_library},
      {"hdf5-subfiles", ".h5", open_by<SubfilesReader>, hdf5::subfiles_of, false, "", &hdf5_library,
       MPI_THREAD_MULTIPLE},
      {"vtkhdf", ".vtkhdf", open_slices, slice_files_beside, false, "", &hdf5_library},
      {"netcdf4", ".nc4", open_by<Netcdf4Reader>, nullptr, false, "", netcdf4_library},
      {"zarr", ".zarr", open_by<ZarrReader>, zarr::files_of, true},
      {"private", ".blob", open_by<BlobReader>},
  }};
  return formats.at(static_cast<std::size_t>(format));
}

std::vector<const FileLibrary*> file_libraries() {
  std::map<std::string, const FileLibrary*> by_name;
  for (std::size_t i = 0; i < format_count; ++i) {
    const FileLibrary* library = info_of(static_cast<FileFormat>(i)).library;
    if (library != nullptr) by_name.emplace(library->name, library);
  }
  std::vector<const FileLibrary*> libraries;
  for (const auto& [name, library] : by_name) libraries.push_back(library);
  return libraries;
}

}  // namespace slabmark
