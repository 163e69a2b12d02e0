// Committed datatypes: all to the connector below.
#include "logvol/connector/object.hpp"

namespace slabmark::logvol {

namespace {

void* commit(void* object, const H5VL_loc_params_t* place, const char* name, hid_t type,
             hid_t links, hid_t creation, hid_t access, hid_t list, void**) {
  const auto& mine = as_object(object);
  return wrapped(H5VLdatatype_commit(mine.under, place, mine.connector, name, type, links, creation,
                                     access, list, nullptr),
                 mine, H5I_DATATYPE);
}

void* open(void* object, const H5VL_loc_params_t* place, const char* name, hid_t access, hid_t list,
           void**) {
  const auto& mine = as_object(object);
  return wrapped(H5VLdatatype_open(mine.under, place, mine.connector, name, access, list, nullptr),
                 mine, H5I_DATATYPE);
}

herr_t get(void* object, H5VL_datatype_get_args_t* args, hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLdatatype_get(mine.under, mine.connector, args, list, nullptr);
}

herr_t specific(void* object, H5VL_datatype_specific_args_t* args, hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLdatatype_specific(mine.under, mine.connector, args, list, nullptr);
}

herr_t optional(void* object, H5VL_optional_args_t* args, hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLdatatype_optional(mine.under, mine.connector, args, list, nullptr);
}

herr_t close(void* object, hid_t list, void**) {
  return close_object(object, H5VLdatatype_close, list);
}

}  // namespace

const H5VL_datatype_class_t datatype_callbacks = {commit, open, get, specific, optional, close};

}  // namespace slabmark::logvol
