#include "method/hdf5/planned.hpp"

namespace slabmark {

// The union is built by divide and conquer, once for all datasets and rounds that share the
// selection.
MethodInfo hdf5_union_method() {
  return hdf5_info("hdf5-union",
                   "one H5Dwrite per dataset, union of its hyperslabs by divide and conquer",
                   make_planned<plan_of_union>);
}

}  // namespace slabmark
