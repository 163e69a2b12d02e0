#include "method/hdf5/planned.hpp"

namespace slabmark {

namespace {

/// One H5Dwrite per dataset with the union of its hyperslabs as programs build it that follow
/// HDF5's manual: H5S_SELECT_OR one by one, in the order given, for every dataset anew. The time
/// for that grows with the square of the hyperslabs.
class Hdf5UnionNaive : public Hdf5Planned {
 public:
  explicit Hdf5UnionNaive(const MethodContext& context) : Hdf5Planned(context) {}

 protected:
  Hdf5Plan make_plan(const Transfer& transfer) override {
    Hdf5Plan plan;
    plan.file = hdf5::Space::nothing_of(transfer.file->extent(), has_time(transfer));
    Hyperslab slab;
    for (std::uint64_t i = 0; i < transfer.file->hyperslab_count(); ++i) {
      transfer.file->hyperslab(i, slab);
      if (element_count(slab) > 0) plan.file.unite(slab, has_time(transfer));
    }
    plan_memory_of_union(transfer, plan);
    return plan;
  }

  std::vector<std::uint64_t> variants(const std::vector<Transfer>& transfers) const override {
    std::vector<std::uint64_t> datasets;
    for (const auto& transfer : transfers) datasets.push_back(transfer.dataset);
    return datasets;
  }
};

}  // namespace

MethodInfo hdf5_union_naive_method() {
  auto info = hdf5_info("hdf5-union-naive",
                        "one H5Dwrite per dataset, H5S_SELECT_OR hyperslab after hyperslab");
  info.make = [](const MethodContext& context) {
    return std::make_unique<Hdf5UnionNaive>(context);
  };
  return info;
}

}  // namespace slabmark
