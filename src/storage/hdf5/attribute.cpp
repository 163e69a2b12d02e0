#include "storage/hdf5/attribute.hpp"

namespace slabmark::hdf5 {

void put_attribute(hid_t object, const std::string& name, const std::string& text,
                   const std::string& path) {
  const auto type = own(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", path);
  check(H5Tset_size(type.get(), text.size()), "H5Tset_size", path);
  const auto space = own(H5Screate(H5S_SCALAR), H5Sclose, "H5Screate", path);
  const auto attribute =
      own(H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
          H5Aclose, "H5Acreate2", path);
  check(H5Awrite(attribute.get(), type.get(), text.data()), "H5Awrite", path);
}

}  // namespace slabmark::hdf5
