#include "capture/replay/hdf5/selections.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "storage/hdf5/union.hpp"

namespace slabmark {

namespace {

using hdf5::Space;

constexpr std::size_t most_spaces = 256;

bool has_one_box(const BoxArray& boxes) { return boxes.count == 1; }

/// Box `i` of a list whose boxes begin at `origin`.
Hyperslab slab_of(const BoxArray& boxes, std::size_t i, std::span<const std::int64_t> origin) {
  Hyperslab slab;
  for (std::size_t d = 0; d < boxes.rank; ++d) {
    const auto k = i * boxes.rank + d;
    const auto start = boxes.starts[k] + (d < origin.size() ? origin[d] : 0);
    slab.start.push_back(static_cast<std::uint64_t>(start));
    slab.count.push_back(static_cast<std::uint64_t>(boxes.counts[k]));
    slab.stride.push_back(boxes.strides.empty() ? 1 : static_cast<std::uint64_t>(boxes.strides[k]));
    slab.block.push_back(boxes.blocks.empty() ? 1 : static_cast<std::uint64_t>(boxes.blocks[k]));
    if (boxes.strides.empty()) {  // one block, as programs say it
      slab.block.back() = slab.count.back();
      slab.stride.back() = std::max<std::uint64_t>(1, slab.count.back());
      slab.count.back() = 1;
    }
  }
  return slab;
}

/// The boxes, or points, in an array with a further dimension of that length, all of it.
BoxArray deepened(const BoxArray& boxes, std::uint64_t length, bool by_points) {
  const std::size_t copies = by_points ? length : 1;
  BoxArray deep;
  deep.rank = boxes.rank + 1;
  deep.count = boxes.count * copies;
  const auto deepen = [&](const std::vector<std::int64_t>& of, std::vector<std::int64_t>& to,
                          const auto& last) {
    for (std::size_t at = 0; at < of.size(); at += boxes.rank) {
      const auto begin = of.begin() + static_cast<std::ptrdiff_t>(at);
      for (std::size_t copy = 0; copy < copies; ++copy) {
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(boxes.rank));
        to.push_back(last(copy));
      }
    }
  };
  const auto one = [](std::size_t) { return std::int64_t{1}; };
  deepen(boxes.starts, deep.starts, [](std::size_t copy) { return std::int64_t(copy); });
  deepen(boxes.counts, deep.counts, [&](std::size_t) { return std::int64_t(length / copies); });
  deepen(boxes.strides, deep.strides, one);
  deepen(boxes.blocks, deep.blocks, one);
  return deep;
}

Space selected(const BoxArray& boxes, std::span<const std::int64_t> origin, const Extent& extent,
               bool by_points) {
  Space space(extent);
  if (boxes.rank < extent.size()) {
    return boxes.rank == 0
               ? std::move(space)
               : selected(deepened(boxes, extent.back(), by_points), origin, extent, by_points);
  }
  if (by_points) {
    std::vector<hsize_t> coordinates;
    for (std::size_t k = 0; k < boxes.starts.size(); ++k) {
      const auto d = k % boxes.rank;
      coordinates.push_back(
          static_cast<hsize_t>(boxes.starts[k] + (d < origin.size() ? origin[d] : 0)));
    }
    space.select_points(coordinates);
  } else if (has_one_box(boxes)) {
    space.select(slab_of(boxes, 0, origin));
  } else {
    hdf5::UnionBuilder unite(extent);
    for (std::size_t i = 0; i < boxes.count; ++i) unite.add(slab_of(boxes, i, origin));
    return unite.finish();
  }
  return space;
}

/// The selections of an event by points: 1 in the file, 2 in memory.
bool is_by_points(const CapturedEvent& event, std::int64_t where) {
  return !event.arguments.empty() && (event.arguments[0] & where) != 0;
}

}  // namespace

// Programs make a selection once and use it for many datasets and steps; that is no part of the
// calls.
const Space& Hdf5Selections::in_file(const CapturedEvent& event, const Extent& extent) {
  std::vector<std::uint64_t> key{static_cast<std::uint64_t>(event.selection), event.list,
                                 is_by_points(event, 1) ? 1u : 0u};
  key.insert(key.end(), extent.begin(), extent.end());
  key.insert(key.end(), event.counts.begin(), event.counts.end());
  for (const auto start : event.origin) key.push_back(static_cast<std::uint64_t>(start));
  if (const auto found = spaces_.find(key); found != spaces_.end()) return found->second;
  if (spaces_.size() >= most_spaces) spaces_.clear();
  Space space(extent);
  switch (event.selection) {
    case CapturedEvent::Selection::all:
      break;
    case CapturedEvent::Selection::nothing:
      space.select_none();
      break;
    case CapturedEvent::Selection::box: {
      BoxArray box;
      box.rank = event.counts.size();
      box.count = 1;
      box.starts.assign(box.rank, 0);
      box.counts.assign(event.counts.begin(), event.counts.end());
      space = selected(box, event.origin, extent, is_by_points(event, 1));
      break;
    }
    case CapturedEvent::Selection::list:
      space = selected(rank_.lists.get(event.list), event.origin, extent, is_by_points(event, 1));
  }
  return spaces_[std::move(key)] = std::move(space);
}

Extent Hdf5Selections::bytes_of_elements(const CapturedEvent& event, const Space& in_file) const {
  const Extent extent = in_file.extent();
  if (extent.size() <= rank_.definition(event.dataset).at("extent").size()) return {};
  return {extent.back()};
}

Space Hdf5Selections::in_memory(const CapturedEvent& event, const Space& in_file) const {
  const Extent bytes = bytes_of_elements(event, in_file);
  if (event.memory) {
    const auto boxes = rank_.lists.get(*event.memory);
    Extent extent(boxes.extent.begin(), boxes.extent.end());
    extent.insert(extent.end(), bytes.begin(), bytes.end());
    return selected(boxes, boxes.origin, extent, is_by_points(event, 2));
  }
  // Dense, in the shape that capture takes for the natural one.
  Extent shape{in_file.selected()};
  if (event.selection == CapturedEvent::Selection::all) {
    shape = in_file.extent();
  } else if (event.selection == CapturedEvent::Selection::box && !is_by_points(event, 1)) {
    shape.assign(event.counts.begin(), event.counts.end());
    shape.insert(shape.end(), bytes.begin(), bytes.end());
  } else if (event.selection == CapturedEvent::Selection::list && !is_by_points(event, 1)) {
    const auto boxes = rank_.lists.get(event.list);
    if (has_one_box(boxes)) {
      shape.clear();
      const auto slab = slab_of(boxes, 0, {});
      for (std::size_t d = 0; d < boxes.rank; ++d) shape.push_back(slab.count[d] * slab.block[d]);
      shape.insert(shape.end(), bytes.begin(), bytes.end());
    }
  } else if (event.selection == CapturedEvent::Selection::nothing) {
    Space none(Extent{1});
    none.select_none();
    return none;
  }
  return Space(shape);
}

}  // namespace slabmark
