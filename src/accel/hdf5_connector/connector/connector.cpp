// The connector as HDF5 sees it, with the callbacks of attributes and committed datatypes, which
// all go to the connector below.
#include <memory>
#include <string>

#include <fmt/format.h>

#include "accel/hdf5_connector/api/slablog.h"
#include "accel/hdf5_connector/connector/find_dataset.hpp"
#include "accel/hdf5_connector/connector/forward.hpp"
#include "storage/hdf5/pass_through/wrap.hpp"

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

herr_t query_optional(void* object, H5VL_subclass_t kind, int operation_type,
                      std::uint64_t* flags) {
  if (kind == H5VL_SUBCLS_DATASET &&
      (operation_type == write_n_operation() || operation_type == read_n_operation())) {
    *flags = H5VL_OPT_QUERY_SUPPORTED;
    return 0;
  }
  return forward<&Functions::H5VLintrospect_opt_query>(object, kind, operation_type, flags);
}

}  // namespace

void* Connector::opened(void* under, void* object, const H5VL_loc_params_t& place,
                        H5I_type_t type) {
  return guarded("object", [&] {
    const auto& mine = as_object(object);
    // An attribute is in the file of its object. (A file that is mounted shows another's root.)
    const bool is_beside = type == H5I_ATTR && place.type == H5VL_OBJECT_BY_SELF;
    return is_beside && mine.type != H5I_FILE ? wrapped_beside(under, mine, type)
                                              : wrapped(under, mine, type);
  });
}

void* Connector::wrapped_by_hdf5(void* under, const Origin& from, H5I_type_t type) {
  return guarded("wrap", [&]() -> void* {
    const bool is_hdf5s_own = type == H5I_FILE && OpeningFile::count > 0;
    auto made = std::make_unique<Object>(
        under, from.connector, type,
        is_hdf5s_own ? nullptr : tracked_file_of(under, type, from.connector));
    made->by_hdf5 = true;
    if (type == H5I_DATASET) find_dataset(*made, false);
    return made.release();
  });
}

void Connector::end_unwrapped(Object& object) {
  if (is_canonical(object)) object.tracked->canonical->leave(*object.dataset);
  const auto tracked = object.tracked;
  delete &object;
  if (tracked) end_without_objects(tracked);
}

Info Connector::default_info() { return {{}, parse_config("")}; }

// "view=vds;...". Only the native connector can be below: the elements go past it, to addresses
// that only it knows.
Info Connector::parsed(std::string_view words, const std::string& value_below) {
  if (value_below != "0") {
    throw Refusal(H5E_VOL, H5E_UNSUPPORTED,
                  fmt::format("slablog works above HDF5's native connector (under_vol=0), not "
                              "above connector {}.",
                              value_below));
  }
  return {{}, parse_config(words)};
}

std::string Connector::options_text(const Info* info) {
  return fmt::format(";{}", to_string(info == nullptr ? parse_config("") : info->config));
}

int write_n_operation() { return operations().write_n; }
int read_n_operation() { return operations().read_n; }

namespace {

const H5VL_attr_class_t attribute_callbacks = {
    forward_object<&Functions::H5VLattr_create, H5I_ATTR>,
    forward_object<&Functions::H5VLattr_open, H5I_ATTR>,
    forward<&Functions::H5VLattr_read>,
    forward<&Functions::H5VLattr_write>,
    forward<&Functions::H5VLattr_get>,
    forward<&Functions::H5VLattr_specific>,
    forward<&Functions::H5VLattr_optional>,
    close_through<&Functions::H5VLattr_close>};

const H5VL_datatype_class_t datatype_callbacks = {
    forward_new<&Functions::H5VLdatatype_commit, H5I_DATATYPE>,
    forward_object<&Functions::H5VLdatatype_open, H5I_DATATYPE>,
    forward<&Functions::H5VLdatatype_get>,
    forward<&Functions::H5VLdatatype_specific>,
    forward<&Functions::H5VLdatatype_optional>,
    close_through<&Functions::H5VLdatatype_close>};

}  // namespace

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
      pass_through::InfoCallbacks<Connector>::callbacks,
      pass_through::Wrapping<Connector>::callbacks,
      attribute_callbacks,
      dataset_callbacks,
      datatype_callbacks,
      file_callbacks,
      group_callbacks,
      link_callbacks,
      object_callbacks,
      {pass_through::get_class<Connector>, pass_through::get_capabilities<Connector>,
       query_optional},
      {},
      pass_through::blob_callbacks<Connector>,
      pass_through::token_callbacks<Connector>,
      forward<&Functions::H5VLoptional>};
  return all;
}

}  // namespace slabmark::slablog
