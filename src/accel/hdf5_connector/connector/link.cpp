// Links: all to the connector below, but that of the log's own group is not seen, and stays.
#include "accel/hdf5_connector/connector/forward.hpp"

namespace slabmark::slablog {

namespace {

void* under_or_null(void* object) { return object == nullptr ? nullptr : as_object(object).under; }

hid_t connector_of(void* a, void* b) { return as_object(a != nullptr ? a : b).connector; }

/// Where a link is made; `object` may be null for the same as the other one's.
void refuse_own_group_at(void* object, const H5VL_loc_params_t& place, void* other) {
  if (object != nullptr || other != nullptr) {
    refuse_own_group(as_object(object != nullptr ? object : other), place);
  }
}

herr_t create(H5VL_link_create_args_t* args, void* object, const H5VL_loc_params_t* place,
              hid_t links, hid_t access, hid_t list, void**) {
  return guarded("link create", [&] {
    auto below = *args;
    void* target = nullptr;
    if (args->op_type == H5VL_LINK_CREATE_HARD) {
      target = args->args.hard.curr_obj;
      below.args.hard.curr_obj = under_or_null(target);
    }
    refuse_own_group_at(object, *place, target);
    return H5VLlink_create(&below, under_or_null(object), place, connector_of(object, target),
                           links, access, list, nullptr);
  });
}

herr_t copy(void* from, const H5VL_loc_params_t* from_place, void* to,
            const H5VL_loc_params_t* to_place, hid_t links, hid_t access, hid_t list, void**) {
  return guarded("link copy", [&] {
    refuse_own_group_at(to, *to_place, from);
    return H5VLlink_copy(under_or_null(from), from_place, under_or_null(to), to_place,
                         connector_of(from, to), links, access, list, nullptr);
  });
}

herr_t move(void* from, const H5VL_loc_params_t* from_place, void* to,
            const H5VL_loc_params_t* to_place, hid_t links, hid_t access, hid_t list, void**) {
  return guarded("link move", [&] {
    refuse_own_group_at(from, *from_place, to);
    refuse_own_group_at(to, *to_place, from);
    return H5VLlink_move(under_or_null(from), from_place, under_or_null(to), to_place,
                         connector_of(from, to), links, access, list, nullptr);
  });
}

herr_t get(void* object, const H5VL_loc_params_t* place, H5VL_link_get_args_t* args, hid_t list,
           void**) {
  return guarded("link get", [&] {
    const auto& mine = as_object(object);
    const auto below = place_below(mine, *place);
    return H5VLlink_get(mine.under, &below, mine.connector, args, list, nullptr);
  });
}

herr_t link_specific(void* object, const H5VL_loc_params_t* place, H5VL_link_specific_args_t* args,
                     hid_t list, void**) {
  return guarded("link specific", [&] {
    const auto& mine = as_object(object);
    if (args->op_type == H5VL_LINK_ITER) return iterate_links(mine, *place, *args, list);
    if (args->op_type == H5VL_LINK_DELETE) refuse_own_group(mine, *place);
    const auto below = place_below(mine, *place);
    return H5VLlink_specific(mine.under, &below, mine.connector, args, list, nullptr);
  });
}

}  // namespace

const H5VL_link_class_t link_callbacks = {
    create, copy, move, get, link_specific, forward<&Functions::H5VLlink_optional>};

}  // namespace slabmark::slablog
