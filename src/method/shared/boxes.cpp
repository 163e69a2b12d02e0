#include "method/shared/boxes.hpp"

#include <algorithm>

namespace slabmark {

namespace {

using Visit = std::function<void(const Extent&, const Extent&)>;

std::uint64_t volume(const Extent& size, std::size_t from) {
  std::uint64_t product = 1;
  for (std::size_t d = from; d < size.size(); ++d) product *= size[d];
  return product;
}

// Cuts a box along its slowest dimension that can be cut, then, where one layer is still too large,
// along the next.
void cut(Extent& start, Extent& size, std::size_t from, std::uint64_t most, const Visit& visit) {
  while (from < size.size() && size[from] == 1) ++from;
  if (from == size.size() || volume(size, from) <= most) {
    visit(start, size);
    return;
  }
  const auto layer = std::max<std::uint64_t>(1, volume(size, from + 1));
  const auto layers = std::max<std::uint64_t>(1, most / layer);
  const auto whole_start = start[from];
  const auto whole_size = size[from];
  for (std::uint64_t done = 0; done < whole_size; done += layers) {
    start[from] = whole_start + done;
    size[from] = std::min(layers, whole_size - done);
    cut(start, size, from + 1, most, visit);
  }
  start[from] = whole_start;
  size[from] = whole_size;
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

// Enumerates the coordinates of the dimensions before `last`, then the blocks of `last` itself.
void expand(const Hyperslab& slab, std::size_t d, std::size_t last, Extent& start, Extent& size,
            std::uint64_t most, const Visit& visit) {
  if (d > last) {
    cut(start, size, 0, most, visit);
    return;
  }
  for (std::uint64_t i = 0; i < slab.count[d]; ++i) {
    const auto block = slab.start[d] + i * slab.stride[d];
    if (d == last) {
      start[d] = block;
      size[d] = slab.block[d];
      expand(slab, d + 1, last, start, size, most, visit);
      continue;
    }
    size[d] = 1;
    for (std::uint64_t within = 0; within < slab.block[d]; ++within) {
      start[d] = block + within;
      expand(slab, d + 1, last, start, size, most, visit);
    }
  }
}

}  // namespace

void for_each_box(const Hyperslab& slab, std::uint64_t most_elements, const Visit& visit) {
  const auto elements = element_count(slab);
  if (elements == 0) return;
  // A decomposition has millions of these: nothing is copied.
  if (elements <= most_elements && is_one_block(slab)) {
    visit(slab.start, slab.block);
    return;
  }
  const auto joined = with_touching_blocks_joined(slab);
  auto start = joined.start;
  auto size = joined.block;
  for (std::size_t d = joined.count.size(); d-- > 0;) {
    if (joined.count[d] == 1) continue;
    expand(joined, 0, d, start, size, most_elements, visit);
    return;
  }
  cut(start, size, 0, most_elements, visit);
}

}  // namespace slabmark
