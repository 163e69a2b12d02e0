#include "accel/hdf5_connector/to_canonical/references.hpp"

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;
using hdf5::Handle;
using hdf5::own;

const std::string a_reference = "a reference";

/// A type of a file as it is in memory.
Handle in_memory_form(hid_t type) { return own(H5Tcopy(type), H5Tclose, "H5Tcopy", a_reference); }

/// All elements of an attribute or a dataset.
class Values {
 public:
  Values(Handle type, Handle space)
      : type_(in_memory_form(type.get())),
        space_(std::move(space)),
        count_(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space_.get()))),
        bytes_(count_ * H5Tget_size(type_.get())) {}
  ~Values() { H5Treclaim(type_.get(), space_.get(), H5P_DEFAULT, bytes_.data()); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  hid_t type() const { return type_.get(); }
  std::size_t count() const { return count_; }
  std::byte* data() { return bytes_.data(); }

 private:
  Handle type_;
  Handle space_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
};

/// Changes what lies at `value`, which in a packed compound need not be aligned.
template <class Value, class Body>
void change(std::byte* value, const Body& body) {
  Value aligned;
  std::memcpy(&aligned, value, sizeof aligned);
  body(aligned);
  std::memcpy(value, &aligned, sizeof aligned);
}

/// The object that a reference of the old kinds leads to, or none: it may be gone.
Handle target(hid_t file, H5R_type_t kind, const void* reference) {
  hid_t object = H5I_INVALID_HID;
  H5E_BEGIN_TRY { object = H5Rdereference2(file, H5P_DEFAULT, kind, reference); }
  H5E_END_TRY
  return {object, H5Oclose};
}

void refuse_if_it_leads_elsewhere(hid_t file, const H5R_ref_t& reference) {
  char there[4096] = "";
  char here[4096] = "";
  H5Rget_file_name(&reference, there, sizeof there);
  H5Fget_name(file, here, sizeof here);
  if (std::strcmp(there, here) == 0) return;
  throw IoError(fmt::format(
      "'{}' holds a reference into another file, '{}', which cannot be copied; remove it first.",
      here, there));
}

}  // namespace

bool holds_references(hid_t type) { return H5Tdetect_class(type, H5T_REFERENCE) > 0; }

References::References(hid_t from, hid_t to, const ObjectMap& objects)
    : from_(from), to_(to), objects_(objects) {}

void References::copy_attribute(hid_t from_object, hid_t to_object, const std::string& name) const {
  const auto from = own(H5Aopen(from_object, name.c_str(), H5P_DEFAULT), H5Aclose, "H5Aopen", name);
  const auto to = own(H5Aopen(to_object, name.c_str(), H5P_DEFAULT), H5Aclose, "H5Aopen", name);
  Values values(own(H5Aget_type(from.get()), H5Tclose, "H5Aget_type", name),
                own(H5Aget_space(from.get()), H5Sclose, "H5Aget_space", name));
  if (values.count() == 0) return;
  check(H5Aread(from.get(), values.type(), values.data()), "H5Aread", name);
  translate_each(values.type(), values.data(), values.count());
  check(H5Awrite(to.get(), values.type(), values.data()), "H5Awrite", name);
}

