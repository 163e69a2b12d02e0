#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/geometry/extent.hpp"

namespace slabmark {

/// Walks the positions of an n-D grid in row-major order. Along an axis, each index lies `step`
/// behind the one before; blocks that are a stride apart are two axes.
class StridedWalk {
 public:
  StridedWalk() = default;  ///< over nothing

  void clear() { done_ = true; }

  /// Starts again: `first` is the only position until axes are added. Reuses the storage.
  void restart(std::int64_t first) {
    axes_.clear();
    position_ = first;
    done_ = false;
  }

  /// Adds an axis that is faster than those before. A count of 0 leaves no position at all.
  void add(std::uint64_t count, std::int64_t step) {
    if (count == 0) done_ = true;
    if (count > 1) axes_.push_back({count, step, 0});
  }

  /// Starts again: the positions are the first elements of the rows, along the fastest dimension,
  /// of a box in a row-major array. Without dimensions there is one row of one element.
  template <class Number>
  void restart_at_rows(const Number* start, const Number* count, const Extent& extent) {
    std::uint64_t weight = 1;  // elements from one index to the next
    for (std::size_t d = 1; d < extent.size(); ++d) weight *= extent[d];
    if (weight == 0) return clear();
    restart(static_cast<std::int64_t>(offset_of(start, extent)));
    for (std::size_t d = 0; d + 1 < extent.size(); ++d) {
      add(static_cast<std::uint64_t>(count[d]), static_cast<std::int64_t>(weight));
      weight /= extent[d + 1];
    }
    if (!extent.empty() && count[extent.size() - 1] == 0) clear();
  }

  bool done() const { return done_; }
  std::int64_t position() const { return position_; }

  void advance() {
    for (std::size_t a = axes_.size(); a-- > 0;) {
      Axis& axis = axes_[a];
      position_ += axis.step;
      if (++axis.index < axis.count) return;
      position_ -= axis.step * static_cast<std::int64_t>(axis.count);
      axis.index = 0;
    }
    done_ = true;
  }

  /// Visits all positions that are left.
  template <class Visit>
  void for_each(const Visit& visit) {
    for (; !done_; advance()) visit(position_);
  }

 private:
  struct Axis {
    std::uint64_t count;
    std::int64_t step;
    std::uint64_t index;  ///< where the walk stands
  };

  std::vector<Axis> axes_;  ///< slowest first
  std::int64_t position_ = 0;
  bool done_ = true;
};

}  // namespace slabmark
