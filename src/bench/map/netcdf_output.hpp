#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/map/replaced_file.hpp"
#include "core/geometry/extent.hpp"
#include "storage/pnetcdf/file.hpp"

namespace slabmark {

/// A classic NetCDF file of whole numbers that one process writes, complete or not at all.
class NetcdfOutput {
 public:
  /// The largest value and the number of `values` in all decide between CDF-1 with 32-bit integers,
  /// CDF-5 with 32-bit integers and CDF-5 with 64-bit ones.
  NetcdfOutput(const std::string& path, std::uint64_t largest, std::uint64_t values);

  int cdf_version() const { return version_; }

  int define_dimension(const std::string& name, std::uint64_t length);
  int define_variable(const std::string& name, const std::vector<int>& dimensions);
  void put_attribute(int variable, const std::string& name, const Extent& values);
  void put_attribute(int variable, const std::string& name, const std::string& text);
  void end_definitions() { file_.enddef(); }

  /// Writes a box of a variable.
  void put(int variable, const Extent& start, const Extent& count,
           std::span<const long long> values);

  /// Closes the file, checks its size and gives it its name. Returns its bytes.
  std::uint64_t finish();

 private:
  struct Variable {
    int id;
    std::uint64_t bytes;
  };

  std::uint64_t value_bytes_;
  int version_;
  nc_type type_;
  ReplacedFile target_;
  pnetcdf::File file_;
  std::vector<std::uint64_t> lengths_;  ///< of the dimensions
  std::vector<Variable> variables_;
};

/// Writes a 1-D variable from its first element on, gathering small appends into large writes.
class ColumnWriter {
 public:
  ColumnWriter(NetcdfOutput& output, int variable) : output_(output), variable_(variable) {}

  void append(std::uint64_t value) {
    pending_.push_back(static_cast<long long>(value));
    if (pending_.size() >= values_per_write) flush();
  }
  void flush();

 private:
  static constexpr std::size_t values_per_write = std::size_t{1} << 18;

  NetcdfOutput& output_;
  int variable_;
  std::uint64_t written_ = 0;
  std::vector<long long> pending_;
};

}  // namespace slabmark
