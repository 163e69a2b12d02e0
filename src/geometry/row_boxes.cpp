#include <algorithm>

#include "geometry/hyperslab.hpp"

namespace slabmark {

namespace {

/// Neighbouring rows with the same runs of columns.
struct Rows {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::span<const Run> runs;  ///< of the first row
};

class RowGrouping {
 public:
  RowGrouping(const Extent& extent, const std::function<void(const Hyperslab&)>& visit)
      : extent_(extent),
        visit_(visit),
        columns_(extent.back()),
        rows_of_plane_(extent[extent.size() - 2]) {}

  void add_row(std::uint64_t row, std::span<const Run> runs) {
    if (continues(row, runs)) {
      ++group_.count;
      return;
    }
    emit();
    group_ = {row, 1, runs};
  }

  void emit() {
    for (const auto run : group_.runs) {
      hyperslab_of_row_run(run, extent_, box_);
      box_.block[extent_.size() - 2] = group_.count;
      visit_(box_);
    }
    group_ = {};
  }

 private:
  bool continues(std::uint64_t row, std::span<const Run> runs) const {
    if (group_.count == 0 || row != group_.first + group_.count) return false;
    if (row / rows_of_plane_ != group_.first / rows_of_plane_) return false;
    const auto shift = group_.count * columns_;
    return std::equal(runs.begin(), runs.end(), group_.runs.begin(), group_.runs.end(),
                      [shift](Run later, Run earlier) {
                        return later.offset == earlier.offset + shift &&
                               later.length == earlier.length;
                      });
  }

  const Extent& extent_;
  const std::function<void(const Hyperslab&)>& visit_;
  std::uint64_t columns_;
  std::uint64_t rows_of_plane_;
  Rows group_;
  Hyperslab box_;  ///< its storage reused
};

}  // namespace

void for_each_row_box(std::span<const Run> sorted, const Extent& extent,
                      const std::function<void(const Hyperslab&)>& visit) {
  if (extent.size() < 2) {
    Hyperslab box;
    for (const auto run : sorted) {
      hyperslab_of_row_run(run, extent, box);
      visit(box);
    }
    return;
  }
  RowGrouping rows(extent, visit);
  const auto columns = extent.back();
  for (std::size_t i = 0; i < sorted.size();) {
    const auto run = sorted[i];
    const auto row = run.offset / columns;
    if ((run.end() - 1) / columns != row) {
      rows.emit();
      for (const auto& box : boxes_of_range(run, extent)) visit(box);
      ++i;
      continue;
    }
    auto end = i + 1;
    while (end < sorted.size() && sorted[end].end() <= (row + 1) * columns) ++end;
    rows.add_row(row, sorted.subspan(i, end - i));
    i = end;
  }
  rows.emit();
}

}  // namespace slabmark
