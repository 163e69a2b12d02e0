// Groups: all to the connector below.
#include "logvol/connector/object.hpp"

namespace slabmark::logvol {

namespace {

void* create(void* object, const H5VL_loc_params_t* place, const char* name, hid_t links,
             hid_t creation, hid_t access, hid_t list, void**) {
  const auto& mine = as_object(object);
  return wrapped(H5VLgroup_create(mine.under, place, mine.connector, name, links, creation, access,
                                  list, nullptr),
                 mine, H5I_GROUP);
}

void* open(void* object, const H5VL_loc_params_t* place, const char* name, hid_t access, hid_t list,
           void**) {
  const auto& mine = as_object(object);
  return wrapped(H5VLgroup_open(mine.under, place, mine.connector, name, access, list, nullptr),
                 mine, H5I_GROUP);
}

herr_t get(void* object, H5VL_group_get_args_t* args, hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLgroup_get(mine.under, mine.connector, args, list, nullptr);
}

herr_t specific(void* object, H5VL_group_specific_args_t* args, hid_t list, void**) {
  return guarded("group specific", [&] {
    const auto& mine = as_object(object);
    auto below = *args;
    if (args->op_type == H5VL_GROUP_MOUNT) {
      below.args.mount.child_file = as_object(args->args.mount.child_file).under;
    }
    const auto status = H5VLgroup_specific(mine.under, mine.connector, &below, list, nullptr);
    if (args->op_type == H5VL_GROUP_UNMOUNT) end_closed_logs();
    return status;
  });
}

herr_t optional(void* object, H5VL_optional_args_t* args, hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLgroup_optional(mine.under, mine.connector, args, list, nullptr);
}

herr_t close(void* object, hid_t list, void**) {
  return close_object(object, H5VLgroup_close, list);
}

}  // namespace

const H5VL_group_class_t group_callbacks = {create, open, get, specific, optional, close};

}  // namespace slabmark::logvol
