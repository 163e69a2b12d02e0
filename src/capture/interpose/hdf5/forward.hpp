#pragma once

#include "capture/interpose/hdf5/object.hpp"
#include "storage/hdf5/pass_through/forward.hpp"
#include "storage/hdf5/pass_through/info.hpp"

namespace slabmark::capture {

/// The members by which the recorder adds to passing calls through: each is a Call, so that calls
/// it leads to are not taken for the program's.
struct Recording {
  using Object = capture::Object;
  using Origin = capture::Object;  // a refresh may end the object
  using Scope = Call;
  using Info = pass_through::Info;

  static const Hdf5& functions() { return hdf5(); }
  static const Object& origin(void* object) { return as_object(object); }
  static void* opened(void* under, void* object, const H5VL_loc_params_t&, H5I_type_t) {
    return wrapped(under, as_object(object));
  }
  static void* wrapped_by_hdf5(void* under, const Object& from, H5I_type_t) {
    return wrapped(under, from);
  }
  static void end_unwrapped(Object& object) { delete &object; }
  static void wrap_request(void** request, const Object& from) {
    capture::wrap_request(request, from);
  }
  static const H5VL_class_t& connector_class() { return capture::connector_class(); }

  static Info default_info() { return {}; }
  static Info parsed(std::string_view, const std::string&) { return {}; }
  static std::string options_text(const Info*) { return {}; }
  static herr_t refuse_missing(const std::string& value);
  template <class Body>
  static auto guarded(const char*, const Body& body) {
    return body();  // nothing here throws
  }
};

template <auto call>
constexpr auto forward = &pass_through::Forward<Recording, call>::callback;

template <auto call>
constexpr auto forward_object = &pass_through::ForwardObject<Recording, call, H5I_BADID>::callback;

/// Closes an object by `call` below. If that fails, the object stays open here, as it does below.
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
