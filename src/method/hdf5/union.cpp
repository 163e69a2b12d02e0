#include "method/hdf5/planned.hpp"

namespace slabmark {

namespace {

/// One H5Dwrite per dataset with the union of its hyperslabs, which is built by divide and conquer,
/// once for all datasets and rounds that share the selection.
class Hdf5Union : public Hdf5Planned {
 public:
  explicit Hdf5Union(const MethodContext& context) : Hdf5Planned(context) {}

 protected:
  Hdf5Plan make_plan(const Transfer& transfer) override {
    return plan_of_union(transfer, has_time(transfer));
  }
};

}  // namespace

MethodInfo hdf5_union_method() {
  auto info = hdf5_info("hdf5-union",
                        "one H5Dwrite per dataset, union of its hyperslabs by divide and conquer");
  info.make = [](const MethodContext& context) { return std::make_unique<Hdf5Union>(context); };
  return info;
}

}  // namespace slabmark
