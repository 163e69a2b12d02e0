#pragma once

#include <concepts>

#include "accel/hdf5_connector/connector/own_group.hpp"

namespace slabmark::slablog {

/// The callback that hands on to `call` of the connector below, whose arguments are the object, in
/// some calls a place or a type, the connector's id, and the rest.
template <auto call>
struct Forward;

template <class... Rest, herr_t (*call)(void*, hid_t, Rest...)>
struct Forward<call> {
  static herr_t callback(void* object, Rest... rest) {
    const auto& mine = as_object(object);
    return call(mine.under, mine.connector, rest...);
  }
};

template <class Place, class... Rest, herr_t (*call)(void*, Place, hid_t, Rest...)>
  requires(!std::same_as<Place, hid_t>)
struct Forward<call> {
  static herr_t callback(void* object, Place place, Rest... rest) {
    const auto& mine = as_object(object);
    return call(mine.under, place, mine.connector, rest...);
  }
};

/// The same where `call` makes or opens an object of `type`.
template <auto call, H5I_type_t type>
struct ForwardObject;

template <class... Rest, void* (*call)(void*, const H5VL_loc_params_t*, hid_t, Rest...),
          H5I_type_t type>
struct ForwardObject<call, type> {
  static void* callback(void* object, const H5VL_loc_params_t* place, Rest... rest) {
    return guarded_object("object", [&] {
      const auto& mine = as_object(object);
      auto* under = call(mine.under, place, mine.connector, rest...);
      // An attribute is in the file of its object. (A file that is mounted shows another's root.)
      const bool is_beside = type == H5I_ATTR && place->type == H5VL_OBJECT_BY_SELF;
      return is_beside && mine.type != H5I_FILE ? wrapped_beside(under, mine, type)
                                                : wrapped(under, mine, type);
    });
  }
};

/// The same where the object gets a name.
template <auto call, H5I_type_t type>
struct ForwardNew;

template <class... Rest,
          void* (*call)(void*, const H5VL_loc_params_t*, hid_t, const char*, Rest...),
          H5I_type_t type>
struct ForwardNew<call, type> {
  static void* callback(void* object, const H5VL_loc_params_t* place, const char* name,
                        Rest... rest) {
    return guarded_object("object create", [&] {
      const auto& mine = as_object(object);
      refuse_own_group(mine, name);
      return wrapped(call(mine.under, place, mine.connector, name, rest...), mine, type);
    });
  }
};

template <auto call>
constexpr auto forward = &Forward<call>::callback;

template <auto call, H5I_type_t type>
constexpr auto forward_object = &ForwardObject<call, type>::callback;

template <auto call, H5I_type_t type>
constexpr auto forward_new = &ForwardNew<call, type>::callback;

/// Closes an object whose `call` below closes it.
template <auto call>
herr_t close_through(void* object, hid_t list, void**) {
  return close_object(object, call, list);
}

}  // namespace slabmark::slablog
