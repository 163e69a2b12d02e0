#pragma once

#include <cstdint>
#include <string>

#include "capture/interpose/hdf5/library.hpp"
#include "capture/record/recorder.hpp"

namespace slabmark::capture {

constexpr const char* connector_name = "slabcapture";
/// Below those that The HDF Group hands out (256 to 511 are registered ones; 512 to 65535 for tests
/// and private use).
constexpr H5VL_class_value_t connector_value = 6205;

/// The object that HDF5 holds for the recorder: an object of the connector below, or a request of
/// it.
struct Object {
  void* under = nullptr;
  hid_t connector = H5I_INVALID_HID;
  Id file = no_id;     ///< the opening, as far as the program said it itself
  Id dataset = no_id;  ///< of a dataset: its definition, once it is needed
  Id details = no_id;  ///< of an attribute: its definition
};

inline Object& as_object(void* object) { return *static_cast<Object*>(object); }

/// An object that came from below, reached from `parent`; null for null.
inline void* wrapped(void* under, const Object& parent) {
  if (under == nullptr) return nullptr;
  return new Object{.under = under, .connector = parent.connector, .file = parent.file};
}

/// A connector below that works in the background hands out requests; they are wrapped, too.
inline void wrap_request(void** request, const Object& parent) {
  if (request != nullptr && *request != nullptr) *request = wrapped(*request, parent);
}

using pass_through::self;

/// The opening of the file with that number within HDF5, which `object` is in.
Id file_of(unsigned long number, const Object& object);

/// The name of an object that was just made or opened; empty where it has none.
std::string name_of(const Object& object, H5I_type_t type);

/// Finds out which file a dataset is in, and what it is, unless that is known.
void identify(Object& dataset);
/// Records that the program opened it.
void record_opened(Object& dataset);

const H5VL_class_t& connector_class();

extern const H5VL_attr_class_t attribute_callbacks;
extern const H5VL_dataset_class_t dataset_callbacks;
extern const H5VL_file_class_t file_callbacks;
extern const H5VL_group_class_t group_callbacks;
extern const H5VL_link_class_t link_callbacks;
extern const H5VL_datatype_class_t type_callbacks;
extern const H5VL_object_class_t object_callbacks;
extern const H5VL_request_class_t request_callbacks;

}  // namespace slabmark::capture
