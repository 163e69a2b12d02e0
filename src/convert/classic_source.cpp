#include "convert/classic_source.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "collective/exchange/move_elements.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "storage/posix/file.hpp"

#if SLABMARK_WITH_PNETCDF
#include "storage/pnetcdf/file.hpp"
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
  return contents;
}

void swap_to_machine(std::byte* memory, std::uint64_t elements, std::uint64_t bytes) {
  if constexpr (std::endian::native == std::endian::big) return;
  const Piece all{0, 0, elements};
  move_in_place({&all, 1}, {0, elements}, {bytes, true, Flow::from_file}, memory, memory);
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
      record_bytes_ = header.inq_recsize();
      for (std::size_t v = 0; v < contents_.variables.size(); ++v) {
        begins_.push_back(header.inq_varoffset(static_cast<int>(v)));
      }
      file_ = posix::File::open_input(path, "netCDF file");
      require_length();
    });
    header.close();
  }

  void read(std::size_t variable, const Hyperslab& box, std::byte* memory) override {
    const std::uint64_t bytes = size_of(contents_.variables[variable].type);
    const std::uint64_t record = elements_together(variable);
    std::byte* to = memory;
    for_each_run(box, contents_.extent_of(variable), [&](Run run) {
      for_each_part(run, record, [&](Run part) {
        file_.read_at(place(variable, part.offset, record), to, part.length * bytes);
        to += part.length * bytes;
      });
    });
    swap_to_machine(memory, static_cast<std::uint64_t>(to - memory) / bytes, bytes);
  }

 private:
  bool has_records(std::size_t variable) const {
    const auto& dimensions = contents_.variables[variable].dimensions;
    return !dimensions.empty() && contents_.dimensions[dimensions.front()].is_unlimited;
  }

  /// Consecutive elements: those of a record, or all.
  std::uint64_t elements_together(std::size_t variable) const {
    Extent extent = contents_.extent_of(variable);
    if (has_records(variable)) extent.front() = 1;
    return element_count(extent);
  }

  std::uint64_t place(std::size_t variable, std::uint64_t element, std::uint64_t record) const {
    const std::uint64_t bytes = size_of(contents_.variables[variable].type);
    if (!has_records(variable)) return begins_[variable] + element * bytes;
    return begins_[variable] + element / record * record_bytes_ + element % record * bytes;
  }

  // Elements beyond the end of a file would read as zeros in some libraries.
  void require_length() const {
    const std::uint64_t length = file_.size();
    for (std::size_t v = 0; v < contents_.variables.size(); ++v) {
      const FileVariable& variable = contents_.variables[v];
      const std::uint64_t count = element_count(contents_.extent_of(v));
      if (count == 0) continue;
      const std::uint64_t end = place(v, count - 1, elements_together(v)) + size_of(variable.type);
      if (end <= length) continue;
      throw InputError(fmt::format(
          "Variable '{}' of '{}' ends at byte {}, but the file has {} bytes. It was not written to "
          "its end, or it was cut; restore it.",
          variable.name, file_.path(), end, length));
    }
  }

  posix::File file_;
  std::uint64_t record_bytes_ = 0;
  std::vector<std::uint64_t> begins_;  ///< bytes of the file, by variable
};

}  // namespace

std::unique_ptr<Source> open_classic(const Comm& comm, const std::string& path) {
  return std::make_unique<ClassicSource>(comm, path);
}

#else

std::unique_ptr<Source> open_classic(const Comm&, const std::string& path) {
  throw InputError(fmt::format(
      "Cannot read '{}': it is a classic netCDF file, and this Slabmark was built without PnetCDF. "
      "Build it with PnetCDF.",
      path));
}

#endif

}  // namespace slabmark::convert
