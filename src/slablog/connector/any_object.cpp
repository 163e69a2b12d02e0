// Calls on objects of any kind (H5O): to the connector below, but a copy of a dataset that is in
// the log is refused, since both would share what is written to one of them.
#include "slablog/connector/forward.hpp"

namespace slabmark::slablog {

namespace {

void* open(void* object, const H5VL_loc_params_t* place, H5I_type_t* type, hid_t list, void**) {
  return guarded_object("object open", [&]() -> void* {
    const auto& mine = as_object(object);
    auto* opened = wrapped(H5VLobject_open(mine.under, place, mine.connector, type, list, nullptr),
                           mine, *type);
    if (opened == nullptr) return nullptr;
    as_object(opened).type = *type;
    if (*type == H5I_DATASET) find_dataset(as_object(opened));
    return opened;
  });
}

herr_t copy(void* from, const H5VL_loc_params_t* from_place, const char* from_name, void* to,
            const H5VL_loc_params_t* to_place, const char* to_name, hid_t copying, hid_t links,
            hid_t list, void**) {
  return guarded("object copy", [&] {
    const auto& mine = as_object(from);
    if (mine.log) {
      throw Refusal(
          H5E_OHDR, H5E_UNSUPPORTED,
          "slablog does not copy objects of a log file; convert it with h5repack, whose copy is an "
          "ordinary file, and copy from there.");
    }
    return H5VLobject_copy(mine.under, from_place, from_name, as_object(to).under, to_place,
                           to_name, mine.connector, copying, links, list, nullptr);
  });
}

herr_t specific(void* object, const H5VL_loc_params_t* place, H5VL_object_specific_args_t* args,
                hid_t list, void**) {
  return guarded("object specific", [&] {
    const auto& mine = as_object(object);
    if (args->op_type == H5VL_OBJECT_FLUSH && mine.log) mine.log->file.flush(mine.log->location());
    return H5VLobject_specific(mine.under, place, mine.connector, args, list, nullptr);
  });
}

}  // namespace

const H5VL_object_class_t object_callbacks = {open, copy, forward<H5VLobject_get>, specific,
                                              forward<H5VLobject_optional>};

}  // namespace slabmark::slablog
