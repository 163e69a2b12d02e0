#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/geometry/extent.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {

/// The chunks of an n-D array, one after another in row-major order: a line of elements. Each chunk
/// is whole on the line also where it reaches beyond the array, so that chunk c has the positions
/// [c * chunk_elements(), (c + 1) * chunk_elements()), its elements in row-major order: what an
/// HDF5 file holds of a chunk.
class ChunkGrid {
 public:
  ChunkGrid() = default;
  /// One length of a chunk for each dimension, of which there is at least one. Throws InputError
  /// where their numbers differ, a length is 0 or the line has more than 2^63 elements.
  ChunkGrid(Extent extent, Extent chunk);

  const Extent& extent() const { return extent_; }
  const Extent& chunk() const { return chunk_; }
  std::uint64_t chunks() const { return chunks_; }
  std::uint64_t chunk_elements() const { return chunk_elements_; }
  std::uint64_t elements() const { return chunks_ * chunk_elements_; }  ///< of the line

  /// Coordinates of a chunk's first element.
  Extent first_element(std::uint64_t chunk) const;
  std::uint64_t chunk_of(const Extent& element) const;  ///< its inverse, of any element
  /// How many elements of a chunk lie in the array: fewer than all of one that reaches beyond it.
  std::uint64_t elements_in_array(std::uint64_t chunk) const;
  bool reaches_beyond(std::uint64_t chunk) const {
    return elements_in_array(chunk) < chunk_elements_;
  }

  /// The line is the row-major array, and some positions beyond its end.
  bool keeps_order() const { return axes_.size() == 1; }

  /// Visits `run` of the row-major array as runs on the line, in the order of the array; where each
  /// of them begins in the array follows from the lengths of those before it.
  template <class Visit>
  void for_each_run(Run run, const Visit& visit) const;

  /// The same as runs that lie in one chunk each: visit(chunk, run in it).
  template <class Visit>
  void for_each_part(Run run, const Visit& visit) const {
    for_each_run(run, [&](Run on_line) {
      slabmark::for_each_part(on_line, chunk_elements_, [&](Run part) {
        const std::uint64_t chunk = part.offset / chunk_elements_;
        visit(chunk, Run{part.offset - chunk * chunk_elements_, part.length});
      });
    });
  }

 private:
  /// A dimension, or several of which chunks span all but the slowest.
  struct Axis {
    std::uint64_t length, chunk;
    std::uint64_t chunk_stride = 1;  ///< chunks from one index of chunk to the next
    std::uint64_t place_stride = 1;  ///< elements of a chunk from one index to the next
  };

  Extent extent_, chunk_, counts_;  ///< counts_: chunks in each dimension
  std::uint64_t chunks_ = 0, chunk_elements_ = 1;
  std::vector<Axis> axes_;
};

template <class Visit>
void ChunkGrid::for_each_run(Run run, const Visit& visit) const {
  if (keeps_order()) {
    if (run.length > 0) visit(run);
    return;
  }
  const Axis& fastest = axes_.back();
  for (std::uint64_t at = run.offset; at < run.end();) {
    std::uint64_t rest = at;
    std::uint64_t chunk = 0;
    std::uint64_t place = 0;
    for (std::size_t d = axes_.size(); d-- > 0;) {
      const Axis& axis = axes_[d];
      const std::uint64_t index = rest % axis.length;
      rest /= axis.length;
      chunk += index / axis.chunk * axis.chunk_stride;
      place += index % axis.chunk * axis.place_stride;
    }
    const std::uint64_t in_row = at % fastest.length;
    const std::uint64_t length =
        std::min({fastest.length - in_row, fastest.chunk - in_row % fastest.chunk, run.end() - at});
    visit(Run{chunk * chunk_elements_ + place, length});
    at += length;
  }
}

}  // namespace slabmark
