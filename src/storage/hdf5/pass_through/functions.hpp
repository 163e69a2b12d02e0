#pragma once

#include <H5VLconnector_passthru.h>

#include <H5VLconnector.h>
#include <hdf5.h>

namespace slabmark::pass_through {

// clang-format off
#define SLABMARK_VOL_FUNCTIONS(X) \
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
  X(H5VLconnector_str_to_info) X(H5VLget_value) X(H5VLregister_connector_by_value) X(H5VLclose) \
  X(H5Eget_current_stack) X(H5Eset_current_stack) X(H5Iinc_ref) X(H5Idec_ref) \
  X(H5allocate_memory) X(H5free_memory)
// clang-format on

/// HDF5's functions that passing through needs, as a table: a connector that is linked with HDF5
/// fills it by linked(); one that serves whichever HDF5 a program has looks them up.
struct Functions {
#define SLABMARK_MEMBER(name) decltype(&::name) name = nullptr;
  SLABMARK_VOL_FUNCTIONS(SLABMARK_MEMBER)
#undef SLABMARK_MEMBER
};

/// The functions of the HDF5 that the caller is linked with.
inline const Functions& linked() {
#define SLABMARK_VALUE(name) &::name,
  static constexpr Functions all = {SLABMARK_VOL_FUNCTIONS(SLABMARK_VALUE)};
#undef SLABMARK_VALUE
  return all;
}

/// The error stack of a call that has failed below. HDF5's calls that tidy up afterwards clear it,
/// so it is put back when this goes. Declare it before everything else that tidies up.
class KeptErrors {
 public:
  explicit KeptErrors(const Functions& hdf5) : hdf5_(hdf5) {}
  ~KeptErrors() {
    if (stack_ >= 0) hdf5_.H5Eset_current_stack(stack_);
  }
  KeptErrors(const KeptErrors&) = delete;
  KeptErrors& operator=(const KeptErrors&) = delete;

  /// Takes the stack as it is now. To be called once.
  void keep() { stack_ = hdf5_.H5Eget_current_stack(); }

 private:
  const Functions& hdf5_;
  hid_t stack_ = H5I_INVALID_HID;
};

/// A place that is the object itself.
inline H5VL_loc_params_t self(H5I_type_t type) {
  H5VL_loc_params_t place{};
  place.obj_type = type;
  place.type = H5VL_OBJECT_BY_SELF;
  return place;
}

}  // namespace slabmark::pass_through
