#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/pattern/pattern.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark {

/// The arguments of one H5Dwrite or H5Dread of a whole transfer: a selection in the file and one in
/// memory, whose elements HDF5 pairs in their own orders.
struct Hdf5Plan {
  /// Elements that are contiguous both in the buffer and in dense memory, which holds them in file
  /// order. Offsets and length count elements.
  struct Copy {
    std::uint64_t dense = 0;
    std::uint64_t buffer = 0;
    std::uint64_t length = 0;
  };

  hdf5::Space file;        ///< with time in front where the dataset has it
  std::uint64_t time = 0;  ///< position of the selection in time
  hdf5::Space memory;
  std::vector<Copy> copies;  ///< not empty: `memory` is dense, filled from the buffer by these
  std::uint64_t dense_elements = 0;

  /// Both copy in the order of the transfer, so of several elements that go to one place the last
  /// holds, as after one H5Dwrite each.
  void gather(const std::byte* buffer, std::byte* dense, std::size_t element_bytes) const;
  void scatter(const std::byte* dense, std::byte* buffer, std::size_t element_bytes) const;
};

/// The union of a selection, by divide and conquer. Hyperslabs that touch are merged first, also
/// across rows, unless they are of many runs each (boxes, strides), when they are kept as they are.
hdf5::Space union_of(const Selection& selection, bool leading_time);

/// Completes a plan whose `file` is a union. HDF5 walks a union in row-major order, whatever the
/// order in which its hyperslabs came: where the transfer's order is another, or an element is
/// selected twice, the elements are permuted.
void plan_memory_of_union(const Transfer& transfer, Hdf5Plan& plan);

/// The plan of a transfer as one union.
Hdf5Plan plan_of_union(const Transfer& transfer, bool leading_time);

/// A 1-D space of that many elements, all selected; for none, an empty selection.
hdf5::Space line_of(std::uint64_t elements);

}  // namespace slabmark
