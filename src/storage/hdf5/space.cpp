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

void select(hid_t space, const SlabDims& dims) {
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, dims.start.data(), dims.stride.data(),
                            dims.count.data(), dims.block.data()),
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

void Space::become_line(std::uint64_t elements) {
  const hsize_t length = elements;
  check(H5Sset_extent_simple(get(), 1, &length, nullptr), "H5Sset_extent_simple", in_memory);
  select_all();
}

}  // namespace slabmark::hdf5
