#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/map/decomposition.hpp"
#include "core/geometry/extent.hpp"
#include "core/parallel/comm.hpp"
#include "storage/pnetcdf/file.hpp"

namespace slabmark {

/// Walks through the header of a classic NetCDF file (CDF-1, -2 or -5, as the NetCDF format
/// specification defines them) and throws InputError where it ends early or is malformed. Not
/// collective; for one rank, before all of them open the file: PnetCDF 1.12 takes a header that is
/// cut off for one with fewer variables, and believes any length that random bytes make up. Returns
/// the bytes of the whole file.
std::uint64_t check_classic_header(const std::string& path);

/// A NetCDF file that is read as a map: the calls that all layouts share, with faults of the file
/// reported as InputError. All members are collective and give the same on all ranks, unless a
/// comment says otherwise.
class NetcdfInput {
 public:
  /// An integer variable.
  struct Variable {
    std::string name;
    int id = -1;
    nc_type type = NC_INT;
    Extent extent;
  };

  NetcdfInput(const Comm& comm, const std::string& path);

  const Comm& comm() const { return comm_; }
  const std::string& path() const { return path_; }

  bool has_dimension(const std::string& name) const { return file_.has_dim(name); }
  bool has_variable(const std::string& name) const { return file_.has_var(name); }
  std::uint64_t dimension(const std::string& name) const;
  /// The dimension that counts the recorded ranks; there is at least one.
  std::uint64_t ranks(const std::string& name) const;
  /// Values of a global attribute of whole numbers.
  std::vector<long long> attribute(const std::string& name) const;
  bool has_attribute(const std::string& name) const;
  /// A global attribute of positive numbers as lengths, slowest first.
  Extent extent_attribute(const std::string& name) const;
  /// Throws unless the variable exists, holds whole numbers, and has this extent.
  Variable variable(const std::string& name, const Extent& extent) const;

  /// Throws unless the first `elements` elements of the variable lie within the file.
  void require_elements(const Variable& variable, std::uint64_t elements) const;

  /// Reads the whole 1-D variable on every rank.
  std::vector<long long> read_whole(const Variable& variable) const;

  /// Reads [start, start + count) of a 1-D variable; the range is this rank's own and may be empty.
  std::vector<long long> read_range(const Variable& variable, std::uint64_t start,
                                    std::uint64_t count) const;

  /// Reads the rows of `block` of a 2-D variable and visits them in order, in pieces: `values` are
  /// those of `row` from column `column` on. The block is this rank's own and may be empty; `visit`
  /// may throw.
  using RowVisitor = std::function<void(std::uint64_t row, std::uint64_t column,
                                        std::span<const long long> values)>;
  void read_rows(const Variable& variable, Run block, const RowVisitor& visit) const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  void get(const Variable& variable, const Extent& start, const Extent& count,
           std::span<long long> values) const;

  const Comm& comm_;
  std::string path_;
  std::uint64_t file_bytes_;
  pnetcdf::File file_;
  mutable std::vector<int> narrow_;  ///< what a call read of a 32-bit variable
};

}  // namespace slabmark
