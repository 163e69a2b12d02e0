#include "storage/hdf5/space.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace slabmark::hdf5 {

namespace {

const std::string dataspace = "a dataspace";

using Dims = std::array<hsize_t, H5S_MAX_RANK>;

/// Selects `slab`; with a `time`, in an array that has such a dimension in front.
void select(hid_t space, H5S_seloper_t how, const Hyperslab& slab,
            std::optional<std::uint64_t> time) {
  if (slab.start.empty() && !time) {
    check(H5Sselect_all(space), "H5Sselect_all", dataspace);
    return;
  }
  const auto with_time = [&](const Extent& of_slab, std::uint64_t of_time) {
    Dims dims;
    dims[0] = of_time;
    std::copy(of_slab.begin(), of_slab.end(), dims.begin() + (time ? 1 : 0));
    return dims;
  };
  const Dims start = with_time(slab.start, time.value_or(0));
  const Dims stride = with_time(slab.stride, 1);
  const Dims count = with_time(slab.count, 1);
  const Dims block = with_time(slab.block, 1);
  check(H5Sselect_hyperslab(space, how, start.data(), stride.data(), count.data(), block.data()),
        "H5Sselect_hyperslab", dataspace);
}

hid_t create(const Extent& extent, bool unlimited) {
  if (extent.empty()) return H5Screate(H5S_SCALAR);
  const std::vector<hsize_t> dims(extent.begin(), extent.end());
  auto most = dims;
  if (unlimited) most.front() = H5S_UNLIMITED;
  return H5Screate_simple(static_cast<int>(dims.size()), dims.data(), most.data());
}

}  // namespace

Space::Space(const Extent& extent, bool unlimited)
    : handle_(own(create(extent, unlimited), H5Sclose, "H5Screate_simple", dataspace)) {}

Space Space::nothing_of(const Extent& extent, bool leading_time) {
  auto whole = extent;
  if (leading_time) whole.insert(whole.begin(), 1);
  Space space(whole, leading_time);
  space.select_none();
  return space;
}

Extent Space::extent() const {
  std::array<hsize_t, H5S_MAX_RANK> dims;
  const auto rank = H5Sget_simple_extent_dims(get(), dims.data(), nullptr);
  check(rank, "H5Sget_simple_extent_dims", dataspace);
  return {dims.begin(), dims.begin() + rank};
}

std::uint64_t Space::selected() const {
  const auto points = H5Sget_select_npoints(get());
  if (points < 0) fail("H5Sget_select_npoints", dataspace);
  return static_cast<std::uint64_t>(points);
}

void Space::select_all() { check(H5Sselect_all(get()), "H5Sselect_all", dataspace); }

void Space::select_none() { check(H5Sselect_none(get()), "H5Sselect_none", dataspace); }

void Space::select(const Hyperslab& slab, std::optional<std::uint64_t> time) {
  hdf5::select(get(), H5S_SELECT_SET, slab, time);
}

void Space::unite(const Hyperslab& slab, bool leading_time) {
  hdf5::select(get(), H5S_SELECT_OR, slab,
               leading_time ? std::optional<std::uint64_t>(0) : std::nullopt);
}

void Space::unite(const Space& other) {
  check(H5Smodify_select(get(), H5S_SELECT_OR, other.get()), "H5Smodify_select", dataspace);
}

void Space::select_points(std::span<const hsize_t> coordinates) {
  const auto rank = H5Sget_simple_extent_ndims(get());
  if (coordinates.empty()) {
    select_none();
  } else if (rank == 0) {
    select_all();
  } else {
    check(
        H5Sselect_elements(get(), H5S_SELECT_SET,
                           coordinates.size() / static_cast<std::size_t>(rank), coordinates.data()),
        "H5Sselect_elements", dataspace);
  }
}

void Space::move_to(std::uint64_t time, const Extent& extent) {
  const std::vector<hsize_t> dims(extent.begin(), extent.end());
  auto most = dims;
  most.front() = H5S_UNLIMITED;
  // Keeps the selection, but not its offset.
  check(H5Sset_extent_simple(get(), static_cast<int>(dims.size()), dims.data(), most.data()),
        "H5Sset_extent_simple", dataspace);
  std::vector<hssize_t> offset(dims.size(), 0);
  offset.front() = static_cast<hssize_t>(time);
  check(H5Soffset_simple(get(), offset.data()), "H5Soffset_simple", dataspace);
}

void Space::shift(std::uint64_t from, std::uint64_t time, const Extent& extent) {
  const std::vector<hsize_t> dims(extent.begin(), extent.end());
  check(H5Sset_extent_simple(get(), static_cast<int>(dims.size()), dims.data(), nullptr),
        "H5Sset_extent_simple", dataspace);
  if (selected() == 0) return;  // HDF5 does not move what is nothing
  std::vector<hssize_t> back(dims.size(), 0);
  back.front() = static_cast<hssize_t>(from) - static_cast<hssize_t>(time);
  check(H5Sselect_adjust(get(), back.data()), "H5Sselect_adjust", dataspace);
}

void Space::become_dense(const Hyperslab& slab, bool leading_time) {
  Dims dims{1};
  std::size_t rank = leading_time ? 1 : 0;
  for (std::size_t d = 0; d < slab.count.size(); ++d) dims[rank++] = slab.count[d] * slab.block[d];
  rank = std::max<std::size_t>(rank, 1);  // a scalar's element is a line of one
  check(H5Sset_extent_simple(get(), static_cast<int>(rank), dims.data(), nullptr),
        "H5Sset_extent_simple", dataspace);
  select_all();
}

void Space::become_line(std::uint64_t elements) {
  const hsize_t length = elements;
  check(H5Sset_extent_simple(get(), 1, &length, nullptr), "H5Sset_extent_simple", dataspace);
  select_all();
}

}  // namespace slabmark::hdf5
