#include "convert/classic_source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "convert/classic_places.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "storage/posix/cached_pages.hpp"
#include "storage/posix/file.hpp"

#if SLABMARK_WITH_PNETCDF
#include "convert/classic_header.hpp"
#include "storage/mpiio/element_type.hpp"
#include "storage/pnetcdf/types/element_type.hpp"
#endif

namespace slabmark::convert {

#if SLABMARK_WITH_PNETCDF

namespace {

std::vector<FileAttribute> attributes_of(const pnetcdf::File& file, int variable) {
  std::vector<FileAttribute> attributes;
  for (int a = 0; a < file.inq_natts(variable); ++a) {
    FileAttribute attribute{.name = file.inq_attname(variable, a)};
    attribute.type = pnetcdf::element_type_of(file.inq_atttype(variable, attribute.name)).value();
    const std::uint64_t count = file.inq_attlen(variable, attribute.name).value_or(0);
    attribute.values.resize(count * size_of(attribute.type));
    if (count > 0) file.get_att(variable, attribute.name, attribute.values.data());
    attributes.push_back(std::move(attribute));
  }
  return attributes;
}

FileContents contents_of(const pnetcdf::File& file) {
  FileContents contents;
  const int unlimited = file.inq_unlimdim();
  for (int d = 0; d < file.inq_ndims(); ++d) {
    contents.dimensions.push_back({file.inq_dimname(d), file.inq_dimlen(d), d == unlimited});
  }
  for (int v = 0; v < file.inq_nvars(); ++v) {
    const pnetcdf::VariableInfo info = file.inq_var(v);
    contents.variables.push_back({.name = file.inq_varname(v),
                                  .type = pnetcdf::element_type_of(info.type).value(),
                                  .dimensions = {info.dimensions.begin(), info.dimensions.end()},
                                  .attributes = attributes_of(file, v),
                                  .stored_chunk = {}});
  }
  contents.attributes = attributes_of(file, NC_GLOBAL);
  const int format = file.inq_format();
  contents.classic_format = format == NC_FORMAT_CDF5   ? "cdf5"
                            : format == NC_FORMAT_CDF2 ? "cdf2"
                                                       : "cdf1";
  return contents;
}

// A header that PnetCDF does not understand is the file's fault, not one of reading.
pnetcdf::File open_header(const Comm& comm, const std::string& path) {
  try {
    return pnetcdf::File::open(comm.get(), path);
  } catch (const pnetcdf::CallError& error) {
    throw InputError(
        fmt::format("Cannot convert '{}': {} Check the file with ncdump -h.", path, error.what()));
  }
}

class ClassicSource : public Source {
 public:
  ClassicSource(const Comm& comm, const std::string& path) {
    pnetcdf::File header = open_header(comm, path);
    agreed(comm, [&] {
      contents_ = contents_of(header);
      places_ = places_in(header, contents_);
      file_ = posix::File::open_input(path, "netCDF file");
      require_length();
    });
    header.close();
  }

  void read(std::size_t variable, const Hyperslab& box, std::byte* memory) override {
    std::byte* to = memory;
    places_.for_each_piece(variable, box, [&](std::uint64_t at, std::uint64_t bytes) {
      file_.read_at(at, to, bytes);
      pages_.drop(at, bytes);
      to += bytes;
    });
    swap_classic(memory, static_cast<std::uint64_t>(to - memory),
                 contents_.variables[variable].type);
  }

  bool reads_in_threads() const override { return true; }
  void drop_behind() override { pages_ = posix::CachedPages(file_.path()); }

 private:
  // Elements beyond the end of a file would read as zeros in some libraries.
  void require_length() const {
    const std::uint64_t length = file_.size();
    for (std::size_t v = 0; v < contents_.variables.size(); ++v) {
      const std::uint64_t end = places_.end_of(v);
      if (end <= length) continue;
      throw InputError(fmt::format(
          "Variable '{}' of '{}' ends at byte {}, but the file has {} bytes. It was not written to "
          "its end, or it was cut; restore it.",
          contents_.variables[v].name, file_.path(), end, length));
    }
  }

  posix::File file_;
  posix::CachedPages pages_;  ///< without a file: they are kept
  ClassicPlaces places_;
};

/// The same through PnetCDF alone.
class PnetcdfSource : public Source {
 public:
  PnetcdfSource(const Comm& comm, const std::string& path)
      : file_(pnetcdf::File::open(comm.get(), path)) {
    agreed(comm, [&] { contents_ = contents_of(file_); });
    file_.begin_indep_data();
  }

  void read(std::size_t variable, const Hyperslab& box, std::byte* memory) override {
    const std::vector<MPI_Offset> start(box.start.begin(), box.start.end());
    const std::vector<MPI_Offset> count(box.block.begin(), box.block.end());
    file_.get_vara(static_cast<int>(variable), start.data(), count.data(), memory,
                   static_cast<MPI_Offset>(element_count(box)),
                   mpiio::mpi_type_of(contents_.variables[variable].type));
  }

 private:
  pnetcdf::File file_;
};

}  // namespace

std::unique_ptr<Source> open_classic(const Comm& comm, const std::string& path) {
  return std::make_unique<ClassicSource>(comm, path);
}

void extend_to_elements(const std::string& path) {
  pnetcdf::File header = pnetcdf::File::open(MPI_COMM_SELF, path);
  const FileContents contents = contents_of(header);
  const ClassicPlaces places = places_in(header, contents);
  header.close();
  std::uint64_t end = 0;
  for (std::size_t v = 0; v < contents.variables.size(); ++v) {
    end = std::max(end, places.end_of(v));
  }
  posix::File file = posix::File::open(path, posix::File::Access::write);
  if (file.size() < end) file.resize(end);
}

std::unique_ptr<Source> open_classic_in_pnetcdf(const Comm& comm, const std::string& path) {
  return std::make_unique<PnetcdfSource>(comm, path);
}

#else

std::unique_ptr<Source> open_classic(const Comm&, const std::string& path) {
  throw InputError(fmt::format(
      "Cannot read '{}': it is a classic netCDF file, and this Slabmark was built without PnetCDF. "
      "Build it with PnetCDF.",
      path));
}

std::unique_ptr<Source> open_classic_in_pnetcdf(const Comm& comm, const std::string& path) {
  return open_classic(comm, path);
}

#endif

}  // namespace slabmark::convert
