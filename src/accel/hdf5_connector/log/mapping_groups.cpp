#include "accel/hdf5_connector/log/mapping_groups.hpp"

#include <algorithm>
#include <utility>

namespace slabmark::slablog {

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

  void for_each_box(const std::function<void(const Hyperslab&)>& visit) {
    auto box = make_box(slab_.start, slab_.block);
    for (std::uint64_t i = 0; i < count_; ++i) {
      visit(box);
      if (count_ > 1) box.start[dimension_] += slab_.stride[dimension_];
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
  Grouping(const Extent& extent, const std::function<void(MappingGroup&&)>& visit)
      : extent_(extent), visit_(visit) {
    begin();
  }

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
    if (series_.count() > hyperslabs_of_mapping) {
      hand_out();
      group_.selection.select(series_.slab());
      add_runs(series_.slab());
      hand_out();
    } else {
      series_.for_each_box([&](const Hyperslab& box) {
        if (boxes_ == hyperslabs_of_mapping) hand_out();
        ++boxes_;
        group_.selection.unite(box, false);
        add_runs(box);
      });
    }
  }

  void add_runs(const Hyperslab& slab) {
    for_each_run(slab, extent_, [&](Run run) { group_.runs.push_back(run); });
  }

  void begin() {
    group_ = {{}, hdf5::Space::nothing_of(extent_, false)};
    boxes_ = 0;
  }

  void hand_out() {
    if (group_.runs.empty()) return;
    if (!std::is_sorted(group_.runs.begin(), group_.runs.end())) {
      std::sort(group_.runs.begin(), group_.runs.end());
    }
    visit_(std::move(group_));
    begin();
  }

  const Extent& extent_;
  const std::function<void(MappingGroup&&)>& visit_;
  Series series_;
  MappingGroup group_;
  std::size_t boxes_ = 0;  ///< of the group
};

}  // namespace

void for_each_mapping_group(std::span<const Run> runs, const Extent& extent,
                            const std::function<void(MappingGroup&&)>& visit) {
  Grouping grouping(extent, visit);
  for_each_row_box(runs, extent, [&](const Hyperslab& box) { grouping.add(box); });
  grouping.finish();
}

}  // namespace slabmark::slablog
