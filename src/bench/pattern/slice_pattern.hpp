#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/pattern/pattern.hpp"
#include "core/geometry/blocked_field.hpp"

namespace slabmark {

namespace slice {
class Device;
}

/// The fields of which the slices of a pattern are taken. Its datasets are the fields of the first
/// slice, then those of the next.
struct SliceSource {
  BlockedField field;
  std::vector<Slice> slices;
  std::uint64_t fields = 1;
  /// In the buffers. Where the datasets' type is another, the points are converted on the way,
  /// which few methods do: then the buffers are not as large as buffer_bytes() says.
  ElementType type = ElementType::float64;
  std::shared_ptr<slice::Device> device =
      nullptr;  ///< whose memory the buffers are; null: the host's
};

/// The pattern of a simulation that writes the slices of each of its fields, `outputs` times.
/// Datasets are named f0, f1, ... with the slice's name, and have a time dimension if there are
/// several outputs. Its settings tell the field and what is kept of it. Memory is the block with
/// its halos, so a slice is a strided selection there. Throws InputError where a range is empty or
/// leaves the field, a stride is 0 or beyond its range, the processes are not as many as the ranks,
/// or an axis has more processes than points.
Pattern make_slice_pattern(SliceSource source, std::uint64_t outputs, std::uint64_t rank,
                           std::uint64_t size);

}  // namespace slabmark
