#pragma once

#include <cstdint>
#include <vector>

#include "pattern/selection.hpp"

namespace slabmark {

/// The hyperslabs of a selection as start and count arrays in the form that PnetCDF's varn (Number
/// is MPI_Offset) and H5Dwrite_n (hsize_t) take, in element order. One flat array: 2 numbers per
/// dimension and 2 pointers a box, so 48 bytes a request of a 2-D map, shared by all variables of
/// the map.
template <typename Number>
class BoxList {
 public:
  /// Boxes in one call hold at most `most_elements` together: the list is cut in parts of that
  /// size. With `has_time` there is a leading time dimension, see set_time().
  BoxList(const Selection& selection, bool has_time, std::uint64_t most_elements);
  BoxList(BoxList&&) = default;

  /// Boxes [first, end) of one part and their elements.
  struct Part {
    std::size_t first = 0;
    std::size_t end = 0;
    std::uint64_t elements = 0;

    std::size_t boxes() const { return end - first; }
  };

  std::size_t size() const { return starts_.size(); }
  std::size_t dims() const { return dims_; }  ///< with time
  const std::vector<Part>& parts() const { return parts_; }

  Number* const* starts(std::size_t first) const { return starts_.data() + first; }
  Number* const* counts(std::size_t first) const { return counts_.data() + first; }
  std::uint64_t elements(std::size_t box) const;

  /// Moves all boxes to this position of the time dimension.
  void set_time(std::uint64_t time);

 private:
  void add(const Extent& start, const Extent& size, std::uint64_t most_elements);

  bool has_time_;
  std::size_t dims_;
  std::uint64_t time_ = 0;
  std::vector<Number> numbers_;
  std::vector<Number*> starts_;
  std::vector<Number*> counts_;
  std::vector<Part> parts_;
};

}  // namespace slabmark
