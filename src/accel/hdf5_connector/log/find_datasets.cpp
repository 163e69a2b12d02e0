#include "accel/hdf5_connector/log/find_datasets.hpp"

#include <array>
#include <exception>
#include <vector>

#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;
using hdf5::Handle;
using hdf5::own;

std::vector<std::byte> fill_of(hid_t creation, hid_t type) {
  std::vector<std::byte> fill(H5Tget_size(type));
  H5D_fill_value_t status = H5D_FILL_VALUE_UNDEFINED;
  check(H5Pfill_value_defined(creation, &status), "H5Pfill_value_defined", "the dataset");
  if (status == H5D_FILL_VALUE_UNDEFINED) return fill;  // any value will do
  check(H5Pget_fill_value(creation, type, fill.data()), "H5Pget_fill_value", "the dataset");
  return fill;
}

struct Visit {
  hid_t file;
  const std::function<void(const std::string&, std::shared_ptr<LogDataset>)>* visit;
  std::exception_ptr failure;
};

void visit_dataset(const Visit& context, const char* name) {
  const auto dataset = own(H5Dopen2(context.file, name, H5P_DEFAULT), H5Dclose, "H5Dopen2", name);
  const auto creation =
      own(H5Dget_create_plist(dataset.get()), H5Pclose, "H5Dget_create_plist", name);
  const auto number = number_of(creation.get());
  if (!number) return;
  const auto type = own(H5Dget_type(dataset.get()), H5Tclose, "H5Dget_type", name);
  const auto space = own(H5Dget_space(dataset.get()), H5Sclose, "H5Dget_space", name);
  (*context.visit)(name, describe(*number, type.get(), space.get(), creation.get()));
}

herr_t visit_object(hid_t, const char* name, const H5O_info2_t* info, void* data) {
  auto& context = *static_cast<Visit*>(data);
  if (info->type != H5O_TYPE_DATASET) return 0;
  if (std::string_view(name).starts_with(log_group.substr(1) + "/")) return 0;
  try {
    visit_dataset(context, name);
  } catch (...) {  // not through HDF5
    context.failure = std::current_exception();
    return -1;
  }
  return 0;
}

}  // namespace

std::optional<std::uint64_t> number_of(hid_t creation) {
  if (H5Pget_layout(creation) != H5D_VIRTUAL) return std::nullopt;
  std::size_t mappings = 0;
  check(H5Pget_virtual_count(creation, &mappings), "H5Pget_virtual_count", "the dataset");
  if (mappings != 1) return std::nullopt;
  std::array<char, 64> name{};
  check(static_cast<herr_t>(H5Pget_virtual_dsetname(creation, 0, name.data(), name.size())),
        "H5Pget_virtual_dsetname", "the dataset");
  return dataset_of_view(name.data());
}

std::shared_ptr<LogDataset> describe(std::uint64_t number, hid_t type, hid_t space,
                                     hid_t creation) {
  auto own_type = own(H5Tcopy(type), H5Tclose, "H5Tcopy", "the dataset");
  auto fill = fill_of(creation, own_type.get());
  const hdf5::Space copy(own(H5Scopy(space), H5Sclose, "H5Scopy", "the dataset"));
  return std::make_shared<LogDataset>(number, std::move(own_type), copy.extent(), std::move(fill));
}

void for_each_log_dataset(
    hid_t file, const std::function<void(const std::string&, std::shared_ptr<LogDataset>)>& visit) {
  Visit context{file, &visit, nullptr};
  const auto status =
      H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit_object, &context, H5O_INFO_BASIC);
  if (context.failure) std::rethrow_exception(context.failure);
  check(status, "H5Ovisit3", "the log");
}

}  // namespace slabmark::slablog
