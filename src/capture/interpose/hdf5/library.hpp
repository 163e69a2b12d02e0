#pragma once

#include "storage/hdf5/pass_through/functions.hpp"

namespace slabmark::capture {

// The functions of HDF5 that the connector calls. It is not linked with HDF5, so that it serves
// whichever library the program has: ours, a module's, the one in a wheel of h5py.
// clang-format off
#define SLABMARK_HDF5_FUNCTIONS(X) \
  X(H5VLfind_opt_operation) X(H5Eget_auto2) X(H5Eset_auto2) X(H5Eclear2) X(H5get_libversion) \
  X(H5Pclose) X(H5Pcopy) X(H5Pencode2) X(H5Pget_chunk) X(H5Pget_data_transform) \
  X(H5Pget_external_count) X(H5Pget_filter2) X(H5Pget_layout) X(H5Pget_nfilters) X(H5Pget_vol_info) \
  X(H5Pset_vol) X(H5Sclose) X(H5Sencode2) X(H5Sget_regular_hyperslab) X(H5Sget_select_bounds) \
  X(H5Sget_select_elem_npoints) X(H5Sget_select_elem_pointlist) X(H5Sget_select_hyper_blocklist) \
  X(H5Sget_select_hyper_nblocks) X(H5Sget_select_type) X(H5Sget_simple_extent_dims) \
  X(H5Sget_simple_extent_ndims) X(H5Sget_simple_extent_type) X(H5Sis_regular_hyperslab) \
  X(H5Tclose) X(H5Tdetect_class) X(H5Tencode) X(H5Tget_class) X(H5Tget_order) X(H5Tget_sign) \
  X(H5Tget_size) X(H5Tis_variable_str)
// clang-format on

/// HDF5's functions of these names, in the library that loaded the connector.
struct Hdf5 : pass_through::Functions {
#define SLABMARK_MEMBER(name) decltype(&::name) name = nullptr;
  SLABMARK_HDF5_FUNCTIONS(SLABMARK_MEMBER)
#undef SLABMARK_MEMBER
  /// Only in a parallel one.
  herr_t (*H5Pget_fapl_mpio)(hid_t, void* comm, void* info) = nullptr;
  herr_t (*H5Pget_dxpl_mpio)(hid_t, int* mode) = nullptr;
  /// The default list for the calls below (H5P_DATASET_XFER_DEFAULT).
  hid_t default_transfer() const { return *transfer_list; }
  /// The list that stands for H5P_DEFAULT in H5Dcreate (H5P_DATASET_CREATE_DEFAULT).
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

/// Keeps HDF5's error stack as the program is to find it. It is put back when this goes, since
/// every call in between clears it.
struct KeptErrors : pass_through::KeptErrors {
  KeptErrors() : pass_through::KeptErrors(hdf5()) { keep(); }
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
