#include "bench/method/hdf5/planned.hpp"

namespace slabmark {

namespace {

/// The union as programs build it that follow HDF5's manual: H5S_SELECT_OR one by one, in the order
/// given. The time for that grows with the square of the hyperslabs.
Hdf5Plan plan_naively(const Transfer& transfer, bool leading_time) {
  Hdf5Plan plan;
  plan.file = hdf5::Space::nothing_of(transfer.file->extent(), leading_time);
  Hyperslab slab;
  for (std::uint64_t i = 0; i < transfer.file->hyperslab_count(); ++i) {
    transfer.file->hyperslab(i, slab);
    if (element_count(slab) > 0) plan.file.unite(slab, leading_time);
  }
  plan_memory_of_union(transfer, plan);
  return plan;
}

}  // namespace

MethodInfo hdf5_union_naive_method() {
  auto info = hdf5_info("hdf5-union-naive",
                        "one H5Dwrite per dataset, H5S_SELECT_OR hyperslab after hyperslab",
                        make_planned<plan_naively, Sharing::rounds>);
  info.kind = MethodKind::yardstick;  // hdf5-union makes the same file
  return info;
}

}  // namespace slabmark
