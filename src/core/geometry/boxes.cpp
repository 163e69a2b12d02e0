#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/geometry/hyperslab.hpp"

namespace slabmark {

namespace {

using VisitBox = std::function<void(const Extent&, const Extent&)>;

std::uint64_t volume(const Extent& size, std::size_t from) {
  std::uint64_t product = 1;
  for (std::size_t d = from; d < size.size(); ++d) product *= size[d];
  return product;
}

bool is_one_block(const Hyperslab& slab) {
  return std::all_of(slab.count.begin(), slab.count.end(), [](auto count) { return count == 1; });
}

// Blocks that touch are one block.
Hyperslab with_touching_blocks_joined(Hyperslab slab) {
  for (std::size_t d = 0; d < slab.start.size(); ++d) {
    if (slab.count[d] > 1 && slab.stride[d] == slab.block[d]) {
      slab.block[d] *= slab.count[d];
      slab.count[d] = 1;
    }
  }
  return slab;
}

/// The boxes of a hyperslab, each of at most `most` elements.
class BoxCutter {
 public:
  BoxCutter(Hyperslab slab, std::uint64_t most, const VisitBox& visit)
      : slab_(std::move(slab)),
        start_(slab_.start),
        size_(slab_.block),
        expanded_(slab_.count.size()),
        most_(most),
        visit_(visit) {
    while (expanded_ > 0 && slab_.count[expanded_ - 1] == 1) --expanded_;
  }

  void run() { expand(0); }

 private:
  // Enumerates the coordinates of the dimensions before the last that has several blocks, then the
  // blocks of that one itself.
  void expand(std::size_t d) {
    if (d == expanded_) return cut(0);
    const auto block = slab_.block[d];
    size_[d] = d + 1 == expanded_ ? block : 1;
    for (std::uint64_t i = 0; i < slab_.count[d] * block; i += size_[d]) {
      start_[d] = slab_.start[d] + i / block * slab_.stride[d] + i % block;
      expand(d + 1);
    }
  }

  // Cuts the box along its slowest dimension that can be cut, then, where one layer is still too
  // large, along the next.
  void cut(std::size_t from) {
    while (from < size_.size() && size_[from] == 1) ++from;
    if (from == size_.size() || volume(size_, from) <= most_) return visit_(start_, size_);
    const auto layer = std::max<std::uint64_t>(1, volume(size_, from + 1));
    const auto layers = std::max<std::uint64_t>(1, most_ / layer);
    const auto whole_start = start_[from];
    const auto whole_size = size_[from];
    for (std::uint64_t done = 0; done < whole_size; done += layers) {
      start_[from] = whole_start + done;
      size_[from] = std::min(layers, whole_size - done);
      cut(from + 1);
    }
    start_[from] = whole_start;
    size_[from] = whole_size;
  }

  const Hyperslab slab_;
  Extent start_, size_;
  std::size_t expanded_;  ///< dimensions up to the last that has several blocks
  const std::uint64_t most_;
  const VisitBox& visit_;
};

// A run from the end of a row into the next one becomes one of each: a rank with the last column
// and the first would have no two rows alike otherwise.
RunList apart_at_rows(std::span<const Run> runs, std::uint64_t columns) {
  RunList result;
  result.reserve(runs.size());
  for (const Run run : runs) {
    const std::uint64_t left = columns - run.offset % columns;  // of its row
    const bool wraps = run.length > left && run.length < columns;
    result.push_back({run.offset, wraps ? left : run.length});
    if (wraps) result.push_back({run.offset + left, run.length - left});
  }
  return result;
}

}  // namespace

void for_each_box(const Hyperslab& slab, std::uint64_t most_elements, const VisitBox& visit) {
  const auto elements = element_count(slab);
  if (elements == 0) return;
  // A decomposition has millions of these: nothing is copied.
  if (elements <= most_elements && is_one_block(slab)) {
    visit(slab.start, slab.block);
    return;
  }
  BoxCutter(with_touching_blocks_joined(slab), most_elements, visit).run();
}

std::vector<Hyperslab> boxes_of_range(Run range, const Extent& extent) {
  const std::uint64_t total = element_count(extent);
  if (range.offset > total || range.length > total - range.offset) {
    throw InputError(fmt::format("The {} elements from {} on end beyond an array of {}.",
                                 range.length, range.offset, to_string(extent)));
  }
  std::vector<Hyperslab> boxes;
  while (range.length > 0) {
    Hyperslab box;
    hyperslab_of_row_run({range.offset, 1}, extent, box);
    // The slowest dimension at an index of which the rest begins, and of which it has a whole one.
    std::uint64_t inner = total;
    for (std::size_t d = 0; d < extent.size(); ++d) {
      inner /= extent[d];
      if (range.offset % inner != 0 || range.length < inner) continue;
      box.block[d] = std::min(range.length / inner, extent[d] - box.start[d]);
      std::copy(extent.begin() + d + 1, extent.end(), box.block.begin() + d + 1);
      break;
    }
    const std::uint64_t length = element_count(box.block);
    range = {range.offset + length, range.length - length};
    boxes.push_back(std::move(box));
  }
  return boxes;
}

void for_each_row_box(std::span<const Run> whole, const Extent& extent,
                      const std::function<void(const Hyperslab&)>& visit) {
  const std::size_t rank = extent.size();
  const std::uint64_t columns = rank < 1 ? 1 : extent.back();
  const std::uint64_t rows_of_plane = rank < 2 ? 1 : extent[rank - 2];
  const RunList apart = apart_at_rows(whole, columns);
  const std::span<const Run> sorted(apart);
  const auto end_of_row = [&](std::size_t i, std::uint64_t row) {
    while (i < sorted.size() && sorted[i].end() <= (row + 1) * columns) ++i;
    return i;
  };
  Hyperslab box;
  for (std::size_t first = 0; first < sorted.size();) {
    const std::uint64_t row = sorted[first].offset / columns;
    const auto runs = sorted.subspan(first, end_of_row(first, row) - first);
    if (runs.empty()) {
      for (const auto& part : boxes_of_range(sorted[first++], extent)) visit(part);
      continue;
    }
    // The rows below it in the same plane that have the same columns.
    std::uint64_t rows = 0;
    std::span<const Run> next = runs;
    do {
      ++rows;
      first += runs.size();
      next = sorted.subspan(first, end_of_row(first, row + rows) - first);
    } while ((row + rows) % rows_of_plane != 0 &&
             std::equal(runs.begin(), runs.end(), next.begin(), next.end(),
                        [shift = rows * columns](Run above, Run below) {
                          return below == Run{above.offset + shift, above.length};
                        }));
    for (const Run run : runs) {
      hyperslab_of_row_run(run, extent, box);
      if (rank > 1) box.block[rank - 2] = rows;
      visit(box);
    }
  }
}

}  // namespace slabmark
