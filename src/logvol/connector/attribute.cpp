// Attributes: all to the connector below.
#include "logvol/connector/object.hpp"

namespace slabmark::logvol {

namespace {

void* create(void* object, const H5VL_loc_params_t* place, const char* name, hid_t type,
             hid_t space, hid_t creation, hid_t access, hid_t list, void**) {
  const auto& mine = as_object(object);
  return wrapped(H5VLattr_create(mine.under, place, mine.connector, name, type, space, creation,
                                 access, list, nullptr),
                 mine, H5I_ATTR);
}

void* open(void* object, const H5VL_loc_params_t* place, const char* name, hid_t access, hid_t list,
           void**) {
  const auto& mine = as_object(object);
  return wrapped(H5VLattr_open(mine.under, place, mine.connector, name, access, list, nullptr),
                 mine, H5I_ATTR);
}

herr_t read(void* object, hid_t type, void* buffer, hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLattr_read(mine.under, mine.connector, type, buffer, list, nullptr);
}

herr_t write(void* object, hid_t type, const void* buffer, hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLattr_write(mine.under, mine.connector, type, buffer, list, nullptr);
}

herr_t get(void* object, H5VL_attr_get_args_t* args, hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLattr_get(mine.under, mine.connector, args, list, nullptr);
}

herr_t specific(void* object, const H5VL_loc_params_t* place, H5VL_attr_specific_args_t* args,
                hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLattr_specific(mine.under, place, mine.connector, args, list, nullptr);
}

herr_t optional(void* object, H5VL_optional_args_t* args, hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLattr_optional(mine.under, mine.connector, args, list, nullptr);
}

herr_t close(void* object, hid_t list, void**) {
  return close_object(object, H5VLattr_close, list);
}

}  // namespace

const H5VL_attr_class_t attribute_callbacks = {create, open,     read,     write,
                                               get,    specific, optional, close};

}  // namespace slabmark::logvol
