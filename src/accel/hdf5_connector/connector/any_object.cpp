// Calls on objects of any kind (H5O): to the connector below, but a copy of a dataset that is in
// the log is refused, since both would share what is written to one of them.
#include "accel/hdf5_connector/connector/forward.hpp"
#include "accel/hdf5_connector/connector/open_dataset.hpp"

namespace slabmark::slablog {

namespace {

void* open(void* object, const H5VL_loc_params_t* place, H5I_type_t* type, hid_t list, void**) {
  return guarded("object open", [&]() -> void* {
    const auto& mine = as_object(object);
    const auto below = place_below(mine, *place);
    return open_object(mine, *type, list, [&](H5I_type_t& found) {
      return H5VLobject_open(mine.under, &below, mine.connector, &found, list, nullptr);
    });
  });
}

herr_t copy(void* from, const H5VL_loc_params_t* from_place, const char* from_name, void* to,
            const H5VL_loc_params_t* to_place, const char* to_name, hid_t copying, hid_t links,
            hid_t list, void**) {
  return guarded("object copy", [&] {
    const auto& mine = as_object(from);
    show_all_files();
    if (mine.tracked && mine.tracked->canonical)
      mine.tracked->file->flush(mine.tracked->location());
    if (mine.tracked && mine.tracked->log) {
      throw Refusal(H5E_OHDR, H5E_UNSUPPORTED,
                    "slablog does not copy objects of a log file; make it an ordinary file with "
                    "'slabmark log canonical' or h5repack -l CONTI, and copy from there.");
    }
    refuse_own_group(as_object(to), to_name);
    return H5VLobject_copy(mine.under, from_place, from_name, as_object(to).under, to_place,
                           to_name, mine.connector, copying, links, list, nullptr);
  });
}

herr_t object_specific(void* object, const H5VL_loc_params_t* place,
                       H5VL_object_specific_args_t* args, hid_t list, void**) {
  return guarded("object specific", [&] {
    const auto& mine = as_object(object);
    if (args->op_type == H5VL_OBJECT_VISIT) return visit_objects(mine, *place, *args, list);
    if (args->op_type == H5VL_OBJECT_FLUSH && mine.tracked) {
      mine.tracked->file->flush(mine.tracked->location());
    }
    return H5VLobject_specific(mine.under, place, mine.connector, args, list, nullptr);
  });
}

herr_t get(void* object, const H5VL_loc_params_t* place, H5VL_object_get_args_t* args, hid_t list,
           void**) {
  return guarded("object get", [&] {
    const auto& mine = as_object(object);
    const auto below = place_below(mine, *place);
    return H5VLobject_get(mine.under, &below, mine.connector, args, list, nullptr);
  });
}

herr_t object_optional(void* object, const H5VL_loc_params_t* place, H5VL_optional_args_t* args,
                       hid_t list, void**) {
  return guarded("object optional", [&] {
    const auto& mine = as_object(object);
    if (args->op_type == H5VL_NATIVE_OBJECT_GET_NATIVE_INFO) show_all(mine.tracked);
    const auto below = place_below(mine, *place);
    return H5VLobject_optional(mine.under, &below, mine.connector, args, list, nullptr);
  });
}

}  // namespace

const H5VL_object_class_t object_callbacks = {open, copy, get, object_specific, object_optional};

}  // namespace slabmark::slablog
