#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <mpi.h>
#include <pnetcdf.h>

namespace slabmark::collective {

/// The inquiries of the PnetCDF that a program uses, whichever that is.
struct NetcdfFunctions {
  int (*inq)(int file, int* dimensions, int* variables, int* attributes, int* unlimited);
  int (*inq_recsize)(int file, MPI_Offset* bytes);
  int (*inq_dimlen)(int file, int dimension, MPI_Offset* length);
  int (*inq_varndims)(int file, int variable, int* dimensions);
  int (*inq_vardimid)(int file, int variable, int* dimensions);
  int (*inq_vartype)(int file, int variable, nc_type* type);
  int (*inq_varoffset)(int file, int variable, MPI_Offset* offset);

  /// The inquiries that the caller is linked with.
  static NetcdfFunctions linked() {
    return {ncmpi_inq,          ncmpi_inq_recsize, ncmpi_inq_dimlen,   ncmpi_inq_varndims,
            ncmpi_inq_vardimid, ncmpi_inq_vartype, ncmpi_inq_varoffset};
  }
};

/// The dimensions of a variable.
struct NetcdfShape {
  std::vector<MPI_Offset> lengths;  ///< of all dimensions; that of records is not used
  bool has_records = false;         ///< the first dimension is that of records

  std::uint64_t elements() const {  ///< of one record, or of all
    std::uint64_t count = 1;
    for (std::size_t d = has_records; d < lengths.size(); ++d) {
      count *= static_cast<std::uint64_t>(lengths[d]);
    }
    return count;
  }
  bool operator==(const NetcdfShape&) const = default;
};

/// Where the variables of an open file lie. PnetCDF is asked once, and again after forget(). Where
/// a call of PnetCDF's fails error() tells its code, until the next call of this. All is in this
/// header, so that each library is compiled with the PnetCDF of its program.
class NetcdfLocator {
 public:
  struct Variable {
    nc_type type = NC_NAT;
    NetcdfShape shape;
    std::uint64_t offset = 0;  ///< byte at which it begins, or its first record
  };

  NetcdfLocator(const NetcdfFunctions& functions, int file) : functions_(functions), file_(file) {}

  /// The header may be another one now.
  void forget() { is_known_ = false; }
  int error() const { return error_; }

  // Both functions return null if the variable does not exist or a call fails (error()). A shape is
  // known sooner, since it takes fewer calls.

  const NetcdfShape* shape(int id) {
    Entry* const entry = entry_of(id);
    if (!entry) return nullptr;
    NetcdfShape& shape = entry->variable.shape;
    if (entry->shape_known == header_) return &shape;
    int dimensions = 0;
    if (!did(functions_.inq_varndims(file_, id, &dimensions))) return nullptr;
    std::vector<int> ids(static_cast<std::size_t>(dimensions) + 1);
    if (!did(functions_.inq_vardimid(file_, id, ids.data()))) return nullptr;
    ids.pop_back();
    shape = {};
    for (const int dimension : ids) {
      const bool of_records = dimension == unlimited_;
      shape.lengths.push_back(of_records ? 0 : length_of(dimension));
      shape.has_records |= of_records;
    }
    if (error_ != NC_NOERR) return nullptr;
    entry->shape_known = header_;
    return &shape;
  }

  const Variable* variable(int id) {
    if (!shape(id)) return nullptr;
    Entry& entry = entries_[static_cast<std::size_t>(id)];
    if (entry.known == header_) return &entry.variable;
    MPI_Offset offset = 0;
    if (!did(functions_.inq_vartype(file_, id, &entry.variable.type)) ||
        !did(functions_.inq_varoffset(file_, id, &offset))) {
      return nullptr;
    }
    entry.variable.offset = static_cast<std::uint64_t>(offset);
    entry.known = header_;
    return &entry.variable;
  }

  /// Byte at which a record begins, or the variable, if it has no records.
  std::uint64_t offset(const Variable& variable, std::uint64_t record) const {
    return variable.offset + (variable.shape.has_records ? record * record_bytes_ : 0);
  }

  /// Elements of the largest variable; of those with records, one record counts.
  std::uint64_t most_elements() {
    const int count = variables();
    if (most_known_ == header_) return most_elements_;
    most_elements_ = 0;
    for (int id = 0; id < count; ++id) {
      if (const NetcdfShape* its = shape(id)) {
        most_elements_ = std::max(most_elements_, its->elements());
      }
    }
    most_known_ = header_;
    return most_elements_;
  }

  int variables() { return know() ? static_cast<int>(entries_.size()) : 0; }
  /// How many records there are now. PnetCDF is asked each time.
  std::uint64_t records() {
    MPI_Offset records = 0;
    if (know() && unlimited_ >= 0) did(functions_.inq_dimlen(file_, unlimited_, &records));
    return static_cast<std::uint64_t>(records);
  }
  std::uint64_t record_bytes() { return know() ? record_bytes_ : 0; }

  /// Most bytes between two variables that belong to nobody. Variables begin at multiples of 4, but
  /// records of a single variable stand close together.
  std::uint64_t padding() { return record_bytes() % 4 == 0 ? 3 : 0; }

 private:
  struct Entry {
    Variable variable;
    std::uint64_t shape_known = 0, known = 0;  ///< for which header
  };

  Entry* entry_of(int id) {
    if (!know()) return nullptr;
    if (id >= 0 && static_cast<std::size_t>(id) < entries_.size()) {
      return &entries_[static_cast<std::size_t>(id)];
    }
    error_ = NC_ENOTVAR;
    return nullptr;
  }

  bool did(int error) {
    if (error_ == NC_NOERR) error_ = error;
    return error == NC_NOERR;
  }

  bool know() {
    error_ = NC_NOERR;
    if (is_known_) return true;
    int dimensions = 0, variables = 0, attributes = 0;
    MPI_Offset bytes = 0;
    unlimited_ = -1;
    if (!did(functions_.inq(file_, &dimensions, &variables, &attributes, &unlimited_)) ||
        !did(functions_.inq_recsize(file_, &bytes))) {
      return false;
    }
    record_bytes_ = static_cast<std::uint64_t>(bytes);
    entries_.resize(static_cast<std::size_t>(variables));
    lengths_.clear();
    ++header_;
    return is_known_ = true;
  }

  MPI_Offset length_of(int dimension) {
    const auto found = lengths_.find(dimension);
    if (found != lengths_.end()) return found->second;
    MPI_Offset length = 0;
    if (did(functions_.inq_dimlen(file_, dimension, &length))) lengths_[dimension] = length;
    return length;
  }

  NetcdfFunctions functions_;
  int file_;
  bool is_known_ = false;
  int error_ = NC_NOERR;
  std::uint64_t header_ = 0;  ///< how many there have been, also of the same contents
  std::vector<Entry> entries_;
  std::map<int, MPI_Offset> lengths_;  ///< of dimensions
  int unlimited_ = -1;                 ///< dimension
  std::uint64_t record_bytes_ = 0;
  std::uint64_t most_elements_ = 0, most_known_ = 0;  ///< the latter: for which header
};

}  // namespace slabmark::collective
