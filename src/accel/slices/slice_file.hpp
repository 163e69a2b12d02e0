#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/geometry/blocked_field.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark::slice {

/// The attributes of a file of slices.
struct Description {
  Slice slice;
  std::array<std::uint64_t, 3> grid{};  ///< points of the field
  std::uint64_t before = 0;  ///< points of the slice's count before the grid's first: a halo or 0
  std::array<double, 3> origin = {0, 0, 0};
  std::array<double, 3> spacing = {1, 1, 1};
  std::vector<std::string> fields;
  ElementType type = ElementType::float64;

  /// Points in the file along z, y and x, without the axes of which there is one: VTK takes such an
  /// image for one of fewer dimensions.
  Extent shape() const;
  std::uint64_t bytes() const;  ///< of one field in one output
};

/// A file of one slice that grows in time, in the layout "VTKHDF temporal ImageData"
/// (docs/reference/slices.md shows it). Kept by one rank, which alone calls HDF5; the data is
/// written by others at the addresses that grow() returns.
class SeriesFile {
 public:
  /// Makes the file, without outputs.
  SeriesFile(const std::string& path, const Description& description);

  /// Makes room for outputs up to `outputs`. Returns where the data of each new one begins in the
  /// file: all fields of the first, then those of the next. The file is complete on disk then, with
  /// the `whole` outputs that are written, or all that were counted before if these are more.
  /// Throws IoError where there is no room; the file is as before then.
  std::vector<std::uint64_t> grow(std::uint64_t outputs, std::uint64_t whole);

  void set_time(std::uint64_t output, double time);

  /// Makes the file say that it has `outputs` outputs, on disk too.
  void count(std::uint64_t outputs);

  /// Cuts off what was grown beyond `outputs`, counts and closes.
  void close(std::uint64_t outputs);

 private:
  void resize(std::uint64_t outputs);
  void write_times(std::uint64_t outputs);

  Description description_;
  hdf5::File file_;  // before the datasets, which must be closed first
  std::vector<hdf5::Dataset> data_;
  std::optional<hdf5::Dataset> times_;
  std::vector<double> time_;
  std::uint64_t capacity_ = 0;
  std::uint64_t counted_ = 0;
};

/// A complete file of one output, as bytes. Files of the same slice differ only in the data and in
/// the time, so HDF5 makes one and the others are copies.
struct FileImage {
  std::vector<std::byte> bytes;
  std::vector<std::uint64_t> data;  ///< where each field's data begins
  std::uint64_t time = 0;           ///< place of the time, a double
};

FileImage make_image(const Description& description);

}  // namespace slabmark::slice
