#include "convert/classic_target.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/geometry/hyperslab.hpp"
#include "core/parallel/agree.hpp"

#if SLABMARK_WITH_PNETCDF
#include "convert/classic_header.hpp"
#include "storage/mpiio/element_type.hpp"
#include "storage/pnetcdf/types/element_type.hpp"
#include "storage/posix/file.hpp"
#endif

namespace slabmark::convert {

namespace {

std::string_view name_of(NetcdfKind kind) {
  return kind == NetcdfKind::cdf1 ? "CDF-1" : kind == NetcdfKind::cdf2 ? "CDF-2" : "CDF-5";
}

bool holds(NetcdfKind kind, ElementType type) {
  switch (type) {
    case ElementType::uint8:
    case ElementType::uint16:
    case ElementType::uint32:
    case ElementType::int64:
    case ElementType::uint64:
      return kind == NetcdfKind::cdf5;
    default:
      return true;
  }
}

/// Refuses what a classic file cannot hold.
class ClassicRules {
 public:
  ClassicRules(const FileContents& contents, NetcdfKind kind, std::string input)
      : contents_(contents), kind_(kind), input_(std::move(input)) {}

  void check() const {
    const auto unlimited =
        std::ranges::count(contents_.dimensions, true, &FileDimension::is_unlimited);
    if (unlimited > 1) {
      refuse(fmt::format("it has {} unlimited dimensions, and a classic file has one", unlimited),
             "write netCDF-4");
    }
    for (std::size_t d = 0; d < contents_.dimensions.size(); ++d) check_dimension(d);
    check_attributes(contents_.attributes, "the file");
    for (const FileVariable& variable : contents_.variables) check_variable(variable);
  }

 private:
  [[noreturn]] void refuse(const std::string& reason, const std::string& remedy) const {
    throw InputError(
        fmt::format("Cannot write '{}' as {}: {}; {}.", input_, name_of(kind_), reason, remedy));
  }

  void check_dimension(std::size_t d) const {
    const FileDimension& dimension = contents_.dimensions[d];
    const auto has_it = [&](const FileVariable& variable) {
      return std::ranges::find(variable.dimensions, d) != variable.dimensions.end();
    };
    if (!dimension.is_unlimited && dimension.length == 0) {
      refuse(fmt::format("dimension '{}' has the length 0", dimension.name), "write netCDF-4");
    }
    if (!dimension.is_unlimited || dimension.length == 0) return;
    if (std::ranges::any_of(contents_.variables, has_it)) return;
    refuse(fmt::format("no variable has the unlimited dimension '{}', so that its length is lost",
                       dimension.name),
           "write netCDF-4");
  }

  void check_variable(const FileVariable& variable) const {
    const std::string owner = fmt::format("variable '{}'", variable.name);
    check_type(variable.type, owner);
    check_attributes(variable.attributes, owner);
    for (std::size_t i = 1; i < variable.dimensions.size(); ++i) {
      const FileDimension& dimension = contents_.dimensions[variable.dimensions[i]];
      if (!dimension.is_unlimited) continue;
      refuse(
          fmt::format("{} has the unlimited dimension '{}' behind others", owner, dimension.name),
          "reorder it with ncpdq, or write netCDF-4");
    }
  }

  void check_attributes(const std::vector<FileAttribute>& attributes,
                        const std::string& owner) const {
    for (const FileAttribute& attribute : attributes) {
      const std::string what = fmt::format("attribute '{}' of {}", attribute.name, owner);
      if (!attribute.strings.empty()) {
        refuse(what + " has strings", "store it as characters with ncatted, or write netCDF-4");
      }
      check_type(attribute.type, what);
    }
  }

  void check_type(ElementType type, const std::string& what) const {
    if (holds(kind_, type)) return;
    refuse(fmt::format("{} is of type {}", what, slabmark::name_of(type)),
           "write CDF-5 or netCDF-4");
  }

  const FileContents& contents_;
  NetcdfKind kind_;
  std::string input_;
};

}  // namespace

void require_classic(const FileContents& contents, NetcdfKind kind, const std::string& input) {
  ClassicRules(contents, kind, input).check();
  if (SLABMARK_WITH_PNETCDF) return;
  throw InputError(
      fmt::format("Cannot write '{}' as {}: this Slabmark was built without PnetCDF. Build it with "
                  "PnetCDF, or write netCDF-4.",
                  input, name_of(kind)));
}

#if SLABMARK_WITH_PNETCDF

namespace {

/// PnetCDF makes the header on root, and each rank writes elements to their places: records of many
/// variables are too scattered a request for some MPI-IO.
class ClassicTarget : public Target {
 public:
  ClassicTarget(const Comm& comm, const std::string& path, const FileContents& contents,
                NetcdfKind kind, bool is_there)
      : comm_(comm), contents_(contents) {
    agreed(comm, [&] {
      if (comm.is_root() && !is_there) make(path, kind);
    });
    agreed(comm, [&] {
      // Each rank for itself: its communicator is its own.
      const pnetcdf::File header = pnetcdf::File::open(MPI_COMM_SELF, path);
      places_ = places_in(header, contents);
      file_ = posix::File::open(path, posix::File::Access::write);
    });
  }

