#include "accel/hdf5_connector/canonical/open_datasets.hpp"

namespace slabmark::slablog {

std::shared_ptr<CanonicalDataset> OpenDatasets::take(const OpenedDataset& opened,
                                                     bool may_be_fresh) {
  if (!CanonicalDataset::accepts(opened.space, opened.creation)) return nullptr;
  if (const auto found = all_.find(opened.number); found != all_.end()) {
    ++found->second->users;
    return found->second;
  }
  auto dataset = std::make_shared<CanonicalDataset>(opened, may_be_fresh, path_);
  // HDF5 gives a contiguous dataset of a parallel file its space when it is created, or opened.
  if (is_parallel_ && !dataset->in_chunks() && !dataset->address) return nullptr;
  if (!opened.owned) dataset->under = open_again(opened.under, opened.connector, opened.number);
  dataset->users = 1;
  all_[opened.number] = dataset;
  return dataset;
}

CanonicalDataset& OpenDatasets::find(const Location& file, std::uint64_t number,
                                     bool may_be_fresh) {
  if (const auto found = all_.find(number); found != all_.end()) return *found->second;
  auto* under = open_at(file, number);
  const auto get = [&](H5VL_dataset_get_t what) {
    H5VL_dataset_get_args_t args{};
    args.op_type = what;
    hdf5::check(H5VLdataset_get(under, file.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
                "H5Dget", path_);
    return args.args;
  };
  const hdf5::Handle type(get(H5VL_DATASET_GET_TYPE).get_type.type_id, H5Tclose);
  const hdf5::Handle space(get(H5VL_DATASET_GET_SPACE).get_space.space_id, H5Sclose);
  const hdf5::Handle creation(get(H5VL_DATASET_GET_DCPL).get_dcpl.dcpl_id, H5Pclose);
  const OpenedDataset opened{under,       file.connector, number, type.get(),
                             space.get(), creation.get(), false,  true};
  return *(all_[number] = std::make_shared<CanonicalDataset>(opened, may_be_fresh, path_));
}

herr_t OpenDatasets::close(CanonicalDataset& dataset, void* under, hid_t list, bool may_go) {
  --dataset.users;
  herr_t status = 0;
  if (under != dataset.under) {
    status = H5VLdataset_close(under, dataset.connector, list, nullptr);
  }
  if (dataset.users > 0 || !may_go) return status;
  const auto closed = H5VLdataset_close(dataset.under, dataset.connector, list, nullptr);
  all_.erase(dataset.number());
  return closed < 0 ? closed : status;
}

void OpenDatasets::release() {
  std::erase_if(all_, [&](const auto& one) {
    const auto& dataset = *one.second;
    if (dataset.users > 0 || dataset.has_pending()) return false;
    H5VLdataset_close(dataset.under, dataset.connector, H5P_DATASET_XFER_DEFAULT, nullptr);
    return true;
  });
}

}  // namespace slabmark::slablog
