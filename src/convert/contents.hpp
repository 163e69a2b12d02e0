#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/geometry/element_type.hpp"
#include "core/geometry/extent.hpp"

namespace slabmark::convert {

/// An attribute of a netCDF file or of a variable in it.
struct FileAttribute {
  std::string name;
  ElementType type = ElementType::character;
  std::vector<std::byte> values = {};     ///< as this machine holds them
  std::vector<std::string> strings = {};  ///< in place of values: NC_STRING, which netCDF-4 has

  std::uint64_t count() const { return values.size() / size_of(type); }
  bool operator==(const FileAttribute&) const = default;
};

struct FileDimension {
  std::string name;
  std::uint64_t length = 0;
  bool is_unlimited = false;
  bool operator==(const FileDimension&) const = default;
};

enum class Compression { none, deflate, zstd };

/// The filters of a variable of netCDF-4 that conversions make.
struct VariableFilters {
  Compression compression = Compression::none;
  unsigned level = 0;
  bool shuffle = false;
  bool fletcher32 = false;
  int other = 0;  ///< number of a filter that is none of those; 0: there is none

  bool operator==(const VariableFilters&) const = default;
};

struct FileVariable {
  std::string name;
  ElementType type = ElementType::float64;
  std::vector<std::size_t> dimensions = {};  ///< of the contents, slowest first
  std::vector<FileAttribute> attributes = {};
  Extent stored_chunk = {};      ///< in the source; empty: contiguous
  VariableFilters filters = {};  ///< in the source
};

/// True if they are the same but for how they are stored.
bool is_same_variable(const FileVariable& a, const FileVariable& b);

/// The structure of a netCDF file, whatever its format: all but the elements of its variables.
struct FileContents {
  std::vector<FileDimension> dimensions;
  std::vector<FileVariable> variables;
  std::vector<FileAttribute> attributes = {};
  /// "cdf1", "cdf2" or "cdf5": what it is, or what a netCDF-4 file was made of. Empty: neither.
  std::string classic_format = "";

  Extent extent_of(const FileVariable& variable) const;
  Extent extent_of(std::size_t variable) const { return extent_of(variables[variable]); }
  bool is_unlimited(const FileVariable& variable) const;  ///< along some dimension
  std::uint64_t bytes() const;                            ///< of all elements
};

/// The dimension along which a variable holds coordinates, as netCDF-4 defines it: the slowest one,
/// where the variable has its name.
std::optional<std::size_t> coordinate_dimension(const FileContents& contents,
                                                const FileVariable& variable);

}  // namespace slabmark::convert
