#include "storage/hdf5/space.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace slabmark::hdf5 {

namespace {

const std::string in_memory = "a dataspace";

using Dims = std::array<hsize_t, H5S_MAX_RANK>;

struct SlabDims {
  Dims start, stride, count, block;
};

// `skip` dimensions in front are left to the caller.
SlabDims dims_of(const Hyperslab& slab, std::size_t skip) {
  SlabDims dims;
  std::copy(slab.start.begin(), slab.start.end(), dims.start.begin() + skip);
  std::copy(slab.stride.begin(), slab.stride.end(), dims.stride.begin() + skip);
  std::copy(slab.count.begin(), slab.count.end(), dims.count.begin() + skip);
  std::copy(slab.block.begin(), slab.block.end(), dims.block.begin() + skip);
  return dims;
}

void select(hid_t space, const SlabDims& dims, H5S_seloper_t how = H5S_SELECT_SET) {
  check(H5Sselect_hyperslab(space, how, dims.start.data(), dims.stride.data(), dims.count.data(),
                            dims.block.data()),
        "H5Sselect_hyperslab", in_memory);
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
    : handle_(own(create(extent, unlimited), H5Sclose, "H5Screate_simple", in_memory)) {}

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
  check(rank, "H5Sget_simple_extent_dims", in_memory);
  return {dims.begin(), dims.begin() + rank};
}

std::uint64_t Space::selected() const {
  const auto points = H5Sget_select_npoints(get());
  if (points < 0) fail("H5Sget_select_npoints", in_memory);
  return static_cast<std::uint64_t>(points);
}

void Space::select_all() { check(H5Sselect_all(get()), "H5Sselect_all", in_memory); }

void Space::select_none() { check(H5Sselect_none(get()), "H5Sselect_none", in_memory); }

void Space::select(const Hyperslab& slab) {
  if (slab.start.empty()) {
    select_all();
    return;
  }
  hdf5::select(get(), dims_of(slab, 0));
}

void Space::select(const Hyperslab& slab, std::uint64_t time) {
  auto dims = dims_of(slab, 1);
  dims.start[0] = time;
  dims.stride[0] = dims.count[0] = dims.block[0] = 1;
  hdf5::select(get(), dims);
}

void Space::unite(const Hyperslab& slab, bool leading_time) {
  if (slab.start.empty() && !leading_time) {
    select_all();
    return;
  }
  auto dims = dims_of(slab, leading_time ? 1 : 0);
  if (leading_time) {
    dims.start[0] = 0;
    dims.stride[0] = dims.count[0] = dims.block[0] = 1;
  }
  hdf5::select(get(), dims, H5S_SELECT_OR);
}

void Space::unite(const Space& other) {
  check(H5Smodify_select(get(), H5S_SELECT_OR, other.get()), "H5Smodify_select", in_memory);
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
        "H5Sselect_elements", in_memory);
  }
}

void Space::move_to(std::uint64_t time, const Extent& extent) {
  const std::vector<hsize_t> dims(extent.begin(), extent.end());
  auto most = dims;
  most.front() = H5S_UNLIMITED;
  // Keeps the selection, but not its offset.
  check(H5Sset_extent_simple(get(), static_cast<int>(dims.size()), dims.data(), most.data()),
        "H5Sset_extent_simple", in_memory);
  std::vector<hssize_t> offset(dims.size(), 0);
  offset.front() = static_cast<hssize_t>(time);
  check(H5Soffset_simple(get(), offset.data()), "H5Soffset_simple", in_memory);
}

void Space::become_line(std::uint64_t elements) {
  const hsize_t length = elements;
  check(H5Sset_extent_simple(get(), 1, &length, nullptr), "H5Sset_extent_simple", in_memory);
  select_all();
}

void Space::become_dense(const Hyperslab& slab, bool leading_time) {
  if (slab.start.empty() && !leading_time) {
    become_line(1);
    return;
  }
  std::vector<hsize_t> dims;
  if (leading_time) dims.push_back(1);
  for (std::size_t d = 0; d < slab.count.size(); ++d) dims.push_back(slab.count[d] * slab.block[d]);
  check(H5Sset_extent_simple(get(), static_cast<int>(dims.size()), dims.data(), nullptr),
        "H5Sset_extent_simple", in_memory);
  select_all();
}

}  // namespace slabmark::hdf5
