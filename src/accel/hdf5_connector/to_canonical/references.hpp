#pragma once

#include <cstddef>
#include <string>

#include <hdf5.h>

#include "accel/hdf5_connector/to_canonical/object_map.hpp"

namespace slabmark::slablog {

/// True if values of this type hold references to objects, at whatever depth.
bool holds_references(hid_t type);

/// Makes references into one file refer to the same objects in its copy.
class References {
 public:
  /// `objects`: what of `from` is in `to`.
  References(hid_t from, hid_t to, const ObjectMap& objects);

  /// Copies the attribute `name` of an object, which exists in both files.
  void copy_attribute(hid_t from_object, hid_t to_object, const std::string& name) const;
  /// Copies all elements of a dataset.
  void copy_elements(hid_t from_dataset, hid_t to_dataset) const;

 private:
  void translate(hid_t type, std::byte* value) const;
  void translate_each(hid_t type, std::byte* first, std::size_t count) const;
  void translate_object(hobj_ref_t& reference) const;
  void translate_region(hdset_reg_ref_t& reference) const;
  void translate_any(H5R_ref_t& reference) const;

  hid_t from_;
  hid_t to_;
  const ObjectMap& objects_;
};

}  // namespace slabmark::slablog
