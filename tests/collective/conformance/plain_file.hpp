#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collective/conformance/program.hpp"

namespace slabmark::conformance {

/// A finished file as a program without Slabmark reads it.
class PlainFile {
 public:
  virtual ~PlainFile() = default;

  /// Elements of an array, or of a record of it, as they lie in memory.
  virtual std::vector<std::byte> read(const Array& array, std::uint64_t record, Run run) = 0;
};

/// A file without header; `offset`: of an array, or of a record of it.
using RawOffset = std::function<std::uint64_t(const Array& array, std::uint64_t record)>;
std::unique_ptr<PlainFile> open_raw(const std::string& path, RawOffset offset);
std::unique_ptr<PlainFile> open_netcdf(const std::string& path);
std::unique_ptr<PlainFile> open_hdf5(const std::string& path);

/// The parts of rows that runs consist of, as boxes of an array: the first dimension is that of the
/// records where it has any.
struct Boxes {
  std::vector<std::vector<std::uint64_t>> starts, counts;
};
Boxes boxes_of(const Array& array, std::uint64_t record, const RunList& runs);

}  // namespace slabmark::conformance
