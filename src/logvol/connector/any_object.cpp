// Calls on objects of any kind (H5O), and on tokens and blobs: to the connector below, but a copy
// of a dataset that is in the log is refused, since both would share what is written to one of
// them.
#include "logvol/connector/object.hpp"

namespace slabmark::logvol {

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

herr_t get(void* object, const H5VL_loc_params_t* place, H5VL_object_get_args_t* args, hid_t list,
           void**) {
  const auto& mine = as_object(object);
  return H5VLobject_get(mine.under, place, mine.connector, args, list, nullptr);
}

herr_t specific(void* object, const H5VL_loc_params_t* place, H5VL_object_specific_args_t* args,
                hid_t list, void**) {
  return guarded("object specific", [&] {
    const auto& mine = as_object(object);
    if (args->op_type == H5VL_OBJECT_FLUSH && mine.log) mine.log->file.flush(mine.log->location());
    return H5VLobject_specific(mine.under, place, mine.connector, args, list, nullptr);
  });
}

herr_t optional(void* object, const H5VL_loc_params_t* place, H5VL_optional_args_t* args,
                hid_t list, void**) {
  const auto& mine = as_object(object);
  return H5VLobject_optional(mine.under, place, mine.connector, args, list, nullptr);
}

herr_t compare_tokens(void* object, const H5O_token_t* a, const H5O_token_t* b, int* result) {
  const auto& mine = as_object(object);
  return H5VLtoken_cmp(mine.under, mine.connector, a, b, result);
}

herr_t token_to_text(void* object, H5I_type_t type, const H5O_token_t* token, char** text) {
  const auto& mine = as_object(object);
  return H5VLtoken_to_str(mine.under, type, mine.connector, token, text);
}

herr_t token_from_text(void* object, H5I_type_t type, const char* text, H5O_token_t* token) {
  const auto& mine = as_object(object);
  return H5VLtoken_from_str(mine.under, type, mine.connector, text, token);
}

herr_t put_blob(void* object, const void* buffer, size_t size, void* id, void* context) {
  const auto& mine = as_object(object);
  return H5VLblob_put(mine.under, mine.connector, buffer, size, id, context);
}

herr_t get_blob(void* object, const void* id, void* buffer, size_t size, void* context) {
  const auto& mine = as_object(object);
  return H5VLblob_get(mine.under, mine.connector, id, buffer, size, context);
}

herr_t blob_specific(void* object, void* id, H5VL_blob_specific_args_t* args) {
  const auto& mine = as_object(object);
  return H5VLblob_specific(mine.under, mine.connector, id, args);
}

herr_t blob_optional(void* object, void* id, H5VL_optional_args_t* args) {
  const auto& mine = as_object(object);
  return H5VLblob_optional(mine.under, mine.connector, id, args);
}

}  // namespace

const H5VL_object_class_t object_callbacks = {open, copy, get, specific, optional};
const H5VL_token_class_t token_callbacks = {compare_tokens, token_to_text, token_from_text};
const H5VL_blob_class_t blob_callbacks = {put_blob, get_blob, blob_specific, blob_optional};

}  // namespace slabmark::logvol
