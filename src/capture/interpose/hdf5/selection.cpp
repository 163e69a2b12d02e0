#include "capture/interpose/hdf5/selection.hpp"

#include <algorithm>
#include <array>

#include "capture/interpose/hdf5/library.hpp"
#include "core/geometry/extent.hpp"
#include "core/geometry/run.hpp"
#include "core/geometry/strided_walk.hpp"

namespace slabmark::capture {

namespace {

using Numbers = std::vector<std::uint64_t>;
static_assert(sizeof(hsize_t) == sizeof(std::uint64_t));

hsize_t* as_hsize(std::uint64_t* numbers) { return reinterpret_cast<hsize_t*>(numbers); }

/// A dataspace may have an offset (H5Soffset_simple), which HDF5 adds to the bounds alone.
/// `lowest`: of the selection without it; `move`: adds it to a coordinate.
template <class Move>
bool add_offset(hid_t space, const Numbers& lowest, const Move& move) {
  const auto rank = lowest.size();
  std::array<hsize_t, 2 * H5S_MAX_RANK> bounds;
  if (hdf5().H5Sget_select_bounds(space, bounds.data(), bounds.data() + rank) < 0) return false;
  for (std::size_t d = 0; d < rank; ++d) {
    if (bounds[d] != lowest[d]) move(d, bounds[d] - lowest[d]);
  }
  return true;
}

bool points_of(hid_t space, std::size_t rank, Selected& result) {
  const auto count = hdf5().H5Sget_select_elem_npoints(space);
  if (count < 0) return false;
  auto& numbers = result.numbers;
  numbers.resize(static_cast<std::size_t>(count) * rank);
  if (hdf5().H5Sget_select_elem_pointlist(space, 0, static_cast<hsize_t>(count),
                                          as_hsize(numbers.data())) < 0) {
    return false;
  }
  result.kind = Selected::Kind::points;
  Numbers lowest(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(rank));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    lowest[i % rank] = std::min(lowest[i % rank], numbers[i]);
  }
  return add_offset(space, lowest, [&](std::size_t d, std::uint64_t by) {
    for (std::size_t i = d; i < numbers.size(); i += rank) numbers[i] += by;
  });
}

bool hyperslab_of(hid_t space, std::size_t rank, Selected& result) {
  auto& numbers = result.numbers;
  numbers.resize(4 * rank);
  auto* start = as_hsize(numbers.data());
  if (hdf5().H5Sget_regular_hyperslab(space, start, start + rank, start + 2 * rank,
                                      start + 3 * rank) < 0) {
    return false;
  }
  const Numbers lowest(start, start + rank);
  if (!add_offset(space, lowest, [&](std::size_t d, std::uint64_t by) { numbers[d] += by; })) {
    return false;
  }
  result.kind = Selected::Kind::hyperslab;
  bool is_block = true;
  for (std::size_t d = 0; d < rank; ++d) is_block = is_block && numbers[2 * rank + d] == 1;
  if (is_block) {
    result.kind = Selected::Kind::blocks;
    numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(rank),
                  numbers.begin() + static_cast<std::ptrdiff_t>(3 * rank));
  }
  return true;
}

/// HDF5 walks the elements of a union of blocks in the order of the array, and elements of blocks
/// that lie beside each other by turns: then the blocks are cut into rows.
void put_in_order(const Numbers& extent, Numbers& blocks) {
  const auto rank = extent.size();
  std::uint64_t end = 0;
  bool is_in_order = true;
  Numbers last(rank);
  for (std::size_t block = 0; block < blocks.size() && is_in_order; block += 2 * rank) {
    const auto* start = blocks.data() + block;
    is_in_order = offset_of(start, extent) >= end;
    for (std::size_t d = 0; d < rank; ++d) last[d] = start[d] + start[rank + d] - 1;
    end = offset_of(last.data(), extent) + 1;
  }
  if (is_in_order) return;
  std::vector<std::int64_t> weights(rank, 1);  // elements from one index to the next
  for (auto d = rank; d-- > 1;) weights[d - 1] = weights[d] * static_cast<std::int64_t>(extent[d]);
  RunList rows;
  StridedWalk walk;
  for (std::size_t block = 0; block < blocks.size(); block += 2 * rank) {
    const auto* count = blocks.data() + block + rank;
    walk.restart(static_cast<std::int64_t>(offset_of(blocks.data() + block, extent)));
    for (std::size_t d = 0; d + 1 < rank; ++d) walk.add(count[d], weights[d]);
    walk.for_each([&](std::int64_t place) {
      rows.push_back({static_cast<std::uint64_t>(place), count[rank - 1]});
    });
  }
  std::sort(rows.begin(), rows.end());
  blocks.clear();
  for (const Run row : rows) {
    const auto begin = blocks.size();
    blocks.resize(begin + 2 * rank, 1);
    store_indices(row.offset, extent, blocks.data() + begin);
    blocks.back() = row.length;
  }
}

bool blocks_of(hid_t space, std::size_t rank, Selected& result) {
  const auto count = hdf5().H5Sget_select_hyper_nblocks(space);
  if (count <= 0) return false;
  auto& numbers = result.numbers;
  numbers.resize(static_cast<std::size_t>(count) * 2 * rank);
  if (hdf5().H5Sget_select_hyper_blocklist(space, 0, static_cast<hsize_t>(count),
                                           as_hsize(numbers.data())) < 0) {
    return false;
  }
  result.kind = Selected::Kind::blocks;
  Numbers lowest(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(rank));
  for (std::size_t block = 0; block < numbers.size(); block += 2 * rank) {
    for (std::size_t d = 0; d < rank; ++d) {
      lowest[d] = std::min(lowest[d], numbers[block + d]);
      numbers[block + rank + d] -= numbers[block + d] - 1;  // from the last element to a count
    }
  }
  if (!add_offset(space, lowest, [&](std::size_t d, std::uint64_t by) {
        for (std::size_t i = d; i < numbers.size(); i += 2 * rank) numbers[i] += by;
      })) {
    return false;
  }
  put_in_order(result.extent, numbers);
  return true;
}

}  // namespace

Numbers extent_of(hid_t space) {
  const auto rank = hdf5().H5Sget_simple_extent_ndims(space);
  Numbers extent(static_cast<std::size_t>(std::max(0, rank)));
  if (rank > 0) hdf5().H5Sget_simple_extent_dims(space, as_hsize(extent.data()), nullptr);
  return extent;
}

bool selected_by(hid_t space, const Numbers& extent, Selected& result) {
  result.kind = Selected::Kind::all;
  result.extent = extent;
  result.numbers.clear();
  if (space == H5S_ALL) return true;
#ifdef H5S_PLIST
  if (space == H5S_PLIST) return false;  // what the transfer list has is not to be asked for
#endif
  result.extent = extent_of(space);
  const auto rank = result.extent.size();
  switch (hdf5().H5Sget_select_type(space)) {
    case H5S_SEL_NONE:
      result.kind = Selected::Kind::none;
      return true;
    case H5S_SEL_ALL:
      return true;
    case H5S_SEL_POINTS:
      return points_of(space, rank, result);
    case H5S_SEL_HYPERSLABS:
      return hdf5().H5Sis_regular_hyperslab(space) > 0 ? hyperslab_of(space, rank, result)
                                                       : blocks_of(space, rank, result);
    default:
      return false;
  }
}

}  // namespace slabmark::capture