void References::copy_elements(hid_t from_dataset, hid_t to_dataset) const {
  Values values(own(H5Dget_type(from_dataset), H5Tclose, "H5Dget_type", a_reference),
                own(H5Dget_space(from_dataset), H5Sclose, "H5Dget_space", a_reference));
  if (values.count() == 0) return;
  check(H5Dread(from_dataset, values.type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
        "H5Dread", a_reference);
  translate_each(values.type(), values.data(), values.count());
  check(H5Dwrite(to_dataset, values.type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
        "H5Dwrite", a_reference);
}

void References::translate_each(hid_t type, std::byte* first, std::size_t count) const {
  const auto size = H5Tget_size(type);
  for (std::size_t i = 0; i < count; ++i) translate(type, first + i * size);
}

void References::translate(hid_t type, std::byte* value) const {
  if (!holds_references(type)) return;
  const auto kind = H5Tget_class(type);
  if (kind == H5T_COMPOUND) {
    for (unsigned i = 0; i < static_cast<unsigned>(H5Tget_nmembers(type)); ++i) {
      const auto member =
          own(H5Tget_member_type(type, i), H5Tclose, "H5Tget_member_type", a_reference);
      translate(member.get(), value + H5Tget_member_offset(type, i));
    }
  } else if (kind == H5T_ARRAY) {
    const auto element = own(H5Tget_super(type), H5Tclose, "H5Tget_super", a_reference);
    translate_each(element.get(), value, H5Tget_size(type) / H5Tget_size(element.get()));
  } else if (kind == H5T_VLEN) {
    const auto element = own(H5Tget_super(type), H5Tclose, "H5Tget_super", a_reference);
    change<hvl_t>(value, [&](hvl_t& list) {
      translate_each(element.get(), static_cast<std::byte*>(list.p), list.len);
    });
  } else if (H5Tequal(type, H5T_STD_REF_OBJ) > 0) {
    change<hobj_ref_t>(value, [&](hobj_ref_t& reference) { translate_object(reference); });
  } else if (H5Tequal(type, H5T_STD_REF_DSETREG) > 0) {
    change<hdset_reg_ref_t>(value,
                            [&](hdset_reg_ref_t& reference) { translate_region(reference); });
  } else {
    change<H5R_ref_t>(value, [&](H5R_ref_t& reference) { translate_any(reference); });
  }
}

void References::translate_object(hobj_ref_t& reference) const {
  if (reference == 0) return;
  const auto object = target(from_, H5R_OBJECT, &reference);
  reference = 0;
  const auto* path = object.is_open() ? objects_.path_of(object.get()) : nullptr;
  if (path == nullptr) return;
  check(H5Rcreate(&reference, to_, path->c_str(), H5R_OBJECT, H5I_INVALID_HID), "H5Rcreate", *path);
}

void References::translate_region(hdset_reg_ref_t& reference) const {
  const auto object = target(from_, H5R_DATASET_REGION, &reference);
  const auto* path = object.is_open() ? objects_.path_of(object.get()) : nullptr;
  if (path == nullptr) {
    std::memset(&reference, 0, sizeof reference);
    return;
  }
  const auto region =
      own(H5Rget_region(from_, H5R_DATASET_REGION, &reference), H5Sclose, "H5Rget_region", *path);
  check(H5Rcreate(&reference, to_, path->c_str(), H5R_DATASET_REGION, region.get()), "H5Rcreate",
        *path);
}

void References::translate_any(H5R_ref_t& reference) const {
  const auto kind = H5Rget_type(&reference);
  if (kind == H5R_BADTYPE) return;
  refuse_if_it_leads_elsewhere(from_, reference);
  const Handle object(H5Ropen_object(&reference, H5P_DEFAULT, H5P_DEFAULT), H5Oclose);
  const auto* path = object.is_open() ? objects_.path_of(object.get()) : nullptr;
  if (path == nullptr) {
    H5Rdestroy(&reference);
    std::memset(&reference, 0, sizeof reference);
    return;
  }
  H5R_ref_t made;
  std::memset(&made, 0, sizeof made);
  if (kind == H5R_DATASET_REGION2) {
    const auto region = own(H5Ropen_region(&reference, H5P_DEFAULT, H5P_DEFAULT), H5Sclose,
                            "H5Ropen_region", *path);
    check(H5Rcreate_region(to_, path->c_str(), region.get(), H5P_DEFAULT, &made),
          "H5Rcreate_region", *path);
  } else if (kind == H5R_ATTR) {
    std::string name(static_cast<std::size_t>(H5Rget_attr_name(&reference, nullptr, 0)), '\0');
    H5Rget_attr_name(&reference, name.data(), name.size() + 1);
    check(H5Rcreate_attr(to_, path->c_str(), name.c_str(), H5P_DEFAULT, &made), "H5Rcreate_attr",
          *path);
  } else {
    check(H5Rcreate_object(to_, path->c_str(), H5P_DEFAULT, &made), "H5Rcreate_object", *path);
  }
  H5Rdestroy(&reference);
  reference = made;
}

}  // namespace slabmark::slablog
