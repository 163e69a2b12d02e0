#pragma once

#include <H5VLconnector_passthru.h>

#include <H5VLconnector.h>
#include <hdf5.h>

namespace slabmark::capture {

// What the connector calls of HDF5. It is not linked with HDF5, so that it serves whichever library
// the program has: ours, a module's, the one in a wheel of h5py.
// clang-format off
#define SLABMARK_HDF5_FUNCTIONS(X) \
  X(H5VLattr_create) X(H5VLattr_open) X(H5VLattr_read) X(H5VLattr_write) X(H5VLattr_get) \
  X(H5VLattr_specific) X(H5VLattr_optional) X(H5VLattr_close) X(H5VLdataset_create) \
  X(H5VLdataset_open) X(H5VLdataset_read) X(H5VLdataset_write) X(H5VLdataset_get) \
  X(H5VLdataset_specific) X(H5VLdataset_optional) X(H5VLdataset_close) X(H5VLdatatype_commit) \
  X(H5VLdatatype_open) X(H5VLdatatype_get) X(H5VLdatatype_specific) X(H5VLdatatype_optional) \
  X(H5VLdatatype_close) X(H5VLfile_create) X(H5VLfile_open) X(H5VLfile_get) X(H5VLfile_specific) \
  X(H5VLfile_optional) X(H5VLfile_close) X(H5VLgroup_create) X(H5VLgroup_open) X(H5VLgroup_get) \
  X(H5VLgroup_specific) X(H5VLgroup_optional) X(H5VLgroup_close) X(H5VLlink_create) \
  X(H5VLlink_copy) X(H5VLlink_move) X(H5VLlink_get) X(H5VLlink_specific) X(H5VLlink_optional) \
  X(H5VLobject_open) X(H5VLobject_copy) X(H5VLobject_get) X(H5VLobject_specific) \
  X(H5VLobject_optional) X(H5VLintrospect_get_conn_cls) X(H5VLintrospect_get_cap_flags) \
  X(H5VLintrospect_opt_query) X(H5VLrequest_wait) X(H5VLrequest_notify) X(H5VLrequest_cancel) \
  X(H5VLrequest_specific) X(H5VLrequest_optional) X(H5VLrequest_free) X(H5VLblob_put) \
  X(H5VLblob_get) X(H5VLblob_specific) X(H5VLblob_optional) X(H5VLtoken_cmp) X(H5VLtoken_to_str) \
  X(H5VLtoken_from_str) X(H5VLoptional) X(H5VLget_object) X(H5VLget_wrap_ctx) X(H5VLwrap_object) \
  X(H5VLunwrap_object) X(H5VLfree_wrap_ctx) X(H5VLcopy_connector_info) X(H5VLcmp_connector_cls) \
  X(H5VLcmp_connector_info) X(H5VLfree_connector_info) X(H5VLconnector_info_to_str) \
  X(H5VLconnector_str_to_info) X(H5VLget_value) X(H5VLregister_connector_by_value) \
  X(H5VLfind_opt_operation) X(H5VLclose) X(H5Eget_auto2) X(H5Eset_auto2) X(H5Eclear2) \
  X(H5Eget_current_stack) X(H5Eset_current_stack) X(H5Iinc_ref) X(H5Idec_ref) \
  X(H5allocate_memory) X(H5free_memory) X(H5get_libversion) X(H5Pclose) X(H5Pcopy) X(H5Pencode2) \
  X(H5Pget_chunk) X(H5Pget_data_transform) X(H5Pget_external_count) X(H5Pget_layout) X(H5Pget_nfilters) X(H5Pget_vol_info) \
  X(H5Pset_vol) X(H5Sclose) X(H5Sencode2) X(H5Sget_regular_hyperslab) X(H5Sget_select_bounds) \
  X(H5Sget_select_elem_npoints) X(H5Sget_select_elem_pointlist) X(H5Sget_select_hyper_blocklist) \
  X(H5Sget_select_hyper_nblocks) X(H5Sget_select_type) X(H5Sget_simple_extent_dims) \
  X(H5Sget_simple_extent_ndims) X(H5Sis_regular_hyperslab) X(H5Tclose) X(H5Tencode) \
  X(H5Tget_class) X(H5Tget_size) X(H5Tget_order) X(H5Tget_sign) X(H5Pget_filter2) \
  X(H5Sget_simple_extent_type) X(H5Tis_variable_str) X(H5Tdetect_class)
// clang-format on

/// HDF5's functions of these names, in the library that loaded the connector.
struct Hdf5 {
#define SLABMARK_MEMBER(name) decltype(&::name) name = nullptr;
  SLABMARK_HDF5_FUNCTIONS(SLABMARK_MEMBER)
#undef SLABMARK_MEMBER
  /// Only in a parallel one.
  herr_t (*H5Pget_fapl_mpio)(hid_t, void* comm, void* info) = nullptr;
  herr_t (*H5Pget_dxpl_mpio)(hid_t, int* mode) = nullptr;
  /// The default list for the calls below (H5P_DATASET_XFER_DEFAULT).
  hid_t default_transfer() const { return *transfer_list; }
  /// What stands for H5P_DEFAULT in H5Dcreate (H5P_DATASET_CREATE_DEFAULT).
  hid_t default_creation() const { return *creation_list; }

  const hid_t* transfer_list = nullptr;
  const hid_t* creation_list = nullptr;
  const char* path = "";  ///< of the library
  unsigned version[3] = {0, 0, 0};
};

/// Valid after find_hdf5() returned true.
const Hdf5& hdf5();

/// Finds the functions in the library, or the program, that holds the code at `caller`. False, with
/// a sentence on stderr, where one is missing, or where it is not the one that they were found in
/// before.
bool find_hdf5(const void* caller);

/// What the program finds on HDF5's error stack. It is put back when this goes, since every call in
/// between clears it.
class KeptErrors {
 public:
  KeptErrors() : stack_(hdf5().H5Eget_current_stack()) {}
  ~KeptErrors() { hdf5().H5Eset_current_stack(stack_); }
  KeptErrors(const KeptErrors&) = delete;
  KeptErrors& operator=(const KeptErrors&) = delete;

 private:
  hid_t stack_;
};

/// While it lives, a failing call of HDF5 prints nothing; at its end the error stack is empty, as
/// it is when HDF5 calls a connector.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace slabmark::capture
