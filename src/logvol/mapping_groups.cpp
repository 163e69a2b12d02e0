#include "logvol/mapping_groups.hpp"

#include <algorithm>

namespace slabmark::logvol {

namespace {

/// Boxes of equal size whose starts differ by a constant in one dimension: as a hyperslab that
/// grows by one block a box.
class Series {
 public:
  void start(const Hyperslab& box) {
    slab_ = box;
    count_ = 1;
  }

  /// Returns false where `box` does not continue it.
  bool add(const Hyperslab& box) {
    if (count_ == 0 || box.block != slab_.block) return false;
    if (count_ == 1 && !find_dimension(box)) return false;
    for (std::size_t d = 0; d < box.start.size(); ++d) {
      const auto expected = slab_.start[d] + (d == dimension_ ? count_ * slab_.stride[d] : 0);
      if (box.start[d] != expected) return false;
    }
    slab_.count[dimension_] = ++count_;
    return true;
  }

  std::uint64_t count() const { return count_; }
  const Hyperslab& slab() const { return slab_; }

  void for_each_box(const std::function<void(const Extent& start, const Extent& size)>& visit) {
    auto start = slab_.start;
    for (std::uint64_t i = 0; i < count_; ++i) {
      visit(start, slab_.block);
      if (count_ > 1) start[dimension_] += slab_.stride[dimension_];
    }
  }

 private:
  /// The first in which the starts differ: there they ascend, for boxes do not overlap.
  bool find_dimension(const Hyperslab& box) {
    for (dimension_ = 0; dimension_ < box.start.size(); ++dimension_) {
      if (box.start[dimension_] == slab_.start[dimension_]) continue;
      slab_.stride[dimension_] = box.start[dimension_] - slab_.start[dimension_];
      return true;
    }
    return false;
  }

  Hyperslab slab_;
  std::uint64_t count_ = 0;
  std::size_t dimension_ = 0;
};

class Grouping {
 public:
  Grouping(const Extent& extent, const std::function<void(const MappingGroup&)>& visit)
      : extent_(extent), visit_(visit) {}

  void add(const Hyperslab& box) {
    if (series_.add(box)) return;
    settle();
    series_.start(box);
  }

  void finish() {
    settle();
    hand_out();
  }

 private:
  void settle() {
    if (series_.count() <= hyperslabs_of_mapping) {
      series_.for_each_box([&](const Extent& start, const Extent& size) { add(start, size); });
      return;
    }
    hand_out();
    for_each_run(series_.slab(), extent_, [&](Run run) { group_.runs.push_back(run); });
    group_.selection = encoded_regular(series_.slab());
    visit_(group_);
    group_.runs.clear();
  }

  void add(const Extent& start, const Extent& size) {
    if (corners_.size() == 2 * extent_.size() * hyperslabs_of_mapping) hand_out();
    corners_.insert(corners_.end(), start.begin(), start.end());
    std::uint64_t offset = 0;
    std::uint64_t elements = 1;
    for (std::size_t d = 0; d < extent_.size(); ++d) {
      corners_.push_back(start[d] + size[d] - 1);
      offset = offset * extent_[d] + start[d];
      elements *= size[d];
    }
    if (elements == size.back()) {
      group_.runs.push_back({offset, elements});
    } else {
      for_each_run(make_box(start, size), extent_, [&](Run run) { group_.runs.push_back(run); });
    }
  }

  void hand_out() {
    if (corners_.empty()) return;
    if (!std::is_sorted(group_.runs.begin(), group_.runs.end())) {
      std::sort(group_.runs.begin(), group_.runs.end());
    }
    group_.selection = encoded_union(extent_, corners_);
    visit_(group_);
    group_.runs.clear();
    corners_.clear();
  }

  const Extent& extent_;
  const std::function<void(const MappingGroup&)>& visit_;
  Series series_;
  std::vector<std::uint64_t> corners_;
  MappingGroup group_;
};

}  // namespace

void for_each_mapping_group(std::span<const Run> runs, const Extent& extent,
                            const std::function<void(const MappingGroup&)>& visit) {
  Grouping grouping(extent, visit);
  for_each_row_box(runs, extent, [&](const Hyperslab& box) { grouping.add(box); });
  grouping.finish();
}

}  // namespace slabmark::logvol
