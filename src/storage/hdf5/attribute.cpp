#include "storage/hdf5/attribute.hpp"

#include <algorithm>
#include <hdf5_hl.h>

namespace slabmark::hdf5 {

namespace {

Handle created(hid_t object, const std::string& name, hid_t type, const Space& space,
               const std::string& path) {
  return own(H5Acreate2(object, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
             H5Aclose, "H5Acreate2", path);
}

}  // namespace

Handle text_type(std::size_t bytes, const std::string& path) {
  auto type = own(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", path);
  check(H5Tset_size(type.get(), bytes), "H5Tset_size", path);
  return type;
}

std::vector<long long> read_whole_numbers(hid_t object, const std::string& name,
                                          const std::string& path) {
  const auto attribute = own(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, "H5Aopen", path);
  const auto type = own(H5Aget_type(attribute.get()), H5Tclose, "H5Aget_type", path);
  if (H5Tget_class(type.get()) != H5T_INTEGER) return {};
  const Space space(own(H5Aget_space(attribute.get()), H5Sclose, "H5Aget_space", path));
  std::vector<long long> values(space.selected());
  if (values.empty()) return {};
  check(H5Aread(attribute.get(), H5T_NATIVE_LLONG, values.data()), "H5Aread", path);
  return values;
}

void write_attribute(hid_t object, const std::string& name, hid_t type, const Space& space,
                     const void* data, const std::string& path) {
  const auto exists = H5Aexists(object, name.c_str());
  check(exists, "H5Aexists", path);
  const auto attribute =
      exists > 0 ? own(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, "H5Aopen", path)
                 : created(object, name, type, space, path);
  check(H5Awrite(attribute.get(), type, data), "H5Awrite", path);
}

void write_attribute(hid_t object, const std::string& name, std::string_view text,
                     const std::string& path) {
  const auto type = text_type(std::max<std::size_t>(text.size(), 1), path);
  check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "H5Tset_strpad", path);
  const std::string padded = text.empty() ? std::string(1, '\0') : std::string(text);
  write_attribute(object, name, type.get(), Space(Extent{}), padded.data(), path);
}

void write_variable_text(hid_t object, const std::string& name, const std::string& text,
                         const std::string& path) {
  const auto type = text_type(H5T_VARIABLE, path);
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset", path);
  const char* value = text.c_str();
  write_attribute(object, name, type.get(), Space(Extent{}), &value, path);
}

void put_attributes(hid_t object, std::span<const Attribute> attributes, const std::string& path) {
  if (attributes.empty()) return;
  const auto type = text_type(1, path);
  const Space space(Extent{});
  for (const auto& [name, text] : attributes) {
    check(H5Tset_size(type.get(), text.size()), "H5Tset_size", path);
    const auto attribute = created(object, name, type.get(), space, path);
    check(H5Awrite(attribute.get(), type.get(), text.data()), "H5Awrite", path);
  }
}

void make_scale(const Dataset& dataset, const std::string& name, const std::string& path) {
  check(H5DSset_scale(dataset.get(), name.c_str()), "H5DSset_scale", path);
}

void attach_scale(const Dataset& dataset, const Dataset& scale, unsigned dimension,
                  const std::string& path) {
  check(H5DSattach_scale(dataset.get(), scale.get(), dimension), "H5DSattach_scale", path);
}

}  // namespace slabmark::hdf5
