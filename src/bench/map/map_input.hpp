#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/map/decomposition.hpp"
#include "core/geometry/extent.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Walks through the header of a classic NetCDF file (CDF-1, -2 or -5, as the NetCDF format
/// specification defines them) and throws InputError where it ends early or is malformed. Not
/// collective; for one rank, before all of them open the file: PnetCDF 1.12 takes a header that is
/// cut off for one with fewer variables, and believes any length that random bytes make up. Returns
/// the bytes of the whole file.
std::uint64_t check_classic_header(const std::string& path);

/// Dimensions, variables and attributes of a file that is read as a map, whichever library reads
/// it. Damage in the file is reported as InputError. All members are collective and give the same
/// on all ranks, unless a comment says otherwise.
class MapInput {
 public:
  /// A variable of whole numbers.
  struct Variable {
    std::string name;
    std::uint64_t bytes_each = 0;  ///< 4 or 8
    Extent extent;
  };

  MapInput(const Comm& comm, const std::string& path) : comm_(comm), path_(path) {}
  MapInput(const MapInput&) = delete;
  MapInput& operator=(const MapInput&) = delete;
  virtual ~MapInput() = default;

  const Comm& comm() const { return comm_; }
  const std::string& path() const { return path_; }

  /// "NetCDF", "NetCDF-4" or "HDF5".
  virtual std::string format() const = 0;
  virtual bool has_variable(const std::string& name) const = 0;
  bool has_dimension(const std::string& name) const { return find_dimension(name).has_value(); }
  bool has_attribute(const std::string& name) const { return find_attribute(name).has_value(); }
  std::uint64_t dimension(const std::string& name) const;
  /// The dimension that counts the recorded ranks; there is at least one.
  std::uint64_t ranks(const std::string& name) const;
  /// Values of a global attribute of whole numbers; at least one.
  std::vector<long long> attribute(const std::string& name) const;
  /// A global attribute of positive numbers as lengths, slowest first.
  Extent extent_attribute(const std::string& name) const;
  /// Throws unless the variable exists, holds whole numbers, and has this extent.
  Variable variable(const std::string& name, const Extent& extent) const;

  /// Throws unless the first `elements` elements of the variable lie within the file.
  virtual void require_elements(const Variable& variable, std::uint64_t elements) const = 0;

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

 protected:
  /// A variable in the file; `bytes_each` is 0 if it does not hold signed whole numbers of 4 or 8
  /// bytes.
  virtual Variable find_variable(const std::string& name) const = 0;
  virtual std::optional<std::uint64_t> find_dimension(const std::string& name) const = 0;
  /// The values of a global attribute; none where it holds something else than whole numbers.
  virtual std::optional<std::vector<long long>> find_attribute(const std::string& name) const = 0;
  /// Reads a box, which is this rank's own and may be empty. The outcome is agreed on afterwards.
  virtual void read_box(const Variable& variable, const Extent& start, const Extent& count,
                        std::span<long long> values) const = 0;
  [[noreturn]] void fail_truncated(const Variable& variable, std::uint64_t elements,
                                   std::uint64_t begin, std::uint64_t file_bytes) const;

 private:
  void get(const Variable& variable, const Extent& start, const Extent& count,
           std::span<long long> values) const;

  const Comm& comm_;
  std::string path_;
};

/// Collective. A classic NetCDF file, through PnetCDF.
std::unique_ptr<MapInput> open_classic_input(const Comm& comm, const std::string& path);

/// Collective. A NetCDF-4 file, or an HDF5 file as E3SM-IO writes it. Each rank reads its own rows
/// through HDF5 without MPI-IO, so that damage which only one rank meets leaves no other waiting.
std::unique_ptr<MapInput> open_hdf5_input(const Comm& comm, const std::string& path);

}  // namespace slabmark