  void write(const Batch& batch, std::span<const Run> shares, std::byte* memory) override {
    agreed(comm_, [&] {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (shares[i].length > 0) memory = write_share(batch[i], shares[i], memory);
      }
    });
  }

  TargetState save() override {
    agreed(comm_, [&] { file_.sync(); });
    return {file_.size(), {}, {}};
  }

  void close() override {
    agreed(comm_, [&] { file_.close(); });
  }

 private:
  /// Returns the end of its elements.
  std::byte* write_share(const VariableBox& box, Run share, std::byte* memory) {
    const ElementType type = contents_.variables[box.variable].type;
    swap_classic(memory, share.length * size_of(type), type);
    for (Hyperslab& part : boxes_of_range(share, box.size)) {
      for (std::size_t d = 0; d < part.start.size(); ++d) part.start[d] += box.start[d];
      places_.for_each_piece(box.variable, part, [&](std::uint64_t at, std::uint64_t bytes) {
        file_.write_at(at, memory, bytes);
        memory += bytes;
      });
    }
    return memory;
  }

  void make(const std::string& path, NetcdfKind kind) {
    pnetcdf::File header = pnetcdf::File::create(MPI_COMM_SELF, path, NC_NOCLOBBER | mode_of(kind));
    try {
      define(header);
      header.enddef();
    } catch (const pnetcdf::CallError& error) {
      if (error.code() != NC_EVARSIZE && error.code() != NC_EDIMSIZE) throw;
      throw InputError(fmt::format("A file of {} cannot be this large: {} Write CDF-5 or netCDF-4.",
                                   name_of(kind), error.what()));
    }
    count_records(header);
    header.close();
  }

  // The header has the number of records from then on. What is written here is written again.
  void count_records(pnetcdf::File& header) const {
    for (std::size_t v = 0; v < contents_.variables.size(); ++v) {
      const Extent extent = contents_.extent_of(v);
      if (!contents_.is_unlimited(contents_.variables[v]) || element_count(extent) == 0) continue;
      std::vector<MPI_Offset> start(extent.size(), 0);
      const std::vector<MPI_Offset> count(extent.size(), 1);
      start.front() = static_cast<MPI_Offset>(extent.front() - 1);
      const std::uint64_t zero = 0;
      const auto type = mpiio::mpi_type_of(contents_.variables[v].type);
      header.put_vara_all(static_cast<int>(v), start.data(), count.data(), &zero, 1, type);
      return;
    }
  }

  static int mode_of(NetcdfKind kind) {
    if (kind == NetcdfKind::cdf5) return NC_64BIT_DATA;
    return kind == NetcdfKind::cdf2 ? NC_64BIT_OFFSET : 0;
  }

  void define(pnetcdf::File& header) const {
    for (const FileDimension& dimension : contents_.dimensions) {
      const std::uint64_t length =
          dimension.is_unlimited ? static_cast<std::uint64_t>(NC_UNLIMITED) : dimension.length;
      header.def_dim(dimension.name, length);
    }
    for (const FileVariable& variable : contents_.variables) {
      const std::vector<int> dimensions(variable.dimensions.begin(), variable.dimensions.end());
      const int made =
          header.def_var(variable.name, pnetcdf::nc_type_of(variable.type), dimensions);
      put_attributes(header, made, variable.attributes);
    }
    put_attributes(header, NC_GLOBAL, contents_.attributes);
  }

  static void put_attributes(pnetcdf::File& header, int variable,
                             const std::vector<FileAttribute>& attributes) {
    for (const FileAttribute& attribute : attributes) {
      header.put_att(variable, attribute.name, pnetcdf::nc_type_of(attribute.type),
                     attribute.count(), attribute.values.data());
    }
  }

  const Comm& comm_;
  const FileContents& contents_;
  ClassicPlaces places_;
  posix::File file_;
};

}  // namespace

std::unique_ptr<Target> create_classic(const Comm& comm, const std::string& path,
                                       const FileContents& contents, NetcdfKind kind,
                                       const TargetState* resumed) {
  return std::make_unique<ClassicTarget>(comm, path, contents, kind, resumed != nullptr);
}

#else

std::unique_ptr<Target> create_classic(const Comm&, const std::string&, const FileContents&,
                                       NetcdfKind, const TargetState*) {
  return nullptr;  // never asked for: see require_classic()
}

#endif

}  // namespace slabmark::convert
