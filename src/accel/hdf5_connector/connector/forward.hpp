#pragma once

#include <string>
#include <string_view>

#include "accel/hdf5_connector/connector/callbacks.hpp"
#include "accel/hdf5_connector/connector/closing.hpp"
#include "accel/hdf5_connector/connector/own_group.hpp"
#include "storage/hdf5/pass_through/forward.hpp"
#include "storage/hdf5/pass_through/info.hpp"

namespace slabmark::slablog {

using pass_through::Functions;

/// The connector below, and the options.
struct Info : pass_through::Info {
  Config config;
};

/// The members by which this connector adds to passing calls through: see
/// storage/hdf5/pass_through.
struct Connector {
  using Object = slablog::Object;
  struct Origin {
    void* under;
    hid_t connector;
  };
  struct Scope {};
  using Info = slablog::Info;

  static const pass_through::Functions& functions() { return pass_through::linked(); }
  static Origin origin(void* object) {
    const auto& mine = as_object(object);
    return {mine.under, mine.connector};
  }
  static void* opened(void* under, void* object, const H5VL_loc_params_t& place, H5I_type_t type);
  static void* wrapped_by_hdf5(void* under, const Origin& from, H5I_type_t type);
  static void end_unwrapped(Object& object);
  static void wrap_request(void**, const Origin&) {}  // the native connector has none
  static const H5VL_class_t& connector_class() { return slablog::connector_class(); }

  static Info default_info();
  static Info parsed(std::string_view words, const std::string& value_below);
  static std::string options_text(const Info* info);
  static herr_t refuse_missing(const std::string&) { return -1; }  // HDF5 always has its own
  template <class Body>
  static auto guarded(const char* callback, const Body& body) {
    return slablog::guarded(callback, body);
  }
};

template <auto call>
constexpr auto forward = &pass_through::Forward<Connector, call>::callback;

template <auto call, H5I_type_t type>
constexpr auto forward_object = &pass_through::ForwardObject<Connector, call, type>::callback;

/// The same where the object gets a name.
template <auto call, H5I_type_t type, class... Rest>
void* forward_new(void* object, const H5VL_loc_params_t* place, const char* name, Rest... rest) {
  return guarded("object create", [&] {
    refuse_own_group(as_object(object), name);
    return forward_object<call, type>(object, place, name, rest...);
  });
}

/// Closes an object whose `call` below closes it.
template <auto call>
herr_t close_through(void* object, hid_t list, void**) {
  return close_object(object, pass_through::linked().*call, list);
}

}  // namespace slabmark::slablog
