#include "collective/conformance/hdf5.hpp"

#include "collective/conformance/plain_file.hpp"
#include "storage/hdf5/element_type.hpp"

namespace slabmark::conformance {

namespace {

std::vector<hsize_t> with_records(const Array& array, std::uint64_t records) {
  std::vector<hsize_t> extent(array.extent.begin(), array.extent.end());
  if (array.has_records) extent.insert(extent.begin(), records);
  return extent;
}

}  // namespace

hdf5::Handle property_list(hid_t of_class) {
  return hdf5::own(H5Pcreate(of_class), H5Pclose, "H5Pcreate", "a property list");
}

hdf5::Handle create_dataset(hid_t file, const Array& array, const std::string& path) {
  const auto creation = property_list(H5P_DATASET_CREATE);
  H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
  const auto extent = with_records(array, 1), most = with_records(array, H5S_UNLIMITED);
  const int dimensions = static_cast<int>(extent.size());
  if (array.has_records) H5Pset_chunk(creation.get(), dimensions, extent.data());
  const auto space = hdf5::own(H5Screate_simple(dimensions, extent.data(), most.data()), H5Sclose,
                               "H5Screate_simple", path);
  return hdf5::own(H5Dcreate2(file, array.name.c_str(), hdf5::native_type(array.type), space.get(),
                              H5P_DEFAULT, creation.get(), H5P_DEFAULT),
                   H5Dclose, "H5Dcreate2", path);
}

hdf5::Handle open_dataset(hid_t file, const Array& array, const std::string& path) {
  return hdf5::own(H5Dopen2(file, array.name.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", path);
}

void set_records(hid_t dataset, const Array& array, std::uint64_t records,
                 const std::string& path) {
  hdf5::check(H5Dset_extent(dataset, with_records(array, records).data()), "H5Dset_extent", path);
}

Hyperslabs::Hyperslabs(const Array& array, std::uint64_t record, const RunList& runs) {
  const Boxes boxes = boxes_of(array, record, runs);
  for (const auto& one : boxes.starts) starts.emplace_back(one.begin(), one.end());
  for (const auto& one : boxes.counts) counts.emplace_back(one.begin(), one.end());
}

}  // namespace slabmark::conformance
