// The connector as HDF5 sees it.
#include <cstdio>

#include "capture/interpose/hdf5/forward.hpp"
#include "storage/hdf5/pass_through/wrap.hpp"

namespace slabmark::capture {

herr_t Recording::refuse_missing(const std::string& value) {
  // In one piece, as all sentences that several ranks may say at once.
  const std::string sentence =
      "slabcapture: HDF5 finds no connector of number " + value +
      " (under_vol) to capture the program above; is its folder in HDF5_PLUGIN_PATH?\n";
  std::fputs(sentence.c_str(), stderr);
  return -1;
}

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
      pass_through::InfoCallbacks<Recording>::callbacks,
      pass_through::Wrapping<Recording>::callbacks,
      attribute_callbacks,
      dataset_callbacks,
      type_callbacks,
      file_callbacks,
      group_callbacks,
      link_callbacks,
      object_callbacks,
      {pass_through::get_class<Recording>, pass_through::get_capabilities<Recording>,
       forward<&Hdf5::H5VLintrospect_opt_query>},
      request_callbacks,
      pass_through::blob_callbacks<Recording>,
      pass_through::token_callbacks<Recording>,
      forward<&Hdf5::H5VLoptional>};
  return all;
}

}  // namespace slabmark::capture
