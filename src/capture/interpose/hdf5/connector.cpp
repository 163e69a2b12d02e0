// The connector as HDF5 sees it.
#include "capture/interpose/hdf5/forward.hpp"

namespace slabmark::capture {

namespace {

herr_t get_class(void* object, H5VL_get_conn_lvl_t level, const H5VL_class_t** result) {
  if (level == H5VL_GET_CONN_LVL_CURR) {
    *result = &connector_class();
    return 0;
  }
  const auto& mine = as_object(object);
  return hdf5().H5VLintrospect_get_conn_cls(mine.under, mine.connector, level, result);
}

herr_t get_capabilities(const void* given, std::uint64_t* flags) {
  const auto* info = static_cast<const Info*>(given);
  if (info != nullptr) {
    return hdf5().H5VLintrospect_get_cap_flags(info->under_info, info->under, flags);
  }
  // Where a program has chosen no connector, HDF5 asks each that it finds about a file that it
  // cannot open, and the reason for that must stay.
  const KeptErrors errors;
  const auto native = hdf5().H5VLregister_connector_by_value(H5_VOL_NATIVE, H5P_DEFAULT);
  const auto status = hdf5().H5VLintrospect_get_cap_flags(nullptr, native, flags);
  hdf5().H5VLclose(native);
  return status;
}

}  // namespace

// A function, since the callbacks are in other files, and C++ does not say which file's objects are
// made first.
const H5VL_class_t& connector_class() {
  static const H5VL_class_t all = {
      H5VL_VERSION,
      connector_value,
      connector_name,
      1,
      0,
      nullptr,
      nullptr,
      info_callbacks,
      wrap_callbacks,
      attribute_callbacks,
      dataset_callbacks,
      type_callbacks,
      file_callbacks,
      group_callbacks,
      link_callbacks,
      object_callbacks,
      {get_class, get_capabilities, forward<&Hdf5::H5VLintrospect_opt_query>},
      request_callbacks,
      {forward<&Hdf5::H5VLblob_put>, forward<&Hdf5::H5VLblob_get>,
       forward<&Hdf5::H5VLblob_specific>, forward<&Hdf5::H5VLblob_optional>},
      {forward<&Hdf5::H5VLtoken_cmp>, forward<&Hdf5::H5VLtoken_to_str>,
       forward<&Hdf5::H5VLtoken_from_str>},
      forward<&Hdf5::H5VLoptional>};
  return all;
}

}  // namespace slabmark::capture
