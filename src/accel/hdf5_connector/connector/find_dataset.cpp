#include "accel/hdf5_connector/connector/find_dataset.hpp"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "accel/hdf5_connector/connector/virtual_dataset.hpp"
#include "accel/hdf5_connector/log/find_datasets.hpp"
#include "storage/hdf5/filter_pipeline.hpp"

namespace slabmark::slablog {

namespace {

/// HDF5 would take a dataset of a log that is not open, and has no view, for fill value.
void check_view(const Object& dataset, std::uint64_t number) {
  const Location file{dataset.under, dataset.type, dataset.connector};
  const auto view = view_name(number);
  if (link_exists(file, log_group) && link_exists(file, view)) return;
  throw Refusal(
      H5E_DATASET, H5E_NOTFOUND,
      fmt::format("The elements of the dataset are in a log, and its file has lost {}, "
                  "or was not closed; use 'slabmark log repair', or restore it from a copy.",
                  view));
}

bool has_fixed_size(hid_t type) {
  const std::string a_type = "a datatype";
  const auto kind = H5Tget_class(type);
  if (kind == H5T_VLEN || kind == H5T_REFERENCE) return false;
  if (kind == H5T_STRING) return H5Tis_variable_str(type) == 0;
  if (kind == H5T_ARRAY) {
    return has_fixed_size(hdf5::own(H5Tget_super(type), H5Tclose, "H5Tget_super", a_type).get());
  }
  if (kind != H5T_COMPOUND) return true;
  for (int i = 0; i < H5Tget_nmembers(type); ++i) {
    const auto member = hdf5::own(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose,
                                  "H5Tget_member_type", a_type);
    if (!has_fixed_size(member.get())) return false;
  }
  return true;
}

void take(Object& object, hid_t type, hid_t space, hid_t creation, bool created, bool owned) {
  if (!belongs_into_log(type, space, creation)) return;
  const auto info = basic_info(object.under, self(object.type), object.connector);
  if (!info) return;
  std::uint64_t number = 0;
  std::memcpy(&number, &info->token, sizeof number);
  object.dataset = object.tracked->canonical->take(
      {object.under, object.connector, number, type, space, creation, created, owned});
}

}  // namespace

bool has_numbers_for_all(std::uint64_t element_bytes, const Extent& extent, const Extent& chunk) {
  auto bytes = static_cast<std::int64_t>(element_bytes);
  for (std::size_t d = 0; d < extent.size(); ++d) {
    if (extent[d] == 0) return true;
    const std::uint64_t length = chunk.empty() ? 1 : chunk[d];
    const std::uint64_t chunks = (extent[d] - 1) / length + 1;
    if (__builtin_mul_overflow(bytes, chunks, &bytes)) return false;
    if (__builtin_mul_overflow(bytes, length, &bytes)) return false;
  }
  return true;
}

bool belongs_into_log(hid_t type, hid_t space, hid_t creation) {
  const auto layout = H5Pget_layout(creation);
  if (H5Sget_simple_extent_type(space) != H5S_SIMPLE || layout == H5D_COMPACT ||
      layout == H5D_VIRTUAL || H5Pget_external_count(creation) != 0 || !has_fixed_size(type)) {
    return false;
  }
  std::array<hsize_t, H5S_MAX_RANK> extent;
  const int rank = H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  return rank > 0 &&
         has_numbers_for_all(H5Tget_size(type), {extent.begin(), extent.begin() + rank},
                             layout == H5D_CHUNKED ? hdf5::chunk_of(creation) : Extent());
}

void take_created_dataset(Object& object, hid_t type, hid_t space, hid_t creation) {
  if (object.tracked && object.tracked->canonical) take(object, type, space, creation, true, true);
}

void find_dataset(Object& object, bool owned) {
  const auto get = [&](H5VL_dataset_get_t what) {
    H5VL_dataset_get_args_t args{};
    args.op_type = what;
    hdf5::check(
        H5VLdataset_get(object.under, object.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5VLdataset_get", "a dataset");
    return args;
  };
  const hdf5::Handle creation(get(H5VL_DATASET_GET_DCPL).args.get_dcpl.dcpl_id, H5Pclose);
  const auto number = number_of(creation.get());
  if (!number) {
    object.mappings = mappings_in(creation.get());
    if (object.mappings || !object.tracked || !object.tracked->canonical) return;
  } else {
    object.is_closed_log = !object.tracked || !object.tracked->log;
    if (object.is_closed_log) return check_view(object, *number);
    object.dataset = object.tracked->log->known(*number);
    if (object.dataset) return;
  }
  const hdf5::Handle type(get(H5VL_DATASET_GET_TYPE).args.get_type.type_id, H5Tclose);
  const hdf5::Handle space(get(H5VL_DATASET_GET_SPACE).args.get_space.space_id, H5Sclose);
  if (!number) return take(object, type.get(), space.get(), creation.get(), false, owned);
  object.dataset = object.tracked->log->add(
      object.tracked->location(), describe(*number, type.get(), space.get(), creation.get()));
}

}  // namespace slabmark::slablog
