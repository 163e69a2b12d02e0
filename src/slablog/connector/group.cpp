// Groups: all to the connector below, but a file that is unmounted may have been kept open by that.
#include "slablog/connector/forward.hpp"

namespace slabmark::slablog {

namespace {

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

}  // namespace

const H5VL_group_class_t group_callbacks = {forward_object<H5VLgroup_create, H5I_GROUP>,
                                            forward_object<H5VLgroup_open, H5I_GROUP>,
                                            forward<H5VLgroup_get>,
                                            specific,
                                            forward<H5VLgroup_optional>,
                                            close_through<H5VLgroup_close>};

}  // namespace slabmark::slablog
