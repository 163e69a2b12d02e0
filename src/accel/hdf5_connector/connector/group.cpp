// Groups: all to the connector below, but the log's own one is neither counted nor listed, and a
// file that is unmounted may have been kept open by that.
#include "accel/hdf5_connector/connector/forward.hpp"

namespace slabmark::slablog {

namespace {

herr_t get(void* object, H5VL_group_get_args_t* args, hid_t list, void**) {
  return guarded("group get", [&] {
    const auto& mine = as_object(object);
    auto below = *args;
    auto& info = below.args.get_info;
    const bool counts = args->op_type == H5VL_GROUP_GET_INFO;
    if (counts) info.loc_params = place_below(mine, info.loc_params);
    const auto status = H5VLgroup_get(mine.under, mine.connector, &below, list, nullptr);
    if (status < 0) return status;
    if (counts) {
      if (holds_own_group(mine, info.loc_params)) --info.ginfo->nlinks;
    } else {
      args->args = below.args;
    }
    return status;
  });
}

herr_t group_optional(void* object, H5VL_optional_args_t* args, hid_t list, void**) {
  return guarded("group optional", [&] {
    const auto& mine = as_object(object);
    if (args->op_type != H5VL_NATIVE_GROUP_ITERATE_OLD) {
      return H5VLgroup_optional(mine.under, mine.connector, args, list, nullptr);
    }
    const auto& iterate = static_cast<H5VL_native_group_optional_args_t*>(args->args)->iterate_old;
    return iterate_group(mine, iterate, list);
  });
}

/// The log of the file that has the group of a name.
std::shared_ptr<TrackedFile> log_at_group(const Object& mine, const char* name) {
  const auto info = basic_info(mine.under, named(mine.type, name), mine.connector);
  return info ? tracked_file(info->fileno) : nullptr;
}

herr_t mount(const Object& mine, H5VL_group_specific_args_t args, hid_t list) {
  auto& child = as_object(args.args.mount.child_file);
  const auto parent = log_at_group(mine, args.args.mount.name);
  show_all(child.tracked);
  args.args.mount.child_file = child.under;
  const auto status = H5VLgroup_specific(mine.under, mine.connector, &args, list, nullptr);
  if (status >= 0 && child.tracked) child.tracked->mounted_in = parent;
  return status;
}

herr_t unmount(const Object& mine, H5VL_group_specific_args_t& args, hid_t list) {
  const auto child = log_at_group(mine, args.args.unmount.name);
  const auto status = H5VLgroup_specific(mine.under, mine.connector, &args, list, nullptr);
  if (status >= 0 && child) child->mounted_in.reset();
  end_closed_files();
  return status;
}

herr_t group_specific(void* object, H5VL_group_specific_args_t* args, hid_t list, void**) {
  return guarded("group specific", [&] {
    const auto& mine = as_object(object);
    if (args->op_type == H5VL_GROUP_MOUNT) return mount(mine, *args, list);
    if (args->op_type == H5VL_GROUP_UNMOUNT) return unmount(mine, *args, list);
    return H5VLgroup_specific(mine.under, mine.connector, args, list, nullptr);
  });
}

}  // namespace

const H5VL_group_class_t group_callbacks = {forward_new<&Functions::H5VLgroup_create, H5I_GROUP>,
                                            forward_object<&Functions::H5VLgroup_open, H5I_GROUP>,
                                            get,
                                            group_specific,
                                            group_optional,
                                            close_through<&Functions::H5VLgroup_close>};

}  // namespace slabmark::slablog
