#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "bench/pattern/selection.hpp"

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
  BoxList(const Selection& selection, bool has_time, std::uint64_t most_elements)
      : has_time_(has_time), dims_(selection.extent().size() + (has_time ? 1 : 0)) {
    const auto for_each = [&](const auto& visit) {
      Hyperslab slab;
      for (std::uint64_t i = 0; i < selection.hyperslab_count(); ++i) {
        selection.hyperslab(i, slab);
        for_each_box(slab, most_elements, visit);
      }
    };
    // Counted first: a vector that grows holds everything twice, and the pointers must not move.
    std::size_t boxes = 0;
    for_each([&](const Extent&, const Extent&) { ++boxes; });
    numbers_.reserve(2 * dims_ * boxes);
    starts_.reserve(boxes);
    counts_.reserve(boxes);
    for_each([&](const Extent& start, const Extent& size) { add(start, size, most_elements); });
  }
  BoxList(BoxList&&) = default;

  /// Boxes [first, end) of one part and their elements.
  struct BoxRange {
    std::size_t first = 0;
    std::size_t end = 0;
    std::uint64_t elements = 0;

    std::size_t boxes() const { return end - first; }
  };

  std::size_t size() const { return starts_.size(); }
  std::size_t dims() const { return dims_; }  ///< with time
  const std::vector<BoxRange>& parts() const { return parts_; }

  Number* const* starts(std::size_t first) const { return starts_.data() + first; }
  Number* const* counts(std::size_t first) const { return counts_.data() + first; }

  std::uint64_t elements(std::size_t box) const {
    std::uint64_t product = 1;
    for (std::size_t d = 0; d < dims_; ++d) product *= static_cast<std::uint64_t>(counts_[box][d]);
    return product;
  }

  /// Moves all boxes to this position of the time dimension.
  void set_time(std::uint64_t time) {
    if (!has_time_ || time == time_) return;
    for (auto* start : starts_) start[0] = static_cast<Number>(time);
    time_ = time;
  }

 private:
  Number* store(const Extent& numbers, Number of_time) {
    Number* const begin = numbers_.data() + numbers_.size();
    if (has_time_) numbers_.push_back(of_time);
    for (const auto number : numbers) numbers_.push_back(static_cast<Number>(number));
    return begin;
  }

  void add(const Extent& start, const Extent& size, std::uint64_t most_elements) {
    starts_.push_back(store(start, 0));
    counts_.push_back(store(size, 1));
    const auto box = starts_.size() - 1;
    const auto count = elements(box);
    constexpr std::size_t most_boxes = std::numeric_limits<int>::max();
    if (parts_.empty() || parts_.back().elements + count > most_elements ||
        parts_.back().boxes() == most_boxes) {
      parts_.push_back({box, box, 0});
    }
    parts_.back().end = box + 1;
    parts_.back().elements += count;
  }

  bool has_time_;
  std::size_t dims_;
  std::uint64_t time_ = 0;
  std::vector<Number> numbers_;
  std::vector<Number*> starts_;
  std::vector<Number*> counts_;
  std::vector<BoxRange> parts_;
};

}  // namespace slabmark
