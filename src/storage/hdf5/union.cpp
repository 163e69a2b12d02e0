#include "storage/hdf5/union.hpp"

#include <algorithm>
#include <utility>

namespace slabmark::hdf5 {

UnionBuilder::UnionBuilder(Extent extent, bool leading_time, std::size_t leaf)
    : extent_(std::move(extent)),
      leading_time_(leading_time),
      leaf_(std::max<std::size_t>(1, leaf)),
      current_(Space::nothing_of(extent_, leading_time_)) {}

void UnionBuilder::add(const Hyperslab& slab) {
  if (element_count(slab) == 0) return;
  ++hyperslabs_;
  current_.unite(slab, leading_time_);
  if (++in_current_ == leaf_) close_leaf();
}

void UnionBuilder::add(Run run) {
  if (run.length == 0) return;
  const auto row = extent_.empty() ? 1 : extent_.back();
  if (run.offset / row == (run.end() - 1) / row) {
    hyperslab_of_row_run(run, extent_, slab_);
    add(slab_);
    return;
  }
  for (const auto& box : boxes_of_range(run, extent_)) add(box);
}

void UnionBuilder::close_leaf() {
  parts_.push_back({std::exchange(current_, Space::nothing_of(extent_, leading_time_)), 1});
  in_current_ = 0;
  while (parts_.size() > 1 && parts_[parts_.size() - 2].leaves == parts_.back().leaves) {
    merge_last_two();
  }
}

void UnionBuilder::merge_last_two() {
  auto last = std::move(parts_.back());
  parts_.pop_back();
  // In place: H5Scombine_select would copy both, and took twice as long. `last` frees its memory
  // here.
  parts_.back().space.unite(last.space);
  parts_.back().leaves += last.leaves;
}

Space UnionBuilder::finish() {
  if (in_current_ > 0) close_leaf();
  while (parts_.size() > 1) merge_last_two();
  auto result =
      parts_.empty() ? Space::nothing_of(extent_, leading_time_) : std::move(parts_.back().space);
  parts_.clear();
  hyperslabs_ = 0;
  return result;
}

}  // namespace slabmark::hdf5
