// The connector as HDF5 sees it, with the callbacks of attributes, committed datatypes, tokens and
// blobs, which all go to the connector below.
#include "accel/hdf5_connector/api/slablog.h"
#include "accel/hdf5_connector/connector/forward.hpp"

namespace slabmark::slablog {

namespace {

int operation(const char* name) {
  int found = -1;
  H5E_BEGIN_TRY {
    if (H5VLfind_opt_operation(H5VL_SUBCLS_DATASET, name, &found) < 0) {
      H5VLregister_opt_operation(H5VL_SUBCLS_DATASET, name, &found);
    }
  }
  H5E_END_TRY
  return found;
}

struct Operations {
  int write_n = -1, read_n = -1;
};

Operations& operations() {
  static Operations all;
  return all;
}

// HDF5 may end and begin again, and then knows nothing of what was registered before. Where a
// program that has chosen no connector cannot open a file, HDF5 tries each that it finds, and this
// one must not clear the reason.
herr_t initialize(hid_t) {
  KeptErrors errors;
  errors.keep();
  operations() = {operation(SLABLOG_WRITE_N), operation(SLABLOG_READ_N)};
  close_all_at_exit();
  return 0;
}

herr_t terminate() {
  forget_access_lists();
  return 0;
}

herr_t get_class(void* object, H5VL_get_conn_lvl_t level, const H5VL_class_t** result) {
  if (level == H5VL_GET_CONN_LVL_CURR) {
    *result = &connector_class();
    return 0;
  }
  const auto& mine = as_object(object);
  return H5VLintrospect_get_conn_cls(mine.under, mine.connector, level, result);
}

herr_t get_capabilities(const void*, std::uint64_t* flags) {
  return H5VLintrospect_get_cap_flags(nullptr, H5VL_NATIVE, flags);
}

herr_t query_optional(void* object, H5VL_subclass_t kind, int operation_type,
                      std::uint64_t* flags) {
  if (kind == H5VL_SUBCLS_DATASET &&
      (operation_type == write_n_operation() || operation_type == read_n_operation())) {
    *flags = H5VL_OPT_QUERY_SUPPORTED;
    return 0;
  }
  const auto& mine = as_object(object);
  return H5VLintrospect_opt_query(mine.under, mine.connector, kind, operation_type, flags);
}

}  // namespace

int write_n_operation() { return operations().write_n; }
int read_n_operation() { return operations().read_n; }

const H5VL_introspect_class_t introspect_callbacks = {get_class, get_capabilities, query_optional};

const H5VL_attr_class_t attribute_callbacks = {forward_object<H5VLattr_create, H5I_ATTR>,
                                               forward_object<H5VLattr_open, H5I_ATTR>,
                                               forward<H5VLattr_read>,
                                               forward<H5VLattr_write>,
                                               forward<H5VLattr_get>,
                                               forward<H5VLattr_specific>,
                                               forward<H5VLattr_optional>,
                                               close_through<H5VLattr_close>};

const H5VL_datatype_class_t datatype_callbacks = {forward_new<H5VLdatatype_commit, H5I_DATATYPE>,
                                                  forward_object<H5VLdatatype_open, H5I_DATATYPE>,
                                                  forward<H5VLdatatype_get>,
                                                  forward<H5VLdatatype_specific>,
                                                  forward<H5VLdatatype_optional>,
                                                  close_through<H5VLdatatype_close>};

const H5VL_token_class_t token_callbacks = {forward<H5VLtoken_cmp>, forward<H5VLtoken_to_str>,
                                            forward<H5VLtoken_from_str>};

const H5VL_blob_class_t blob_callbacks = {forward<H5VLblob_put>, forward<H5VLblob_get>,
                                          forward<H5VLblob_specific>, forward<H5VLblob_optional>};

// A function, since the callbacks are in other files, and C++ does not say which file's objects are
// made first.
const H5VL_class_t& connector_class() {
  static const H5VL_class_t all = {
      H5VL_VERSION,
      SLABLOG_VALUE,
      SLABLOG_NAME,
      1,
      H5VL_CAP_FLAG_ATTR_BASIC | H5VL_CAP_FLAG_ATTR_MORE | H5VL_CAP_FLAG_DATASET_BASIC |
          H5VL_CAP_FLAG_DATASET_MORE | H5VL_CAP_FLAG_FILE_BASIC | H5VL_CAP_FLAG_FILE_MORE |
          H5VL_CAP_FLAG_GROUP_BASIC | H5VL_CAP_FLAG_GROUP_MORE | H5VL_CAP_FLAG_LINK_BASIC |
          H5VL_CAP_FLAG_LINK_MORE | H5VL_CAP_FLAG_OBJECT_BASIC | H5VL_CAP_FLAG_OBJECT_MORE |
          H5VL_CAP_FLAG_FLUSH_REFRESH | H5VL_CAP_FLAG_GET_PLIST | H5VL_CAP_FLAG_REF_BASIC |
          H5VL_CAP_FLAG_STORED_DATATYPES | H5VL_CAP_FLAG_ITERATE | H5VL_CAP_FLAG_BY_IDX |
          H5VL_CAP_FLAG_HARD_LINKS | H5VL_CAP_FLAG_SOFT_LINKS | H5VL_CAP_FLAG_EXTERNAL_LINKS |
          H5VL_CAP_FLAG_UD_LINKS | H5VL_CAP_FLAG_TRACK_TIMES | H5VL_CAP_FLAG_FILL_VALUES |
          H5VL_CAP_FLAG_CREATION_ORDER,
      initialize,
      terminate,
      info_callbacks,
      wrap_callbacks,
      attribute_callbacks,
      dataset_callbacks,
      datatype_callbacks,
      file_callbacks,
      group_callbacks,
      link_callbacks,
      object_callbacks,
      introspect_callbacks,
      {},
      blob_callbacks,
      token_callbacks,
      forward<H5VLoptional>};
  return all;
}

}  // namespace slabmark::slablog
