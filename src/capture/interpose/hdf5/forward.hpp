#pragma once

#include <concepts>
#include <tuple>

#include "capture/interpose/hdf5/object.hpp"

namespace slabmark::capture {

// The callbacks that only hand on: to `call` of the connector below, whose arguments are the
// object, in some calls a place or a type, the connector's id, and the rest.

template <class... Rest>
void wrap_last_request(const Object& mine, Rest... rest) {
  const auto last = std::get<sizeof...(Rest) - 1>(std::tuple(rest...));
  if constexpr (std::same_as<decltype(last), void** const>) wrap_request(last, mine);
}

template <auto call>
struct Forward;

template <class... Rest, herr_t (*Hdf5::*call)(void*, hid_t, Rest...)>
struct Forward<call> {
  static herr_t callback(void* object, Rest... rest) {
    const Call inside;
    const Object mine = as_object(object);  // a refresh may end the object
    const auto status = (hdf5().*call)(mine.under, mine.connector, rest...);
    wrap_last_request(mine, rest...);
    return status;
  }
};

template <class Place, class... Rest, herr_t (*Hdf5::*call)(void*, Place, hid_t, Rest...)>
  requires(!std::same_as<Place, hid_t>)
struct Forward<call> {
  static herr_t callback(void* object, Place place, Rest... rest) {
    const Call inside;
    const Object mine = as_object(object);
    const auto status = (hdf5().*call)(mine.under, place, mine.connector, rest...);
    wrap_last_request(mine, rest...);
    return status;
  }
};

/// The same where `call` makes or opens an object.
template <auto call>
struct ForwardObject;

template <class... Rest, void* (*Hdf5::*call)(void*, const H5VL_loc_params_t*, hid_t, Rest...)>
struct ForwardObject<call> {
  static void* callback(void* object, const H5VL_loc_params_t* place, Rest... rest) {
    const Call inside;
    const auto& mine = as_object(object);
    auto* made = wrapped((hdf5().*call)(mine.under, place, mine.connector, rest...), mine);
    wrap_last_request(mine, rest...);
    return made;
  }
};

template <auto call>
constexpr auto forward = &Forward<call>::callback;

template <auto call>
constexpr auto forward_object = &ForwardObject<call>::callback;

/// Closes an object by `call` below. What could not be closed stays, as below.
template <auto call>
herr_t close_through(void* object, hid_t list, void** request) {
  const Call inside;
  auto& mine = as_object(object);
  const auto status = (hdf5().*call)(mine.under, mine.connector, list, request);
  wrap_request(request, mine);
  if (status >= 0) delete &mine;
  return status;
}

}  // namespace slabmark::capture
