#include "capture/replay/hdf5/coded.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "storage/hdf5/older.hpp"

namespace slabmark::hdf5_coded {

using hdf5::Handle;
using hdf5::own;

namespace {

std::vector<unsigned char> decoded(const std::string& text) {
  std::vector<unsigned char> bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (digit < 0) break;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<unsigned char>(bits >> held & 255));
  }
  return bytes;
}

/// A program with a newer HDF5 may ask for formats that this one does not have.
void clamp_formats(hid_t access) {
  H5F_libver_t low = H5F_LIBVER_EARLIEST;
  H5F_libver_t high = H5F_LIBVER_LATEST;
  hdf5::check(H5Pget_libver_bounds(access, &low, &high), "H5Pget_libver_bounds", "");
  if (std::max(low, high) <= H5F_LIBVER_LATEST) return;
  hdf5::check(H5Pset_libver_bounds(access, std::min(low, H5F_LIBVER_LATEST),
                                   std::min(high, H5F_LIBVER_LATEST)),
              "H5Pset_libver_bounds", "");
}

}  // namespace

std::string code_of(const Json& of, const char* key) {
  for (const char* group : {"hdf5", "named"}) {
    if (of.contains(group) && of[group].contains(key)) return of[group][key];
  }
  return {};
}

Handle list_of(const std::string& code, hid_t kind) {
  if (code.empty()) return own(H5Pcreate(kind), H5Pclose, "H5Pcreate", "");
  auto list = own(H5Pdecode(decoded(code).data()), H5Pclose, "H5Pdecode", "");
  if (kind == H5P_FILE_ACCESS) clamp_formats(list.get());
  return list;
}

Handle type_of(const Json& of) {
  const auto bytes = decoded(code_of(of, "type"));
  if (!bytes.empty()) return own(H5Tdecode2(bytes.data(), bytes.size()), H5Tclose, "H5Tdecode", "");
  const auto& type = of.at("type");
  const auto size = type.is_object() ? type.at("bytes").get<std::size_t>() : std::size_t{1};
  return own(H5Tcreate(H5T_OPAQUE, size), H5Tclose, "H5Tcreate", "");
}

Handle space_of(const Json& of) {
  const bool is_attribute = of.contains("space");
  const auto bytes = decoded(is_attribute ? of["space"].get<std::string>() : code_of(of, "space"));
  if (!bytes.empty()) return own(H5Sdecode(bytes.data()), H5Sclose, "H5Sdecode", "");
  const auto extent = of.at("extent").get<std::vector<hsize_t>>();
  auto maximum = extent;
  if (of.contains("maximum")) {
    const auto& lengths = of["maximum"];
    for (std::size_t d = 0; d < extent.size(); ++d) {
      maximum[d] = lengths[d].is_null() ? H5S_UNLIMITED : lengths[d].get<hsize_t>();
    }
  }
  if (extent.empty()) return own(H5Screate(H5S_SCALAR), H5Sclose, "H5Screate", "");
  return own(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), maximum.data()),
             H5Sclose, "H5Screate_simple", "");
}

bool has_addresses(hid_t type) {
  return H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tdetect_class(type, H5T_REFERENCE) > 0 ||
         (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0);
}

}  // namespace slabmark::hdf5_coded
