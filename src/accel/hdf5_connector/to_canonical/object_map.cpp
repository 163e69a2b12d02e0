#include "accel/hdf5_connector/to_canonical/object_map.hpp"

#include "storage/hdf5/error.hpp"

namespace slabmark::slablog {

namespace {

std::string key(const H5O_token_t& token) {
  return {reinterpret_cast<const char*>(&token), sizeof token};
}

}  // namespace

H5O_token_t token_of(hid_t object) {
  H5O_info2_t info;
  hdf5::check(H5Oget_info3(object, &info, H5O_INFO_BASIC), "H5Oget_info3", "the log file");
  return info.token;
}

const std::string* ObjectMap::path(const H5O_token_t& token) const {
  const auto found = paths_.find(key(token));
  return found == paths_.end() ? nullptr : &found->second;
}

const std::string* ObjectMap::path_of(hid_t object) const { return path(token_of(object)); }

void ObjectMap::add(const H5O_token_t& token, const std::string& path) {
  paths_.emplace(key(token), path);
}

}  // namespace slabmark::slablog
