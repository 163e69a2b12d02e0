#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/geometry/run.hpp"

namespace slabmark {

/// Where an array (one time step of it) lies in a file: row-major and contiguous. Of an array in
/// chunks, its elements are those of its ChunkGrid's line, and its offset one beyond the bytes of
/// the file (beyond_file), which only tells it from others.
struct ArrayPlace {
  std::uint64_t offset = 0;  ///< byte of the file at which it begins
  std::uint64_t element_bytes = 1;
  std::uint64_t elements = 0;
  /// Elements that go to the file together, those of a chunk with filters; 0: each may go on its
  /// own. A multiple of them are `elements`, and no range and no window begins or ends within so
  /// many.
  std::uint64_t unit = 0;

  std::uint64_t bytes() const { return element_bytes * elements; }
  std::uint64_t unit_bytes() const { return element_bytes * (unit > 0 ? unit : 1); }
  bool operator==(const ArrayPlace&) const = default;
};

/// Offsets from here on are no bytes of a file.
inline constexpr std::uint64_t beyond_file = std::uint64_t{1} << 62;

/// The arrays of a flush, one after another as they lie in the file, as one line of bytes: what
/// aggregators share out among them. Positions count bytes on that line; small gaps of the file
/// (padding) belong to it, large ones do not.
class FileDomain {
 public:
  /// An array as it lies on the line.
  struct Array {
    ArrayPlace place;
    std::uint64_t begin = 0;  ///< position of its first byte
    std::uint64_t end() const { return begin + place.bytes(); }
    bool operator==(const Array&) const = default;
  };

  /// Elements of an array within some range of positions.
  struct Part {
    std::size_t array = 0;
    Run elements;
  };

  FileDomain() = default;

  /// `places` in any order; equal ones are one array, empty ones are none. Gaps of the file of at
  /// most `padding` bytes become part of the line. Throws InputError where arrays overlap.
  FileDomain(std::span<const ArrayPlace> places, std::uint64_t padding);

  std::span<const Array> arrays() const { return arrays_; }  ///< ascending, none of them empty
  std::size_t array_at(const ArrayPlace& place) const;       ///< index of a place that is not empty
  std::uint64_t bytes() const { return bytes_; }

  /// The first position from `position` on that does not split a unit, and the last one up to it.
  std::uint64_t next_unit(std::uint64_t position) const;
  std::uint64_t unit_begin(std::uint64_t position) const;

  std::uint64_t largest_unit() const;  ///< bytes

  /// `parts` + 1 ascending positions, from 0 to bytes(): nearly equal consecutive ranges, whose
  /// bounds do not split a unit and stand at multiples of `alignment` (> 0) bytes of the file where
  /// elements allow it.
  std::vector<std::uint64_t> cut(std::uint64_t parts, std::uint64_t alignment) const;

  /// Elements in [begin, end), ascending. Both bounds must not split a unit.
  std::vector<Part> parts_in(std::uint64_t begin, std::uint64_t end) const;

  /// Byte of the file at a position, which must lie in an array or just after one.
  std::uint64_t file_offset(std::uint64_t position) const;

 private:
  std::size_t array_before(std::uint64_t position) const;

  std::vector<Array> arrays_;
  std::uint64_t bytes_ = 0;
};

}  // namespace slabmark
