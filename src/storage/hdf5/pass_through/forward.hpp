#pragma once

#include <concepts>
#include <tuple>

#include "storage/hdf5/pass_through/functions.hpp"

namespace slabmark::pass_through {

// Callbacks that only pass a call to `call` of the connector below. Its arguments are the object,
// in some calls a place or a type, the connector's id, and the rest. README.md lists the members of
// `Layer`, by which a connector says what it adds.

/// A connector below that works in the background hands out requests, which are wrapped, too.
template <class Layer, class Object, class... Rest>
void wrap_last_request(const Object& mine, Rest... rest) {
  const auto last = std::get<sizeof...(Rest) - 1>(std::tuple(rest...));
  if constexpr (std::same_as<decltype(last), void** const>) Layer::wrap_request(last, mine);
}

template <class Layer, auto call>
struct Forward;

template <class Layer, class... Rest, herr_t (*Functions::*call)(void*, hid_t, Rest...)>
struct Forward<Layer, call> {
  static herr_t callback(void* object, Rest... rest) {
    [[maybe_unused]] const typename Layer::Scope scope;
    const auto mine = Layer::origin(object);
    const auto status = (Layer::functions().*call)(mine.under, mine.connector, rest...);
    wrap_last_request<Layer>(mine, rest...);
    return status;
  }
};

template <class Layer, class Place, class... Rest,
          herr_t (*Functions::*call)(void*, Place, hid_t, Rest...)>
  requires(!std::same_as<Place, hid_t>)
struct Forward<Layer, call> {
  static herr_t callback(void* object, Place place, Rest... rest) {
    [[maybe_unused]] const typename Layer::Scope scope;
    const auto mine = Layer::origin(object);
    const auto status = (Layer::functions().*call)(mine.under, place, mine.connector, rest...);
    wrap_last_request<Layer>(mine, rest...);
    return status;
  }
};

/// The same where `call` makes or opens an object of `type`.
template <class Layer, auto call, H5I_type_t type>
struct ForwardObject;

template <class Layer, class... Rest,
          void* (*Functions::*call)(void*, const H5VL_loc_params_t*, hid_t, Rest...),
          H5I_type_t type>
struct ForwardObject<Layer, call, type> {
  static void* callback(void* object, const H5VL_loc_params_t* place, Rest... rest) {
    [[maybe_unused]] const typename Layer::Scope scope;
    const auto mine = Layer::origin(object);
    auto* under = (Layer::functions().*call)(mine.under, place, mine.connector, rest...);
    auto* made = under == nullptr ? nullptr : Layer::opened(under, object, *place, type);
    wrap_last_request<Layer>(mine, rest...);
    return made;
  }
};

template <class Layer>
constexpr H5VL_blob_class_t blob_callbacks = {
    Forward<Layer, &Functions::H5VLblob_put>::callback,
    Forward<Layer, &Functions::H5VLblob_get>::callback,
    Forward<Layer, &Functions::H5VLblob_specific>::callback,
    Forward<Layer, &Functions::H5VLblob_optional>::callback};

template <class Layer>
constexpr H5VL_token_class_t token_callbacks = {
    Forward<Layer, &Functions::H5VLtoken_cmp>::callback,
    Forward<Layer, &Functions::H5VLtoken_to_str>::callback,
    Forward<Layer, &Functions::H5VLtoken_from_str>::callback};

template <class Layer>
herr_t get_class(void* object, H5VL_get_conn_lvl_t level, const H5VL_class_t** result) {
  if (level == H5VL_GET_CONN_LVL_CURR) {
    *result = &Layer::connector_class();
    return 0;
  }
  const auto mine = Layer::origin(object);
  return Layer::functions().H5VLintrospect_get_conn_cls(mine.under, mine.connector, level, result);
}

/// A connector that changes no contents can do what the one below can.
template <class Layer>
herr_t get_capabilities(const void* given, std::uint64_t* flags) {
  const Functions& hdf5 = Layer::functions();
  if (given != nullptr) {
    const auto& info = *static_cast<const typename Layer::Info*>(given);
    return hdf5.H5VLintrospect_get_cap_flags(info.under_info, info.under, flags);
  }
  // Where a program has chosen no connector, HDF5 asks each that it finds about a file that it
  // cannot open, and the reason for that must stay.
  KeptErrors errors(hdf5);
  errors.keep();
  const auto native = hdf5.H5VLregister_connector_by_value(H5_VOL_NATIVE, H5P_DEFAULT);
  const auto status = hdf5.H5VLintrospect_get_cap_flags(nullptr, native, flags);
  hdf5.H5VLclose(native);
  return status;
}

}  // namespace slabmark::pass_through
